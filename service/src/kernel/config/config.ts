import { join, resolve } from "node:path";
import { StartupError } from "../platform/errors.ts";
import { type RecaptchaSettings, recaptchaFrom, type StripeSettings, stripeFrom } from "./accounts.ts";
import { type DataFiles, dataFilesFrom } from "./data-files.ts";
import { type LogSettings, logFrom, witnessFrom } from "./log.ts";
import { type MediaSettings, mediaFrom, nodeUrlFrom, recordingsFreeFrom } from "./media.ts";
import {
  type EasyPostSettings,
  easypostFrom,
  type IdentitySettings,
  identityFrom,
  type LobSettings,
  lobFrom,
  type QuizSettings,
  quizFrom,
  remoteSigningFrom,
  type TelnyxSettings,
  telnyxFrom,
} from "./providers.ts";
import { addressRange, type Env, httpUrl, listOf, listOrOff, oneOf, read, wholeNumber, withScheme } from "./read.ts";

export type { SiteTexts } from "./data-files.ts";
export type { TelnyxSettings } from "./providers.ts";

/** Every setting, read once at the start. docs/operating.md explains each of them. */
export type Config = OwnSettings & LogSettings & DataFiles;

type OwnSettings = {
  port: number;
  host: string;
  /** The seconds for which `/readyz` reports the node as not ready before the node stops. */
  drainSeconds: number;
  /**
   * The seconds between the end of one service of a live order, such as signing, and the start of the next. A firm can
   * set its own pause instead.
   */
  nextServiceWait: number;
  /**
   * True if mails that are not urgent wait from 9 PM to 7 AM, in the firm's time zone. This concerns mails to clients
   * and signers about live orders.
   */
  quietHours: boolean;
  baseUrl: string;
  dataDir: string;
  databaseUrl: string | null;
  /**
   * The direct URL of the database server if `databaseUrl` points to a connection pooler; otherwise null. A pooler may
   * not support LISTEN.
   */
  databaseListenUrl: string | null;
  databasePoolSize: number;
  blobUrl: string;
  sealKey: string;
  sealCertificate: string | null;
  /**
   * The key of the authority that issues the certificates of signers. `signerCaCertificate` has the authority's
   * certificate chain.
   */
  signerCaKey: string;
  signerCaCertificate: string | null;
  secretsKey: string;
  /** Earlier values of SECRETS_KEY. They decrypt and verify old data, but encrypt nothing new. */
  secretsKeysOld: string[];
  tsaUrls: string[];
  /** PEM file with the roots that time-stamp tokens must chain to; null for the roots shipped with the service. */
  tsaTrust: string | null;
  otsCalendars: string[];
  /**
   * True if the seal of each proof passport is also submitted to the OpenTimestamps calendars individually. A
   * checkpoint of the transparency log is submitted at intervals in any case.
   */
  otsEachSeal: boolean;
  stripe: StripeSettings | null;
  recaptcha: RecaptchaSettings | null;
  /** The account at EasyPost, which sells carriers' labels. */
  easypost: EasyPostSettings | null;
  /** The account at Lob, which prints and mails letters. */
  lob: LobSettings | null;
  /** The account at Telnyx, which sends faxes and text messages. */
  telnyx: TelnyxSettings | null;
  /** The account at the provider that verifies identity documents. */
  identity: IdentitySettings | null;
  /** The account at the provider of knowledge-based questions, which prove a signer's identity. */
  quiz: QuizSettings | null;
  /** The URL of a remote signing service (CSC API v2) that holds notaries' keys; null without one. */
  remoteSigningUrl: string | null;
  /** Live audio and video; null when it is off. */
  media: MediaSettings | null;
  /** The URL at which the other nodes reach this node; null when unset. */
  nodeUrl: string | null;
  /** The least free disk space, in bytes, to start a session by audio and video. More people may need more. */
  recordingsFreeBytes: number;
  smtpUrl: string | null;
  mailFrom: string;
  redisUrl: string | null;
  rateLimits: boolean;
  keepSealed: boolean;
  /** The token that lets other machines read /metrics; null when only the local machine may read it. */
  metricsToken: string | null;
  trustProxy: string[];
  connectionsPerAddress: number;
  webhookAllow: string[];
  webhookCa: string | null;
  /** True if a live order for a notary is refused when no registered notary may perform its notarial act. */
  notaryRequired: boolean;
  playbooks: "off" | "on" | string[];
  /** `solo`: operators may approve their own requests, such as for refunds, after an hour. `two-persons`: never. */
  refundApproval: RefundApproval;
  logLevel: LogLevel;
  /** The seconds by which tests set this process's clock forward; 0 outside of tests. */
  timeTravelSeconds: number;
};

