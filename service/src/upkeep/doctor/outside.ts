import { X509Certificate } from "node:crypto";
import { probeCalendar } from "../../evidence/anchoring/anchoring.ts";
import { type AnchorsOf, openTsaTrust, probeAuthority } from "../../evidence/seals/seals.ts";
import type { Config } from "../../kernel/config/config.ts";
import { openLog } from "../../kernel/platform/logs.ts";
import { readCa } from "../../outgoing/webhooks/webhooks.ts";
import { accountsOf, checkAccounts, probeLivekit, probePorts, probeTurn, reachOf } from "../../providers/providers.ts";
import { type Finding, type Found, runCheck, type Senses, timeoutMs, withTimeout } from "./finding.ts";

const hostOf = (url: string): string => URL.parse(url)?.host ?? "";

async function redisAnswers(url: string): Promise<string> {
  const { Redis } = await import("ioredis");
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null, connectTimeout: timeoutMs });
  // A Redis command only reports that the connection is closed. The cause is in the connection's own error.
  let cause: Error | undefined;
  redis.on("error", (error: Error) => {
    cause = error;
  });
  try {
    await withTimeout(redis.connect().then(() => redis.ping()));
    return `${hostOf(url)} answers`;
  } catch (error) {
    throw cause ?? error;
  } finally {
    redis.disconnect();
  }
}

/** Connects to the mail server, negotiates TLS and authenticates, but sends no mail. */
async function smtpAnswers(url: string): Promise<string> {
  const { createTransport } = await import("nodemailer");
  const limits = {
    dnsTimeout: timeoutMs,
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
  };
  await withTimeout(createTransport({ url, ...limits }).verify());
  return `SMTP: ${hostOf(url)} answers`;
}

async function authorityStamps(url: string, { clock, random }: Senses, anchorsOf: AnchorsOf): Promise<Found> {
  const time = await probeAuthority(url, { fetch, clock, random, timeoutMs, anchorsOf });
  const stamps = `stamps, its time was ${time.toISOString()}`;
  if (anchorsOf(url).length > 0) return stamps;
  return { warning: `${stamps}; its certificate is taken as it comes, because TSA_TRUST is not set` };
}

/**
 * Checks a server that provides optional evidence, such as time stamps. A failure is only a warning: the service
 * continues to seal, and each seal records which evidence is missing.
 */
async function asked(name: string, url: string, ask: () => Promise<Found>): Promise<Finding> {
  const { result, detail } = await runCheck(name, ask);
  return { name, result: result === "failed" ? "warning" : result, detail: `${url}: ${detail}` };
}

function authorityFindings(config: Config, senses: Senses): Promise<Finding>[] {
  const name = "time-stamping authority";
  try {
    const anchorsOf = openTsaTrust(config);
    return config.tsaUrls.map((url) => asked(name, url, () => authorityStamps(url, senses, anchorsOf)));
  } catch (error) {
    return [
      runCheck(name, () => {
        throw error;
      }),
    ];
  }
}

/**
 * Checks the configured time-stamping authorities, calendars, mail server and Redis concurrently, each for at most
 * `timeoutMs`.
 */
export function outsideFindings(config: Config, senses: Senses): Promise<Finding[]> {
  const { redisUrl, smtpUrl, tsaUrls, otsCalendars, dataDir } = config;
  const probe = { fetch, clock: senses.clock, timeoutMs };
  const calendars = otsCalendars.map((url) =>
    asked("calendar", url, async () => {
      await probeCalendar(url, probe);
      return "answers";
    }),
  );
  const off = (name: string, without: string) => runCheck(name, () => ({ warning: `off: ${without}` }));
  return Promise.all([
    ...(tsaUrls.length > 0
      ? authorityFindings(config, senses)
      : [off("time-stamping authorities", "seals carry no independent time stamp")]),
    ...(calendars.length > 0 ? calendars : [off("calendars", "seals are not anchored")]),
    runCheck("mail", () =>
      smtpUrl ? smtpAnswers(smtpUrl) : { warning: `SMTP_URL is not set: emails are written to ${dataDir}/outbox` },
    ),
    runCheck("redis", () =>
      redisUrl ? redisAnswers(redisUrl) : "REDIS_URL is not set: each process counts its own requests",
    ),
  ]);
}

