import { probeCalendar } from "../anchoring/anchoring.ts";
import type { Config } from "../config/config.ts";
import { systemClock } from "../platform/clock.ts";
import { type AnchorsOf, openTsaTrust, probeAuthority } from "../seals/seals.ts";
import { type Finding, type Found, runCheck, timeoutMs, withTimeout } from "./finding.ts";

/** Without user and password. */
const hostOf = (url: string): string => URL.parse(url)?.host ?? "";

async function redisAnswers(url: string): Promise<string> {
  const { Redis } = await import("ioredis");
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null, connectTimeout: timeoutMs });
  // A command's own error says only that the connection is closed.
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

/** Greeting, TLS and sign-in, as before a mail; none is sent. */
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

async function authorityStamps(url: string, anchorsOf: AnchorsOf): Promise<Found> {
  const time = await probeAuthority(url, { fetch, clock: systemClock, timeoutMs, anchorsOf });
  const stamps = `stamps, its time was ${time.toISOString()}`;
  if (anchorsOf(url).length > 0) return stamps;
  return { warning: `${stamps}; its certificate is taken as it comes, because TSA_TRUST is not set` };
}

/** For servers that add evidence: the service goes on without them, and says so in each seal. */
async function asked(name: string, url: string, ask: () => Promise<Found>): Promise<Finding> {
  const { result, detail } = await runCheck(name, ask);
  return { name, result: result === "failed" ? "warning" : result, detail: `${url}: ${detail}` };
}

function authorityFindings(config: Config): Promise<Finding>[] {
  const name = "time-stamping authority";
  try {
    const anchorsOf = openTsaTrust(config);
    return config.tsaUrls.map((url) => asked(name, url, () => authorityStamps(url, anchorsOf)));
  } catch (error) {
    return [
      runCheck(name, () => {
        throw error;
      }),
    ];
  }
}

/** Asks every server that is set, all at the same time, each for at most `timeoutMs`. */
export function outsideFindings(config: Config): Promise<Finding[]> {
  const { redisUrl, smtpUrl, tsaUrls, otsCalendars, dataDir } = config;
  const probe = { fetch, clock: systemClock, timeoutMs };
  const calendars = otsCalendars.map((url) =>
    asked("calendar", url, async () => {
      await probeCalendar(url, probe);
      return "answers";
    }),
  );
  const off = (name: string, without: string) => runCheck(name, () => ({ warning: `off: ${without}` }));
  return Promise.all([
    ...(tsaUrls.length > 0
      ? authorityFindings(config)
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
