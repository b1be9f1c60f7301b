import { type Config, readConfig } from "../../kernel/config/config.ts";
import { minuteMs } from "../../kernel/platform/clock.ts";
import type { Database, Sql } from "../../kernel/platform/database/database.ts";
import { largeObjectFunctions, missingTimeouts, readRights } from "../../kernel/platform/database/service-role.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import { StartupError } from "../../kernel/platform/errors.ts";
import { openLog } from "../../kernel/platform/logs.ts";
import { readRetention, upcomingDeletions } from "../../kernel/retention/retention.ts";
import { namesIssuer, readIssuer } from "../../orders/billing/billing.ts";
import {
  howToReplace,
  isRefused,
  isTestModeKey,
  openProcessor,
  sumsAgree,
  webhookPath,
  whyUnreadIsRefused,
} from "../../orders/payments/payments.ts";
import { createPricing, loadPricingFiles } from "../../orders/pricing/pricing.ts";
import {
  diskReport,
  eligibilityReader,
  loadNotaryRules,
  recordingDisk,
  supplyState,
} from "../../signing/notaries/notaries.ts";
import { retained } from "../protected-data.ts";
import { migrations, openResources, root } from "../resources.ts";
import { type Examined, type Finding, type Found, runCheck, type Senses, withTimeout } from "./finding.ts";
import { nodesFinding } from "./nodes.ts";
import { caFinding, mediaFindings, outsideFindings, providerFindings } from "./outside.ts";
import { auditLogWhole, eventsWhole, logsGoOn, rowsWhole } from "./records.ts";
import { revocationsAgree } from "./revocations.ts";
import { presentKeyFindings, secretsFinding, signingFindings } from "./signing.ts";

export type { Finding } from "./finding.ts";

function paymentsFinding({ stripe }: Config): Pick<Finding, "result" | "detail"> {
  if (!stripe) return { result: "warning", detail: "not configured: STRIPE_SECRET_KEY is not set" };
  if (isTestModeKey(stripe.secretKey))
    return {
      result: "warning",
      detail: "STRIPE_SECRET_KEY is a test-mode key: live orders are paid without real money",
    };
  return { result: "ok", detail: "configured" };
}

/** Checks whether the payment processor sends this service the events that it needs. */
function paymentEventsFinding({ stripe, baseUrl }: Config): Promise<Finding> {
  const name = "payment events";
  return runCheck(name, async (): Promise<Found> => {
    if (!stripe) return "STRIPE_SECRET_KEY is not set: no events are needed";
    const url = `${baseUrl}${webhookPath}`;
    const processor = openProcessor(stripe, baseUrl);
    const missing = await withTimeout(processor.missingEvents(url)).catch((error: Error) => error);
    if (missing instanceof Error)
      return { warning: `it is unknown which events the payment processor sends to ${url}: ${missing.message}` };
    if (missing === null)
      return {
        warning: `the payment processor has no enabled endpoint ${url}: orders stay unpaid unless something forwards its events`,
      };
    if (missing.length > 0)
      throw new Error(`the payment processor's endpoint ${url} lacks ${missing.join(", ")}: enable them there`);
    return `${url} gets all that are needed`;
  });
}

/** Checks whether the configured key of the payment processor belongs to the account that the database records. */
async function accountFinding({ config: { stripe, baseUrl }, db }: Examined): Promise<Found> {
  if (!stripe) return "STRIPE_SECRET_KEY is not set";
  const processor = openProcessor(stripe, baseUrl);
  const account = await withTimeout(processor.account()).catch((error: Error) => error);
  if (account instanceof Error)
    return { warning: `it is unknown which account the key belongs to: ${account.message}` };
  const isSet = stripe.accountAgain !== null;
  const refused = account === null ? await whyUnreadIsRefused(db, processor) : null;
  if (refused !== null) throw new Error(refused);
  if (account === null)
    return {
      warning: `the key may not read its account, so a change of the account goes unnoticed${isSet ? ", and STRIPE_ACCOUNT_AGAIN has no effect" : ""}`,
    };
  if (await isRefused(db, account, processor)) throw new Error(howToReplace(account));
  if (isSet && !(await isRefused(db, account, { accountAgain: null })))
    return {
      warning: `${account}, and STRIPE_ACCOUNT_AGAIN is still set: remove it, or a key of “${stripe.accountAgain}” can bring that account back after a later change`,
    };
  return account;
}

/**
 * Checks whether receipts name their issuer. A missing issuer is a warning only with live payments, because otherwise
 * no receipt is about real money.
 */
