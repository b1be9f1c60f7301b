import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import { createApp } from "./app.ts";
import { outboxMail, welcome } from "./cli/welcome.ts";
import { type Anchoring, openAnchoring } from "./evidence/anchoring/anchoring.ts";
import { openSealing, type Sealing } from "./evidence/seals/seals.ts";
import { openTransparencyLog, type TransparencyLog } from "./evidence/transparency-log/transparency-log.ts";
import { type AppDeps, openFeatures, type Rules } from "./features.ts";
import { createDemoPartner, readTierLimits, readTrialsPerDomain, trackLastUse } from "./firms/partners/partners.ts";
import { startTasks } from "./jobs.ts";
import { type Config, readConfig } from "./kernel/config/config.ts";
import { keepRowsYoung } from "./kernel/platform/bounds/free-memory.ts";
import { storeAddress } from "./kernel/platform/data-folder.ts";
import { type SchemaWatch, watchSchema } from "./kernel/platform/database/schema-fence.ts";
import { StartupError } from "./kernel/platform/errors.ts";
import { type Log, openLog } from "./kernel/platform/logs.ts";
import { type Outbox, outboxFolder } from "./kernel/platform/mail/mail.ts";
import { createMetrics, type Metrics } from "./kernel/platform/metrics.ts";
import { isThisMachine } from "./kernel/platform/network.ts";
import type { WorkerPool } from "./kernel/platform/workers/pool.ts";
import type { Resources } from "./kernel/resources.ts";
import { readRetention } from "./kernel/retention/retention.ts";
import { readIssuer, registerIssuer } from "./orders/billing/billing.ts";
import { openProcessor } from "./orders/payments/payments.ts";
import { openPricing, type VersionedPricing } from "./orders/pricing/pricing.ts";
import { openMediaEngine } from "./providers/providers.ts";
import {
  listedCertificates,
  type OpenedSignerAuthorities,
  openSignerAuthorities,
} from "./signing/envelopes/envelopes.ts";
import {
  eligibilityReader,
  isLeased,
  loadNotaryRules,
  Recordings,
  recordingDisk,
  recordingMetrics,
  sessionsByState,
  spoolFolder,
} from "./signing/notaries/notaries.ts";
import type { LiveMedia } from "./signing/wing.ts";
import { unvouchedCounter } from "./upkeep/monitoring.ts";
import { openResources, openWorkers, root } from "./upkeep/resources.ts";

const drainMs = 2_500;
// The time for which an outdated node still reports that it is not ready. Load balancers check every few seconds.
const outdatedMs = 3_000;

async function listen(app: FastifyInstance, { host, port, dataDir, baseUrl }: Config): Promise<void> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EADDRINUSE")
      throw new StartupError(
        `PORT ${port} is taken on ${host}: choose another, for example PORT=${port === 65535 ? 8080 : port + 1} npm start`,
      );
    if (code === "EACCES")
      throw new StartupError(
        `PORT ${port} is not open to this user: choose one from 1024 to 65535, for example PORT=8080 npm start`,
      );
    throw new StartupError(`PORT ${port} on HOST ${host} cannot be listened on (${code})`);
  }
  storeAddress(dataDir, baseUrl);
}

/** Requests in progress may finish within the drain time. Then the remaining connections are closed. */
async function endRequests(app: FastifyInstance): Promise<void> {
  const cut = setTimeout(() => app.server.closeAllConnections(), drainMs);
  try {
    await app.close();
  } finally {
    clearTimeout(cut);
  }
}

/**
 * Waits until load balancers have noticed that this node is not ready; they check every few seconds. Meanwhile the node
 * still answers requests.
 */
async function drain({ config, log }: Pick<Resources, "config" | "log">): Promise<void> {
  if (config.drainSeconds === 0) return;
  log.info({ seconds: config.drainSeconds }, "draining");
  await sleep(config.drainSeconds * 1_000);
}

