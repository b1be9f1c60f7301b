import { type LineWriter, type Log, lineWriterOf, maskCodes, timeStamp } from "../platform/logs.ts";

/** What the log tells of an answered request: neither address nor query nor body, and of the path what is no code. */
export type AccessLine = {
  requestId: string;
  method: string;
  path: string;
  status: number;
  ms: number;
  partnerId: string | undefined;
};

/**
 * Writes the line that `log.info(line, "request")` would, with the codes of its path masked. It is made by hand, for the
 * logger would take more time over it than most requests take in all. Only method and path come from outside.
 */
export function accessLog(log: Log): (line: AccessLine) => void {
  const write: LineWriter = lineWriterOf(log);
  return ({ requestId, method, path, status, ms, partnerId }) => {
    if (!log.isLevelEnabled("info")) return;
    const firm = partnerId === undefined ? "" : `,"partnerId":"${partnerId}"`;
    write(
      `{"level":30,"time":"${timeStamp()}","requestId":"${requestId}","method":${JSON.stringify(method)},"path":${JSON.stringify(maskCodes(path))},"status":${status},"ms":${ms}${firm},"msg":"request"}\n`,
    );
  };
}
