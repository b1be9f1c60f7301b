import { randomBytes } from "node:crypto";
import { type Config, readConfig } from "../config.ts";
import { describeIdentity, openSealIdentity } from "../passports/passports.ts";
import { isTestModeKey } from "../payments/payments.ts";
import { StartupError } from "../platform/errors.ts";
import { openLog } from "../platform/logs.ts";
import { loadPricingFiles } from "../pricing/pricing.ts";
import { openResources, root } from "../resources.ts";
import type { Verb } from "./verb.ts";

type Finding = { name: string; result: "ok" | "warning" | "failed"; detail: string };

async function look(name: string, check: () => Promise<string> | string): Promise<Finding> {
  try {
    return { name, result: "ok", detail: await check() };
  } catch (error) {
    return { name, result: "failed", detail: (error as Error).message };
  }
}

/** The key itself is asked; its setting is not shown, for it may hold a PIN. */
async function sealFindings(config: Config): Promise<Finding[]> {
  try {
    const { identity, warnings } = await openSealIdentity(config, new Date(), randomBytes(16));
    await identity.key.close();
    const certificate = warnings.map(
      ({ detail }) => ({ name: "seal certificate", result: "warning", detail }) as const,
    );
    return [{ name: "seal key", result: "ok", detail: describeIdentity(identity) }, ...certificate];
  } catch (error) {
    if (!(error instanceof StartupError)) throw error;
    return [{ name: "seal key", result: "failed", detail: error.message }];
  }
}

function listed(name: string, urls: readonly string[], without: string): Finding {
  if (urls.length > 0) return { name, result: "ok", detail: urls.join(", ") };
  return { name, result: "warning", detail: `off: ${without}` };
}

function paymentsFinding({ stripe }: Config): Pick<Finding, "result" | "detail"> {
  if (!stripe) return { result: "warning", detail: "not configured: STRIPE_SECRET_KEY is unset" };
  if (isTestModeKey(stripe.secretKey))
    return { result: "warning", detail: "STRIPE_SECRET_KEY is of the test mode: live orders are paid without money" };
  return { result: "ok", detail: "configured" };
}

async function findings(): Promise<Finding[]> {
  const found: Finding[] = [await look("node", () => process.version)];
  let config: Config;
  try {
    config = readConfig(process.env, process.cwd(), root);
    found.push({
      name: "settings",
      result: "ok",
      detail: `data in ${config.dataDir}, public address ${config.baseUrl}`,
    });
  } catch (error) {
    return [...found, { name: "settings", result: "failed", detail: (error as Error).message }];
  }
  found.push(
    await look("price book and catalog", () => {
      loadPricingFiles(config.priceFiles);
      return `${config.priceFiles.priceBook}, ${config.priceFiles.catalog}`;
    }),
  );
  try {
    const resources = await openResources(config, openLog("silent"));
    try {
      found.push(
        await look("database", async () => {
          const [row] = await resources.db.rows<{ version: string; schema: number }>(
            "SELECT current_setting('server_version') AS version, (SELECT max(version) FROM schema_migrations) AS schema",
          );
          return `PostgreSQL ${row?.version}, ${config.databaseUrl ? "external" : "embedded"}, schema ${row?.schema}`;
        }),
        await look("blobs", async () => {
          await resources.blobs.probe();
          return config.blobUrl;
        }),
      );
    } finally {
      await resources.close();
    }
  } catch (error) {
    if (!(error instanceof StartupError)) throw error;
    found.push({ name: "data", result: "failed", detail: error.message });
  }
  found.push(
    ...(await sealFindings(config)),
    listed("time-stamping authorities", config.tsaUrls, "seals bear no time of an independent authority"),
    listed("calendars", config.otsCalendars, "seals are not anchored"),
  );
  found.push(
    {
      name: "payments",
      ...paymentsFinding(config),
    },
    {
      name: "mail",
      ...(config.smtpUrl
        ? { result: "ok", detail: "SMTP" }
        : { result: "warning", detail: `SMTP_URL is unset: mails go to ${config.dataDir}/outbox` }),
    },
  );
  return found;
}

export const doctor: Verb = {
  name: "doctor",
  args: [],
  flags: "",
  options: {},
  summary: "Checks every dependency, setting and key, a line each; exit 1 when one fails.",
  async run() {
    const checks = await findings();
    const text = checks.map(({ name, result, detail }) => `${result.padEnd(8)} ${name}: ${detail}`).join("\n");
    const failed = checks.some(({ result }) => result === "failed");
    return { text, json: { ok: !failed, checks }, exitCode: failed ? 1 : 0 };
  },
};