/** Waits until the service must end. @returns the error to end with, if a newer release has migrated the database */
async function untilEnd(log: Log, stopped: Promise<string>, watch: SchemaWatch): Promise<StartupError | null> {
  const end = await Promise.race([stopped, watch.outdated]);
  if (typeof end === "string") {
    log.info({ signal: end }, "stopping");
    return null;
  }
  log.fatal({ reason: end.message }, "stopping: the database is of a newer release");
  await Promise.race([stopped, sleep(outdatedMs, undefined, { ref: false })]);
  return end;
}

/**
 * The folder of stored mails, and the secret in the URL of the page that shows them. Null when there is a mail server,
 * or when other machines can reach the service.
 */
function openOutbox({ smtpUrl, baseUrl, dataDir }: Config): Outbox | null {
  const { hostname } = new URL(baseUrl);
  if (smtpUrl !== null || !isThisMachine(hostname)) return null;
  return { folder: outboxFolder(dataDir), token: randomBytes(16).toString("hex") };
}

/** Opens live audio and video, and its recordings, if the settings turn it on. */
function openMedia(
  resources: Resources,
  metrics: Metrics,
  { notarizationBlocked }: Pick<VersionedPricing, "notarizationBlocked">,
): LiveMedia | null {
  const { config, clock, log } = resources;
  if (!config.media) return null;
  const spoolDir = spoolFolder(config);
  const engine = openMediaEngine({ settings: config.media, spoolDir, clock, log });
  const disk = recordingDisk(spoolDir, config.recordingsFreeBytes);
  recordingMetrics(metrics, { ...resources, engine, spoolDir, disk });
  const sessionsHelp = "Sessions with a notary that have not ended, by state.";
  metrics.gauge("live_sessions", sessionsHelp, "state", () => sessionsByState(resources.db));
  const shipped = loadNotaryRules(config.notaryRules);
  const readEligibility = eligibilityReader({ shipped, clock, notarizationBlocked });
  const recordings = new Recordings({ ...resources, media: { engine, spoolDir }, readEligibility });
  return { engine, recordings, disk };
}

/**
 * Stores the unfinished recordings of an earlier process of this node. Runs after this process listens: before that,
 * the earlier process may still be writing them.
 */
const recoverRecordings = ({ db, log }: Resources, { recordings }: LiveMedia): Promise<void> =>
  recordings
    .recover((session) => isLeased(db, session))
    .catch((error) =>
      log.error({ err: error }, "can't store the recordings that an earlier process left on this disk"),
    );

async function readRules({ config, db, clock }: Resources): Promise<Rules> {
  await registerIssuer(db, readIssuer(config.billing), clock());
  return {
    pricing: await openPricing(db, config.priceFiles),
    tierLimits: readTierLimits(config.limits),
    trialsPerDomain: readTrialsPerDomain(config.limits),
    retention: readRetention(config.retention),
  };
}

/** The functions of the operating-system process that the service uses. A test can replace them. */
export type Surroundings = {
  /** Prints text for people. */
  print: (text: string) => void;
  openLog: (level: string) => Log;
  openWorkers: (log: Log, metrics: Metrics) => WorkerPool;
  /** Resolves with the reason for which the service must end. */
  stopped: Promise<string>;
};

function ownProcess(): Surroundings {
  keepRowsYoung();
  return {
    print: (text) => void process.stdout.write(text),
    openLog,
    openWorkers,
    stopped: stopSignal(),
  };
}

const anchoringOf = (resources: Resources, metrics: Metrics): Anchoring | null => {
  const calendars = resources.config.otsCalendars;
  return calendars.length > 0 ? openAnchoring({ ...resources, calendars, fetch, metrics }) : null;
};

/** Adds the certificates of the signers' authorities and the keys of the log to the trust list of the seals. */
function withTrustList(sealing: Sealing, signers: OpenedSignerAuthorities, log: TransparencyLog): Sealing {
  const certificates = listedCertificates(signers);
  return {
    ...sealing,
    trustList: async () => sealing.trustList({ signers: certificates, logs: await log.trusted() }),
  };
}

/** The text for the person who started the service. Creates the demo partner at the first start. */
async function greeting(resources: Resources, outbox: Outbox | null, env: NodeJS.ProcessEnv): Promise<string> {
  const demo = await createDemoPartner(resources);
  return welcome({
    config: resources.config,
    outboxPath: outbox && `/outbox/${outbox.token}/`,
    demoKey: demo?.key ?? null,
    env,
  });
}

