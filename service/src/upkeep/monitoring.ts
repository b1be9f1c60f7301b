import { X509Certificate } from "node:crypto";
import { pendingAnchorGauges } from "../evidence/anchoring/anchoring.ts";
import { type Sealing, sealChainPem, tsaRootCertificates } from "../evidence/seals/seals.ts";
import {
  anchorGauges,
  logGauges,
  requireUnhalted,
  type TransparencyLog,
  witnessGauges,
} from "../evidence/transparency-log/transparency-log.ts";
import type { Config } from "../kernel/config/config.ts";
import type { RateLimits } from "../kernel/http/rate-limits.ts";
import { openReadiness, type Probe, type ReadReadiness } from "../kernel/http/readiness.ts";
import { type Clock, dayMs } from "../kernel/platform/clock.ts";
import type { Database } from "../kernel/platform/database/database.ts";
import { sql } from "../kernel/platform/database/sql.ts";
import { jobGauges } from "../kernel/platform/jobs/jobs.ts";
import type { Mailer } from "../kernel/platform/mail/mail.ts";
import type { Metrics } from "../kernel/platform/metrics.ts";
import { timeLimit } from "../kernel/platform/stopwatch.ts";
import type { Resources } from "../kernel/resources.ts";
import { pendingDeliveryGauges } from "../outgoing/webhooks/webhooks.ts";
import { probeSignerAuthorities, type SignerAuthorities } from "../signing/envelopes/envelopes.ts";
import { notaryGauges } from "../signing/notaries/notaries.ts";

/** The certificates that the service signs with: their purpose and their PEM. */
export const signingCertificates = ({ chainPem }: Pick<Sealing, "chainPem">, { live }: SignerAuthorities) => [
  { name: "seal", pem: chainPem.live },
  { name: "seal of tests", pem: chainPem.test },
  { name: "signer authority", pem: sealChainPem(live.chain) },
];

export type GaugeDeps = {
  config: Pick<Config, "tsaUrls" | "tsaTrust">;
  db: Database;
  clock: Clock;
  version: string;
  dependencies: {
    readiness: ReadReadiness;
    limits: Pick<RateLimits, "redisIsUp">;
    mailer: Pick<Mailer, "isUp">;
    sealing: Pick<Sealing, "chainPem" | "isStamped">;
  };
  signerAuthorities: SignerAuthorities;
};

type Figure = { gauge: string; label: string; value: number };

/** All scrapers share the results of one query for this long, because several of them may scrape every few seconds. */
const sharedMs = 15_000;

/** The gauges that are read from the database, with help text and label. */
const figures = {
  jobs_waiting: ["Jobs that are due, scheduled or running.", "queue"],
  jobs_retrying: ["Jobs that failed and will be tried again.", "queue"],
  jobs_failed: ["Jobs that failed for good.", "queue"],
  jobs_overdue_seconds: ["How long the oldest due job has waited.", "queue"],
  webhook_deliveries_pending: ["Webhook deliveries that wait; more than 100,000 are not counted.", null],
  webhook_deliveries_oldest_seconds: ["How long the oldest webhook delivery has waited.", null],
  anchors_pending: ["Seals whose OpenTimestamps proof is not in a block yet.", null],
  anchors_oldest_pending_seconds: ["How long the oldest such proof has waited.", null],
  log_leaves: ["Entries of the transparency log.", "log"],
  log_waiting: ["Seals that wait for the transparency log.", "log"],
  log_oldest_waiting_seconds: ["How long the oldest such seal has waited.", "log"],
  log_roots_oldest_waiting_seconds: ["For how long a source has not anchored the live log's hourly roots.", "source"],
  log_witness_behind: ["Entries of the transparency log that a witness has not seen.", "witness"],
  log_witness_alarm: ["Whether a witness contradicts the transparency log: 1 or 0.", "witness"],
  notary_expires_days: ["Days until the first of the active notaries' commissions and registrations ends.", "what"],
} as const satisfies Record<string, readonly [help: string, label: string | null]>;

/** Gauges of queued work and its waiting times, database connections, dependencies, and upcoming expiries. */
export function serviceGauges(metrics: Metrics, deps: GaugeDeps): void {
  const read = shared(() => readFigures(deps), sharedMs);
  for (const [name, [help, label]] of Object.entries(figures))
    metrics.gauge(name, help, label, async () => {
      const rows = (await read()).filter(({ gauge }) => gauge === name);
      return new Map(rows.map((row) => [row.label, row.value]));
    });
  metrics.info(
    "signsealship_build_info",
    "The release that runs, and the schema of its database.",
    ["version", "schema"],
    async () => {
      const schema = (await read()).find(({ gauge }) => gauge === "schema");
      return { version: deps.version, schema: String(schema?.value ?? "") };
    },
  );
  connectionGauges(metrics, deps.db);
  dependencyGauges(metrics, deps.dependencies);
  certificateGauges(metrics, deps);
}

