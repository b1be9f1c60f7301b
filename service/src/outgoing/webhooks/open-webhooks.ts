import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";
import type { Clock } from "../../kernel/platform/clock.ts";
import { type ColumnCipher, columnCipher } from "../../kernel/platform/column-cipher.ts";
import type { Database } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import { StartupError } from "../../kernel/platform/errors.ts";
import type { Log } from "../../kernel/platform/logs.ts";
import type { ProtectedTable } from "../../kernel/platform/protected-data.ts";
import type { RowMac } from "../../kernel/platform/row-mac.ts";
import type { SecretBytes } from "../../kernel/platform/secrets.ts";
import type { Loop } from "../../kernel/platform/work/loop.ts";
import { createDispatcher, type DispatcherDeps } from "./dispatch/dispatcher.ts";
import { exchangeColumn } from "./exchange.ts";
import { openOutbound } from "./outbound/post.ts";
import { addressPolicy, openResolver } from "./outbound/resolve-name.ts";
import { webhookKeyColumn } from "./public-key.ts";
import { webhookRows } from "./subscriptions/store.ts";

export type WebhookSettings = {
  db: Database;
  clock: Clock;
  log: Log;
  secrets: SecretBytes;
  rowMac: RowMac;
  baseUrl: string;
  /** WEBHOOK_ALLOW: private ranges that may be reached. */
  allow: readonly string[];
  /** WEBHOOK_CA: a PEM file. */
  caFile: string | null;
  passportOf: DispatcherDeps["passportOf"];
  hostLimitsOf: DispatcherDeps["hostLimitsOf"];
  count: DispatcherDeps["count"];
};

export type WebhookCiphers = Record<"secretCipher" | "keyCipher" | "exchangeCipher", ColumnCipher>;

const webhookSecretColumn = "webhook_secrets.hash";

const owner = sql`partner_id || ':' || environment`;

const ciphers: readonly ProtectedTable[] = [
  {
    table: sql`webhook_secrets`,
    key: sql`id`,
    ciphers: [{ use: webhookSecretColumn, column: sql`hash`, context: sql`webhook_id::text` }],
  },
  {
    table: sql`webhook_keys`,
    key: owner,
    ciphers: [{ use: webhookKeyColumn, column: sql`private_key`, context: owner }],
  },
  {
    table: sql`webhook_deliveries`,
    key: sql`seq`,
    ciphers: [{ use: exchangeColumn, column: sql`exchange`, context: sql`seq::text` }],
  },
];

export const protectedTables = [webhookRows, ...ciphers];

// For a whole POST (contract, Limits).
const timeoutMs = 10_000;

/** The PEM of a WEBHOOK_CA. @throws StartupError for an unusable file */
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

/**
 * Opens the parts that deliveries need. Sends nothing before `dispatcher.start`. @throws StartupError for a bad
 * WEBHOOK_CA
 */
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
