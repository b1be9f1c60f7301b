import { type Log, maskCodes } from "../platform/logs.ts";

/** What the log says of an answered request: neither address nor query nor body, and no code of the path. */
export type AccessLine = {
  requestId: string;
  method: string;
  path: string;
  status: number;
  ms: number;
  partnerId: string | undefined;
  /** The network of a caller that was refused. */
  source?: string | undefined;
};

export const logAccess = (log: Log, line: AccessLine): void =>
  log.info({ ...line, path: maskCodes(line.path) }, "request");
