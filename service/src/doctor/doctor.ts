import { type Config, readConfig } from "../config/config.ts";
import { isTestModeKey } from "../payments/payments.ts";
import { sql } from "../platform/database/sql.ts";
import { StartupError } from "../platform/errors.ts";
import { openLog } from "../platform/logs.ts";
import { loadPricingFiles } from "../pricing/pricing.ts";
import { migrations, openResources, root } from "../resources.ts";
import { readRetention, upcomingDeletions } from "../retention/retention.ts";
import { auditLogWhole } from "./audit-log.ts";
import { caFinding } from "./ca.ts";
import { databaseRights, databaseSessions } from "./database-rights.ts";
import { type Examined, type Finding, runCheck } from "./finding.ts";
import { outsideFindings } from "./outside.ts";
import { providerFindings } from "./providers.ts";
import { revocationsAgree } from "./revocations.ts";
import { secretsFinding } from "./secrets.ts";
import { presentKeyFindings, signingFindings } from "./signing.ts";

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

const refundFinding = ({ refundApproval }: Config): Finding =>
  refundApproval === "solo"
    ? {
        name: "refunds",
        result: "warning",
        detail: "REFUND_APPROVAL is solo: one person may refund alone, an hour later",
      }
    : { name: "refunds", result: "ok", detail: "by two persons" };

/** Folder, database and blobs, opened as the service opens them. */
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
    await runCheck("revocations", () => revocationsAgree(resources)),
    await runCheck("blobs", async () => {
      await resources.blobs.probe();
      return config.blobUrl;
    }),
    await runCheck("retention", () => retentionFinding(resources)),
    await secretsFinding(resources),
  ];
}

/** What is deleted next, for there is no undoing it. */
async function retentionFinding({ config, db, clock }: Examined): Promise<string> {
  const { due, next, nextRule } = await upcomingDeletions(db, readRetention(config.retention), clock());
  const later = next ? `next by ${nextRule} on ${next.toISOString().slice(0, 10)}` : "none later by what is stored now";
  return `${config.retention}: ${due} documents are due; ${later}`;
}

const nodeFinding = () => runCheck("node", () => process.version);

async function findings(
  config: Config,
  findData: () => Promise<Finding[]>,
  findKeys: () => Promise<Finding[]>,
): Promise<Finding[]> {
  const settings = await runCheck("settings", () => `data in ${config.dataDir}, public address ${config.baseUrl}`);
  const prices = await runCheck("price book and catalog", () => {
    loadPricingFiles(config.priceFiles);
    return `${config.priceFiles.priceBook}, ${config.priceFiles.catalog}`;
  });
  // Keys may lie in the data folder, which the data's check makes where there is none.
  const ownFindings = async () => [...(await findData()), ...(await findKeys())];
  const [own, outside, providers] = await Promise.all([
    ownFindings(),
    outsideFindings(config),
    providerFindings(config),
  ]);
  const authorities = await caFinding(config.webhookCa, new Date());
  const money = [{ name: "payments", ...paymentsFinding(config) }, refundFinding(config)];
  return [await nodeFinding(), settings, prices, ...own, ...outside, ...providers, authorities, ...money];
}

/** Looks at all that a service would have with these settings, beside a running one or without. Never rejects for what it finds. */
export async function examine(env: NodeJS.ProcessEnv, cwd: string): Promise<Finding[]> {
  let config: Config;
  try {
    config = readConfig(env, cwd, root);
  } catch (error) {
    return [await nodeFinding(), { name: "settings", result: "failed", detail: (error as Error).message }];
  }
  return findings(
    config,
    () => openedFindings(config),
    () => signingFindings(config),
  );
}

// Time stamps are asked for, and the whole chain of the audit log is read.
const freshMs = 60_000;

/** The same of the service that runs, which makes nothing that is missing. However many ask, it is looked at once a minute. */
export function examiner(resources: Examined): () => Promise<Finding[]> {
  const { config, clock } = resources;
  let last: { found: Promise<Finding[]>; at: number } | undefined;
  return () => {
    const now = clock().getTime();
    if (!last || now - last.at >= freshMs) {
      const found = findings(
        config,
        () => dataFindings(resources),
        () => presentKeyFindings(config),
      );
      last = { found, at: now };
    }
    return last.found;
  };
}
