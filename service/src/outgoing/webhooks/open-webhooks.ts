import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";
import { findOwnPassport, findOwnPassports } from "../../evidence/proof-passports/proof-passports.ts";
import type { Owner } from "../../kernel/identity/identity.ts";
import { columnCipher } from "../../kernel/platform/column-cipher.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import { StartupError } from "../../kernel/platform/errors.ts";
import type { Metrics } from "../../kernel/platform/metrics.ts";
import type { ProtectedTable } from "../../kernel/platform/protected-data.ts";
import type { Resources } from "../../kernel/resources.ts";
import { createDispatcher, type DispatcherDeps } from "./dispatch/dispatcher.ts";
import { exchangeColumn } from "./exchange.ts";
import { openOutbound } from "./outbound/post.ts";
import { addressPolicy, openResolver } from "./outbound/resolve-name.ts";
import { webhookKeyColumn } from "./public-key.ts";
import type { WebhooksDeps } from "./routes.ts";
import { webhookRows } from "./subscriptions/store.ts";

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

// The time limit for one POST, from name resolution to the end of the response (contract, Limits).
const timeoutMs = 10_000;

/**
 * Reads the PEM file that WEBHOOK_CA names.
 * @throws StartupError for an unusable file
 */
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
 * Opens webhooks. Nothing is sent before `dispatcher.start`.
 * @throws StartupError for an unusable WEBHOOK_CA
 */
export function openWebhooks(
  resources: Resources,
  metrics: Pick<Metrics, "counter">,
  { hostLimitsOf, newestCheckpoint }: Pick<DispatcherDeps["sending"], "hostLimitsOf" | "newestCheckpoint">,
) {
  const { config, db, clock, log, secrets, rowMac } = resources;
  const { baseUrl, webhookAllow, webhookCa } = config;
  const secretCipher = columnCipher(secrets, webhookSecretColumn);
  const keyCipher = columnCipher(secrets, webhookKeyColumn);
  const exchangeCipher = columnCipher(secrets, exchangeColumn);
  const outbound = openOutbound({
    mayReach: addressPolicy(webhookAllow),
    resolveName: openResolver(),
    clock,
    extraCa: webhookCa === null ? null : readCa(webhookCa),
    timeoutMs,
  });
  const passportOf = (id: string, owner: Owner) => findOwnPassport(resources, id, owner);
  const passportsOf = (ids: readonly string[], owner: Owner) => findOwnPassports(resources, ids, owner);
  const ended = metrics.counter("webhook_deliveries_total", "Webhook deliveries that ended.", ["outcome"]);
  const dispatcher = createDispatcher({
    db,
    rowMac,
    ciphers: { secretCipher, keyCipher, exchangeCipher },
    sending: { clock, log, outbound, baseUrl, passportOf, hostLimitsOf, newestCheckpoint },
    count: (outcome) => ended.inc({ outcome }),
  });
  const webhooks: WebhooksDeps = {
    subscriptions: { db, clock, rowMac, secretCipher },
    deliveries: { db, clock, wake: dispatcher.wake },
    exchanges: { db, rowMac, baseUrl, exchangeCipher, passportOf },
    feed: { db, rowMac, baseUrl, passportsOf },
    publicKeys: { db, keyCipher },
  };
  return { dispatcher, webhooks };
}