const refundApprovals = ["two-persons", "solo"] as const;
type RefundApproval = (typeof refundApprovals)[number];

const logLevels = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;
type LogLevel = (typeof logLevels)[number];

const publicTsas = ["https://freetsa.org/tsr", "http://timestamp.digicert.com"];
const publicCalendars = [
  "https://a.pool.opentimestamps.org",
  "https://b.pool.opentimestamps.org",
  "https://a.pool.eternitywall.com",
  "https://ots.btc.catallaxy.com",
];

/**
 * Reads and checks all settings.
 * @param root the folder of the checkout, which has the shipped data files.
 * @throws StartupError with one line that names the variable and what it may be.
 */
export function readConfig(env: Env, cwd: string, root: string): Config {
  const path = (text: string) => resolve(cwd, text);
  const anyText = (text: string) => text;
  const port = read(env, "PORT", 8080, "a port number from 1 to 65535", wholeNumber(1, 65535));
  const dataDir = path(read(env, "DATA_DIR", "var", "a folder", anyText));
  const file = (...parts: string[]) => `file:${join(dataDir, ...parts)}`;
  const baseUrl = read(env, "BASE_URL", `http://localhost:${port}`, "an http(s) URL", httpUrl);
  const keyUri = "file:PATH, pkcs11:... or awskms:///...";
  const keyScheme = withScheme("file:", "pkcs11:", "awskms:");
  return {
    port,
    host: read(env, "HOST", "127.0.0.1", "an address or host name", (text) =>
      /^[\w.:-]+$/.test(text) ? text : undefined,
    ),
    ...secondsFrom(env),
    baseUrl,
    dataDir,
    ...databaseFrom(env),
    blobUrl: read(env, "BLOB_URL", file("blobs"), "file:PATH or s3://bucket/prefix", withScheme("file:", "s3://")),
    sealKey: read(env, "SEAL_KEY", file("keys", "seal"), keyUri, keyScheme),
    sealCertificate: read<string | null>(env, "SEAL_CERTIFICATE", null, "a PEM file", path),
    signerCaKey: read(env, "SIGNER_CA_KEY", file("keys", "signer-ca"), keyUri, keyScheme),
    signerCaCertificate: read<string | null>(env, "SIGNER_CA_CERTIFICATE", null, "a PEM file", path),
    ...logFrom(env, file("keys", "log-live"), path),
    ...witnessFrom(env, file("keys", "witness"), path),
    secretsKey: read(env, "SECRETS_KEY", file("keys", "secrets"), "file:PATH", withScheme("file:")),
    secretsKeysOld: read(env, "SECRETS_KEYS_OLD", [], "file:PATH, comma-separated", listOf(withScheme("file:"))),
    tsaUrls: read(env, "TSA_URLS", publicTsas, "http(s) URLs, comma-separated, or off", listOrOff),
    tsaTrust: read<string | null>(env, "TSA_TRUST", null, "a PEM file", path),
    otsCalendars: read(env, "OTS_CALENDARS", publicCalendars, "http(s) URLs, comma-separated, or off", listOrOff),
    otsEachSeal: read(env, "OTS_EACH_SEAL", "on", "on or off", oneOf("on", "off")) === "on",
    stripe: stripeFrom(env),
    recaptcha: recaptchaFrom(env),
    ...providersFrom(env),
    media: mediaFrom(env, baseUrl),
    nodeUrl: nodeUrlFrom(env),
    recordingsFreeBytes: recordingsFreeFrom(env),
    ...mailFrom(env),
    redisUrl: read<string | null>(
      env,
      "REDIS_URL",
      null,
      "a redis:// or rediss:// URL",
      withScheme("redis://", "rediss://"),
    ),
    rateLimits: read(env, "RATE_LIMITS", "on", "on or off", oneOf("on", "off")) === "on",
    keepSealed: read(env, "KEEP_SEALED", "on", "on or off", oneOf("on", "off")) === "on",
    metricsToken: metricsTokenFrom(env),
    trustProxy: read(env, "TRUST_PROXY", [], "addresses or ranges, comma-separated", listOf(addressRange)),
    connectionsPerAddress: read(
      env,
      "CONNECTIONS_PER_ADDRESS",
      1_000,
      "a whole number from 10 to 100000",
      wholeNumber(10, 100_000),
    ),
    webhookAllow: read(env, "WEBHOOK_ALLOW", [], "CIDR ranges, comma-separated", listOf(addressRange)),
    webhookCa: read<string | null>(env, "WEBHOOK_CA", null, "a PEM file", path),
    ...dataFilesFrom(env, path, (name) => join(root, "service/data", name)),
    playbooks: read<Config["playbooks"]>(
      env,
      "PLAYBOOKS",
      "off",
      "off, on, or partner ids, comma-separated",
      playbooksFrom,
    ),
    quietHours: read(env, "QUIET_HOURS", "on", "on or off", oneOf("on", "off")) === "on",
    notaryRequired: read(env, "NOTARY_REQUIRED", "off", "on or off", oneOf("on", "off")) === "on",
    refundApproval: refundApprovalFrom(env),
    logLevel: read<LogLevel>(env, "LOG_LEVEL", "info", logLevels.join(", "), oneOf(...logLevels)),
    timeTravelSeconds: timeTravelFrom(env),
  };
}

