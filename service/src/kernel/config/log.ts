import { type Env, read, wholeNumber, withScheme } from "./read.ts";

/** The settings of the transparency log that this service publishes. */
type OwnLog = {
  /** `file:PATH` of the key that signs the log of live seals. */
  logKey: string;
  /** The `HOST` in each log's name (`HOST/log/NAME`, its origin); null for the host of BASE_URL. */
  logOrigin: string | null;
  logIntervalMs: number;
  /** The file that lists the live log's witnesses (C2SP tlog-policy); null for none. */
  logPolicy: string | null;
  /** The shortest time between two anchored checkpoints of the live log. */
  logRootIntervalMs: number;
  /**
   * The shortest time between two requests to one witness. Only after a 409 does the service send a second request at
   * once.
   */
  witnessIntervalMs: number;
};

/** The settings of this service as a witness of other operators' logs. */
type WitnessOfOthers = {
  /** The file that lists the logs of other operators to cosign; null for none. */
  witnessLogs: string | null;
  witnessKey: string;
  /** The name of the witness's key; null for `HOST/witness` with the host of BASE_URL. */
  witnessName: string | null;
};

export type LogSettings = OwnLog & WitnessOfOthers;

export function witnessFrom(env: Env, key: string, path: (text: string) => string): WitnessOfOthers {
  const name = (text: string) => (/^[!-*,-~]{1,250}$/.test(text) ? text : undefined);
  return {
    witnessLogs: read<string | null>(env, "WITNESS_LOGS", null, "a file", path),
    witnessKey: read(env, "WITNESS_KEY", key, "file:PATH", withScheme("file:")),
    witnessName: read<string | null>(env, "WITNESS_NAME", null, "a name without spaces and plus signs", name),
  };
}

export function logFrom(env: Env, key: string, path: (text: string) => string): OwnLog {
  const host = (text: string) => (/^[a-z0-9.:-]{1,200}$/.test(text) ? text : undefined);
  const seconds = read(env, "LOG_INTERVAL", 1, "a whole number of seconds from 1 to 60", wholeNumber(1, 60));
  return {
    logKey: read(env, "LOG_KEY", key, "file:PATH", withScheme("file:")),
    logOrigin: read<string | null>(env, "LOG_ORIGIN", null, "a host in small letters, as log.example.com", host),
    logIntervalMs: seconds * 1_000,
    logPolicy: read<string | null>(env, "LOG_POLICY", null, "a file", path),
    logRootIntervalMs:
      1_000 *
      read(env, "LOG_ROOT_INTERVAL", 3_600, "a whole number of seconds from 1 to 86400", wholeNumber(1, 86_400)),
    witnessIntervalMs:
      1_000 * read(env, "WITNESS_INTERVAL", 10, "a whole number of seconds from 1 to 3600", wholeNumber(1, 3_600)),
  };
}
