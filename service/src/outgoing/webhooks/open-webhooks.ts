import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";
import type { Clock } from "../platform/clock.ts";
import { type ColumnCipher, columnCipher } from "../platform/column-cipher.ts";
import type { Database } from "../platform/database/database.ts";
import { StartupError } from "../platform/errors.ts";
import type { Log } from "../platform/logs.ts";
import type { RowMac } from "../platform/row-mac.ts";
import type { SecretBytes } from "../platform/secrets.ts";
import type { Loop } from "../platform/work/loop.ts";
import { createDispatcher, type DispatcherDeps } from "./dispatch/dispatcher.ts";
import { exchangeColumn } from "./exchange.ts";
import { addressPolicy } from "./outbound/addresses.ts";
import { openOutbound } from "./outbound/post.ts";
import { openResolver } from "./outbound/resolve-name.ts";
import { webhookKeyColumn } from "./public-key.ts";

export type WebhookSettings = {
  db: Database;
  clock: Clock;
  log: Log;
  secrets: SecretBytes;
  rowMac: RowMac;
  baseUrl: string;
  /** WEBHOOK_ALLOW: ranges that may be reached though private. */
  allow: readonly string[];
  /** WEBHOOK_CA: a PEM file. */
  caFile: string | null;
  passportOf: DispatcherDeps["passportOf"];
  hostLimitsOf: DispatcherDeps["hostLimitsOf"];
  count: DispatcherDeps["count"];
};

export type WebhookCiphers = Record<"secretCipher" | "keyCipher" | "exchangeCipher", ColumnCipher>;

export const webhookSecretColumn = "webhook_secrets.hash";

// For the whole of a POST (contract, Limits).
const timeoutMs = 10_000;

/** The PEM of a WEBHOOK_CA. @throws StartupError for a file that connections could not use */
export function readCa(path: string): string {
  try {
    const pem = readFileSync(path, "utf8");
    if (!pem.includes("-----BEGIN CERTIFICATE-----")) throw new Error("it holds no certificate");
    createSecureContext({ ca: pem });
    return pem;
  } catch (error) {
    throw new StartupError(`WEBHOOK_CA must be a PEM file of certificates: ${(error as Error).message}`);
  }
}

/** Opens what deliveries need; nothing is sent before `dispatcher.start`. @throws StartupError for a bad WEBHOOK_CA. */
export function openWebhooks(settings: WebhookSettings): WebhookCiphers & { dispatcher: Loop } {
  const { allow, caFile, secrets } = settings;
  const ciphers = {
    secretCipher: columnCipher(secrets, webhookSecretColumn),
    keyCipher: columnCipher(secrets, webhookKeyColumn),
    exchangeCipher: columnCipher(secrets, exchangeColumn),
  };
  const outbound = openOutbound({
    mayReach: addressPolicy(allow),
    resolveName: openResolver(),
    clock: settings.clock,
    extraCa: caFile === null ? null : readCa(caFile),
    timeoutMs,
  });
  return { ...ciphers, dispatcher: createDispatcher({ ...settings, ...ciphers, outbound }) };
}