const mailFrom = (env: Env): Pick<Config, "smtpUrl" | "mailFrom"> => ({
  smtpUrl: read<string | null>(env, "SMTP_URL", null, "an smtp:// or smtps:// URL", withScheme("smtp://", "smtps://")),
  mailFrom: read(env, "MAIL_FROM", "SignSealShip <no-reply@localhost>", "an email address", (text) =>
    text.includes("@") ? text : undefined,
  ),
});

const providersFrom = (
  env: Env,
): Pick<Config, "easypost" | "lob" | "telnyx" | "identity" | "quiz" | "remoteSigningUrl"> => ({
  easypost: easypostFrom(env),
  lob: lobFrom(env),
  telnyx: telnyxFrom(env),
  identity: identityFrom(env),
  quiz: quizFrom(env),
  remoteSigningUrl: remoteSigningFrom(env),
});

const secondsFrom = (env: Env): Pick<Config, "drainSeconds" | "nextServiceWait"> => ({
  drainSeconds: read(env, "DRAIN_SECONDS", 0, "a whole number of seconds from 0 to 300", wholeNumber(0, 300)),
  nextServiceWait: read(env, "NEXT_SERVICE_WAIT", 0, "whole seconds from 0 to 86400", wholeNumber(0, 86_400)),
});

type DatabaseSettings = Pick<Config, "databaseUrl" | "databaseListenUrl" | "databasePoolSize">;

function databaseFrom(env: Env): DatabaseSettings {
  const url = (name: string) =>
    read<string | null>(env, name, null, "a postgres:// URL", withScheme("postgres://", "postgresql://"));
  const databaseUrl = url("DATABASE_URL");
  const databaseListenUrl = url("DATABASE_LISTEN_URL");
  if (databaseListenUrl !== null && databaseUrl === null)
    throw new StartupError("DATABASE_URL must be set when DATABASE_LISTEN_URL is");
  // At least eight connections, to avoid a deadlock: each of four concurrent seals holds one connection while it uses a
  // second one.
  const size = wholeNumber(8, 1_000);
  const databasePoolSize = read(env, "DATABASE_POOL_SIZE", 20, "a whole number from 8 to 1000", size);
  return { databaseUrl, databaseListenUrl, databasePoolSize };
}

const metricsTokenFrom = (env: Env): string | null =>
  read<string | null>(env, "METRICS_TOKEN", null, "16 or more printable characters without spaces", (text) =>
    /^[\x21-\x7e]{16,}$/.test(text) ? text : undefined,
  );

const refundApprovalFrom = (env: Env): RefundApproval =>
  read<RefundApproval>(env, "REFUND_APPROVAL", "two-persons", refundApprovals.join(" or "), oneOf(...refundApprovals));

function playbooksFrom(text: string): Config["playbooks"] | undefined {
  if (text === "off" || text === "on") return text;
  return listOf((id) => (/^[0-9a-f-]{36}$/.test(id) ? id : undefined))(text);
}

function timeTravelFrom(env: Env): number {
  if (env["TIME_TRAVEL"] && env["NODE_ENV"] !== "test")
    throw new StartupError("TIME_TRAVEL must be unset: it is for tests, which run with NODE_ENV=test");
  return read(env, "TIME_TRAVEL", 0, "a whole number of seconds from 0 to 999999999", wholeNumber(0, 999_999_999));
}