function issuerFinding({ billing, stripe }: Config): Found {
  const issuer = readIssuer(billing);
  if (namesIssuer(issuer)) return `issued by ${issuer.name}`;
  const detail = `BILLING ${billing} names no issuer with an address: receipts, credit notes and statements show none`;
  return stripe && !isTestModeKey(stripe.secretKey) ? { warning: detail } : detail;
}

const refundFinding = ({ refundApproval }: Config): Finding =>
  refundApproval === "solo"
    ? {
        name: "refunds",
        result: "warning",
        detail: "REFUND_APPROVAL is solo: one person may refund alone, an hour later",
      }
    : { name: "refunds", result: "ok", detail: "by two persons" };

/** Opens the data folder, the database and the blobs as the service does, and checks them. */
async function openedFindings(config: Config): Promise<Finding[]> {
  try {
    const resources = await openResources(config, openLog("silent"));
    try {
      return await dataFindings(resources);
    } finally {
      await resources.close();
    }
  } catch (error) {
    if (!(error instanceof StartupError)) throw error;
    return [{ name: "data", result: "failed", detail: error.message }];
  }
}

async function dataFindings(resources: Examined): Promise<Finding[]> {
  const { config } = resources;
  return [
    await runCheck("database", async () => {
      const [row] = await resources.db.query<{ version: string; schema: number }>(
        sql`SELECT current_setting('server_version') AS version, (SELECT max(version) FROM schema_migrations) AS schema`,
      );
      return `PostgreSQL ${row?.version}, ${config.databaseUrl ? "external" : "embedded"}, schema ${row?.schema}`;
    }),
    await runCheck("database sessions", () => databaseSessions(resources.db)),
    await runCheck("database rights", () => databaseRights(resources.db, migrations)),
    await runCheck("audit log", () => auditLogWhole(resources)),
    await runCheck("events", () => eventsWhole(resources)),
    await runCheck("rows", () => rowsWhole(resources)),
    await runCheck("transparency log", () => logsGoOn(resources)),
    await runCheck("revocations", () => revocationsAgree(resources)),
    await runCheck("blobs", async () => {
      await resources.blobs.probe();
      return config.blobUrl;
    }),
    await runCheck("retention", () => retentionFinding(resources)),
    await runCheck("online notarization", () => notarizationFinding(resources)),
    await runCheck("recordings", () => recordingsFinding(resources)),
    await runCheck("nodes", () => nodesFinding(resources)),
    await runCheck("payment account", () => accountFinding(resources)),
    await runCheck("books", () => sumsAgree(resources.db)),
    await secretsFinding(resources),
  ];
}

/** Checks whether the service offers notarizations that no registered notary can perform. */
async function notarizationFinding({ config, db, clock }: Examined): Promise<Found> {
  const shipped = loadNotaryRules(config.notaryRules);
  const { notarizationBlocked } = createPricing(loadPricingFiles(config.priceFiles));
  const readEligibility = eligibilityReader({ shipped, clock, notarizationBlocked });
  const supply = { clock, refuses: config.notaryRequired, readEligibility };
  const { result, detail } = await supplyState(supply, db);
  if (result === "ok") return detail;
  return result === "urgent" ? { warning: detail, urgent: true } : { warning: detail };
}

/** Checks whether the disk has enough space for the recordings of audio and video sessions. */
async function recordingsFinding({ config, db, clock }: Examined): Promise<Found> {
  if (!config.media) return "MEDIA is off: nothing is recorded";
  const { words, isLow } = await diskReport({ db, clock }, recordingDisk(config.dataDir, config.recordingsFreeBytes));
  return isLow ? { warning: words } : words;
}

/** How many documents the retention plan deletes next, and when. A deletion can't be undone. */
async function retentionFinding({ config, db, clock }: Examined): Promise<string> {
  const { due, next, nextRule } = await upcomingDeletions(
    { db, sources: retained.sources },
    readRetention(config.retention),
    clock(),
  );
  const later = next ? `next by ${nextRule} on ${next.toISOString().slice(0, 10)}` : "none later by what is stored now";
  return `${config.retention}: ${due} documents are due; ${later}`;
}

const nodeFinding = () => runCheck("node", () => process.version);