const readFigures = ({ db, clock }: GaugeDeps): Promise<Figure[]> =>
  db.query<Figure>(sql`
    ${jobGauges}
    UNION ALL ${pendingDeliveryGauges(clock())}
    UNION ALL ${pendingAnchorGauges(clock())}
    UNION ALL ${logGauges(clock())}
    UNION ALL ${witnessGauges}
    UNION ALL ${anchorGauges(clock())}
    UNION ALL ${notaryGauges(clock())}
    UNION ALL SELECT 'schema', '', max(version)::float8 FROM schema_migrations`);

function connectionGauges(metrics: Metrics, db: Database): void {
  const states = "Connections of this node to the database, and callers that wait for one.";
  metrics.gauge("database_connections", states, "state", async () => {
    const { inUse, idle, waiting } = db.connections();
    return new Map(Object.entries({ in_use: inUse, idle, waiting }));
  });
  metrics.gauge(
    "database_connections_max",
    "DATABASE_POOL_SIZE.",
    null,
    async () => new Map([["", db.connections().max]]),
  );
}

function dependencyGauges(metrics: Metrics, { readiness, limits, mailer, sealing }: GaugeDeps["dependencies"]): void {
  const help = "Whether a dependency answers: 1 or 0. Of mail and time stamps: whether the last use went well.";
  metrics.gauge("dependency_up", help, "name", async () => {
    const [{ checks }, redis] = await Promise.all([readiness(), limits.redisIsUp()]);
    const probed = Object.entries(checks).map(
      ([name, result]) => [name.replaceAll(" ", "_"), result === "ok"] as const,
    );
    const used = Object.entries({ redis, mail: mailer.isUp(), time_stamps: sealing.isStamped() });
    return new Map([...probed, ...used].flatMap(([name, isUp]) => (isUp === null ? [] : [[name, Number(isUp)]])));
  });
}

function certificateGauges(metrics: Metrics, deps: GaugeDeps): void {
  const { config, clock, dependencies, signerAuthorities } = deps;
  const roots = config.tsaUrls.length > 0 ? tsaRootCertificates(config) : [];
  const ends = [...signingCertificates(dependencies.sealing, signerAuthorities), ...roots].map(
    ({ name, pem }) => [name, new X509Certificate(pem).validToDate.getTime()] as const,
  );
  metrics.gauge("certificate_expires_days", "Days until a certificate ends.", "certificate", async () => {
    const now = clock().getTime();
    return new Map(ends.map(([name, end]) => [name, (end - now) / dayMs]));
  });
}

/**
 * Calls within `ms` share one result of `ask`. If `ask` fails, the callers that wait for it get the error, and the next
 * call asks again.
 */
function shared<T>(ask: () => Promise<T>, ms: number): () => Promise<T> {
  let last: { answer: Promise<T>; isStale: () => boolean } | undefined;
  return () => {
    if (last && !last.isStale()) return last.answer;
    const asked = { answer: ask(), isStale: timeLimit(ms) };
    last = asked;
    asked.answer.catch(() => {
      if (last === asked) last = undefined;
    });
    return asked.answer;
  };
}

export function unvouchedCounter(metrics: Metrics): (table: string) => void {
  const help = "Rows whose MAC does not hold, once an hour.";
  const unvouched = metrics.counter("rows_not_vouched_for_total", help, ["table"]);
  return (table) => unvouched.inc({ table });
}

type ReadinessDeps = {
  resources: Resources;
  sealing: Pick<Sealing, "probe">;
  signerAuthorities: SignerAuthorities;
  transparencyLog: Pick<TransparencyLog, "halted">;
};

/** Probes the dependencies without which the service can't respond, or can't complete its work. */
export function serviceReadiness(deps: ReadinessDeps): ReadReadiness {
  const { resources, sealing, signerAuthorities, transparencyLog } = deps;
  const { config, db, blobs, clock, log } = resources;
  // A fault of a key service affects all nodes. A key in a file exists only on this node, so another node may have a
  // working one.
  const isShared = (key: string) => !key.startsWith("file:");
  const isOutside = config.databaseUrl !== null;
  const query = async () => void (await db.query(sql`SELECT 1`));
  const signers = () => probeSignerAuthorities(signerAuthorities, clock());
  const logs = async () => requireUnhalted(transparencyLog);
  const probes: Probe[] = [
    { name: "database", check: isOutside ? db.checkStatements : query },
    { name: "blobs", check: blobs.probe, isShared: true },
    { name: "seal key", check: sealing.probe, isShared: isShared(config.sealKey) },
    { name: "signer authority", check: signers, isShared: isShared(config.signerCaKey) },
    // Marked as shared, so that a failure of this probe doesn't take the node out of the load balancer. Perhaps only
    // this node lacks its log key, but it continues to seal while a log is halted.
    { name: "log", check: logs, isShared: true },
  ];
  // Without notifications from the database, a job may start up to five seconds late.
  if (isOutside) probes.push({ name: "notifications", check: db.checkNotifications, isShared: true });
  return openReadiness(probes, (probe, error) => log.error({ err: error, probe }, "not ready"));
}