const block = /-----BEGIN CERTIFICATE-----[^-]*(-----END CERTIFICATE-----)?/g;

/** Parses each certificate of WEBHOOK_CA separately, because TLS silently ignores those after a broken one. */
export function caFinding(path: string | null, now: Date): Promise<Finding> {
  return runCheck("webhook authorities", () => {
    if (path === null) return "WEBHOOK_CA is not set: only public authorities are trusted";
    const blocks = readCa(path).match(block) ?? [];
    const certificates = blocks.map((pem, index) => readOne(pem, index + 1, path));
    const counted = `${path}: ${certificates.length === 1 ? "1 certificate" : `${certificates.length} certificates`}`;
    const expired = certificates.find(({ validToDate }) => validToDate < now);
    if (!expired) return counted;
    const day = expired.validToDate.toISOString().slice(0, 10);
    return { warning: `${counted}; ${nameOf(expired)} expired on ${day}` };
  });
}

function readOne(pem: string, number: number, path: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch {
    throw new Error(`${path}: certificate ${number} cannot be read`);
  }
}

const nameOf = ({ subject }: X509Certificate): string => subject?.replaceAll("\n", ", ") || "an unnamed certificate";

const byHand: Readonly<Record<string, string>> = {
  easypost: "EASYPOST_API_KEY is not set: people buy and print labels",
  lob: "LOB_API_KEY is not set: people print and mail packets",
  telnyx: "TELNYX_API_KEY is not set: people send faxes, and codes go by email",
  stripe_identity: "IDENTITY_API_KEY is not set: notaries check identity in their own tools",
  quiz: "QUIZ_API_KEY is not set: where a state wants knowledge-based questions, no identity check is offered",
};

/** Checks the key of each configured provider account, without an effect in the account. */
export async function providerFindings(config: Config, { clock }: Senses): Promise<Finding[]> {
  const deps = { fetch, clock, log: openLog("silent") };
  const checked = new Map(
    (await checkAccounts(accountsOf(config), deps)).map((each) => [each.provider as string, each]),
  );
  return Object.entries(byHand).map(([provider, without]) => {
    const found = checked.get(provider);
    const name = `provider ${provider}`;
    if (!found) return { name, result: "ok", detail: without };
    if (!found.ok) return { name, result: "failed", detail: found.detail };
    // The quiz provider returns the result in its response to a person's answers, so it sends no events.
    return found.takesEvents || provider === "quiz"
      ? { name, result: "ok", detail: found.detail }
      : {
          name,
          result: "warning",
          detail: `${found.detail}; without the secret of its events it is asked by the clock`,
        };
  });
}

const isHere = (baseUrl: string): boolean => /^(localhost|127\.|\[::1\])/.test(hostOf(baseUrl));

const needsHttps = (baseUrl: string): string =>
  `browsers give no camera to a page without https, and BASE_URL is ${baseUrl}`;

/** Checks whether audio and video sessions would work: ports, the announced address, and the relay. */
export async function mediaFindings({ media, baseUrl }: Config, { clock }: Pick<Senses, "clock">): Promise<Finding[]> {
  if (!media) return [{ name: "media", result: "ok", detail: "MEDIA is off: no sessions by audio and video" }];
  const found = await runCheck("media", async () => {
    if (media.engine === "livekit") {
      await probeLivekit(media, clock().getTime());
      const detail = `the LiveKit server at ${media.url} takes the key`;
      return isHere(baseUrl) || baseUrl.startsWith("https:")
        ? detail
        : { warning: `${detail}; ${needsHttps(baseUrl)}` };
    }
    const port = await probePorts(media);
    const reach = reachOf(media);
    const detail = `port ${port} opens, browsers are told ${media.announce}`;
    if (isHere(baseUrl)) return detail;
    if (!baseUrl.startsWith("https:")) return { warning: `${detail}; ${needsHttps(baseUrl)}` };
    return reach === "public" ? detail : { warning: `${detail}, which is ${reach}: nobody elsewhere can reach it` };
  });
  const relay = await runCheck("media relay", async () => {
    const url = await withTimeout(probeTurn(media));
    return url ?? "TURN_URLS is not set: where a network lets neither UDP nor unknown ports through, nobody can join";
  });
  return [found, relay];
}