async function findings(
  config: Config,
  senses: Senses,
  findData: () => Promise<Finding[]>,
  findKeys: () => Promise<Finding[]>,
): Promise<Finding[]> {
  const settings = await runCheck("settings", () => `data in ${config.dataDir}, public address ${config.baseUrl}`);
  const prices = await runCheck("price book and catalog", () => {
    loadPricingFiles(config.priceFiles);
    return `${config.priceFiles.priceBook}, ${config.priceFiles.catalog}`;
  });
  // The data folder is checked first: this check creates the folder if it is missing, and the keys may be in it.
  const ownFindings = async () => [...(await findData()), ...(await findKeys())];
  const [own, outside, providers, media, events] = await Promise.all([
    ownFindings(),
    outsideFindings(config, senses),
    providerFindings(config, senses),
    mediaFindings(config, senses),
    paymentEventsFinding(config),
  ]);
  const authorities = await caFinding(config.webhookCa, senses.clock());
  const receipts = await runCheck("receipts", () => issuerFinding(config));
  const money = [{ name: "payments", ...paymentsFinding(config) }, events, receipts, refundFinding(config)];
  return [await nodeFinding(), settings, prices, ...own, ...outside, ...providers, ...media, authorities, ...money];
}

/**
 * Checks everything that a service with these settings would use; works with and without a running service. A failed
 * check is a finding; only an unexpected error rejects.
 */
export async function examine(env: NodeJS.ProcessEnv, cwd: string, senses: Senses): Promise<Finding[]> {
  let config: Config;
  try {
    config = readConfig(env, cwd, root);
  } catch (error) {
    return [await nodeFinding(), { name: "settings", result: "failed", detail: (error as Error).message }];
  }
  return findings(
    config,
    senses,
    () => openedFindings(config),
    () => signingFindings(config, senses),
  );
}

// The checks request time stamps, and read the whole audit log and all events. So their results are cached this long.
const freshMs = minuteMs;

/**
 * The findings of `doctor` for the running service. Creates nothing, and runs at most once a minute for any number of
 * callers.
 */
export function examiner(resources: Examined): () => Promise<Finding[]> {
  const { config, clock } = resources;
  let last: { found: Promise<Finding[]>; at: number } | undefined;
  return () => {
    const now = clock().getTime();
    if (!last || now - last.at >= freshMs) {
      const found = findings(
        config,
        resources,
        () => dataFindings(resources),
        () => presentKeyFindings(config, resources),
      );
      last = { found, at: now };
    }
    return last.found;
  };
}

type Role = { name: string; isSuperuser: boolean; loose: string[]; makesObjects: boolean };

const where = "see 'Two roles' in docs/operating.md";

/**
 * Checks whether the service's database role has more rights than it needs.
 * @param migrations the folder of the migrations
 */
async function databaseRights(db: Sql, migrations: string): Promise<Found> {
  const { appendOnly } = await readRights(migrations);
  const [role] = await db.query<Role>(sql`
    SELECT rolname AS name, rolsuper AS "isSuperuser", ARRAY(
      SELECT t FROM unnest(${Object.keys(appendOnly)}::text[]) AS t
      WHERE has_table_privilege(t, 'UPDATE') OR has_table_privilege(t, 'DELETE') OR has_table_privilege(t, 'TRUNCATE')
    ) AS loose, EXISTS (
      SELECT FROM unnest(${largeObjectFunctions}::text[]) AS f WHERE has_function_privilege('pg_catalog.' || f, 'EXECUTE')
    ) AS "makesObjects"
    FROM pg_roles WHERE rolname = current_user`);
  if (!role) throw new Error("the role is unknown");
  if (role.isSuperuser) return { warning: `${role.name} is a superuser: ${where}` };
  if (role.loose.length > 0)
    return { warning: `${role.name} may change or remove rows of ${role.loose.join(", ")}: ${where}` };
  if (role.makesObjects) return { warning: `${role.name} may make large objects: ${where}` };
  return `${role.name} can only add to append-only tables`;
}

/**
 * Checks whether database sessions behave as the service expects. A faulty pooler loses prepared statements, time-outs
 * or notifications.
 */
async function databaseSessions(db: Database): Promise<Found> {
  const hint = "see 'Behind PgBouncer' in docs/operating.md";
  try {
    await db.checkStatements();
  } catch (error) {
    const why = error instanceof Error ? (error.cause ?? error) : error;
    throw new Error(`prepared statements do not work (${why instanceof Error ? why.message : why}): ${hint}`);
  }
  const timeouts = await missingTimeouts(db);
  if (timeouts.length > 0) return { warning: `sessions have no ${timeouts.join(", ")}: ${hint}` };
  await db.checkNotifications();
  return "prepared statements, timeouts and notifications work";
}