/**
 * Serves until SIGINT or SIGTERM, or until a newer release has migrated the database. Closes everything before it
 * returns or throws, even if a part can't be closed.
 * @throws StartupError when a newer release has migrated the database. StartupError or another error when the start
 * fails. Otherwise the first error of a part that can't be closed
 */
export async function serve(env: NodeJS.ProcessEnv, surroundings: Surroundings = ownProcess()): Promise<void> {
  const { print, stopped } = surroundings;
  const config = readConfig(env, process.cwd(), root);
  const log = surroundings.openLog(config.logLevel);
  const metrics = createMetrics();
  const resources = await openResources(config, log, unvouchedCounter(metrics));
  const lastUse = trackLastUse(resources.db, resources.clock);
  const schemaWatch = watchSchema(resources.db, resources.schema, log);
  let app: FastifyInstance | undefined;
  let sealing: Sealing | undefined;
  let signers: OpenedSignerAuthorities | undefined;
  let workers: WorkerPool | undefined;
  let media: LiveMedia | null = null;
  let stopTasks: (() => Promise<void>) | undefined;
  let isDraining = false;
  const run = async () => {
    const rules = await readRules(resources);
    workers = surroundings.openWorkers(log, metrics);
    const transparencyLog = await openTransparencyLog(resources, fetch);
    sealing = await openSealing({ ...resources, fetch, metrics, workers }, config, transparencyLog.newestSeen);
    signers = await openSignerAuthorities(config, resources.clock(), () => randomBytes(16));
    for (const { code, detail } of signers.warnings) log.warn({ code }, detail);
    const outbox = openOutbox(config);
    media = openMedia(resources, metrics, rules.pricing);
    const processor = config.stripe && openProcessor(config.stripe, config.baseUrl);
    const deps: AppDeps = {
      resources,
      node: {
        metrics,
        workers,
        schemaWatch,
        lastUse,
        processor,
        outbox,
        onMailStored: (mail) => outbox && print(outboxMail(mail)),
        isDraining: () => isDraining,
      },
      rules,
      sealing: withTrustList(sealing, signers, transparencyLog),
      signerAuthorities: signers.authorities,
      anchoring: anchoringOf(resources, metrics),
      transparencyLog,
      media,
    };
    const features = openFeatures(deps);
    app = await createApp(deps, features);
    await listen(app, config);
    if (media) void recoverRecordings(resources, media);
    schemaWatch.start();
    stopTasks = startTasks(deps, features);
    print(await greeting(resources, outbox, env));
    const outdated = await untilEnd(log, stopped, schemaWatch);
    isDraining = true;
    if (outdated) throw outdated;
    await drain(resources);
  };
  await doAll(log, [
    run,
    () => app && endRequests(app),
    () => media?.engine.stop(),
    () => schemaWatch.stop(),
    () => workers?.close(),
    () => stopTasks?.(),
    () => signers?.close(),
    () => sealing?.close(),
    () => resources.close(),
  ]);
}

/** Does each step in turn, even after one failed. @throws the first error; the others are logged */
async function doAll(log: Log, steps: readonly (() => Promise<unknown> | undefined)[]): Promise<void> {
  const errors: unknown[] = [];
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      errors.push(error);
    }
  }
  const [first, ...further] = errors;
  for (const err of further) log.error({ err }, "a further error while the service stopped");
  if (errors.length > 0) throw first;
}

/**
 * Ignores a second signal within this time: a process can get the same signal from its process group and again from
 * npm.
 */
const sameSignalMs = 1_000;

/** Resolves with the first signal. A later signal ends the process at once. */
function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let firstAt: number | undefined;
    const hear = (signal: NodeJS.Signals) => {
      firstAt ??= performance.now();
      if (performance.now() - firstAt > sameSignalMs) process.exit(130);
      resolve(signal);
    };
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, hear);
    // Without a listener, this signal would end the process if Node.js was built without an inspector.
    process.on("SIGUSR1", () => {});
  });
}
