import type { Resources } from "../../kernel/resources.ts";

export type Senses = Pick<Resources, "clock" | "random">;

/** The resources of a running service. */
export type Examined = Pick<Resources, "config" | "log" | "db" | "blobs" | "clock" | "random" | "secrets" | "rowMac">;

/** A line in the output of `doctor`. */
export type Finding = {
  name: string;
  result: "ok" | "warning" | "failed";
  detail: string;
  /** True if the warning is shown in red. */
  urgent?: true;
};

/** The result of a check that did not fail: a detail, or a warning. */
export type Found = string | { warning: string; urgent?: true };

/** The time limit for a server's response. */
export const timeoutMs = 5_000;

/** Runs a check; a check that throws has failed. Never rejects. */
export async function runCheck(name: string, check: () => Promise<Found> | Found): Promise<Finding> {
  try {
    const found = await check();
    if (typeof found === "string") return { name, result: "ok", detail: found };
    const { warning, ...urgent } = found;
    return { name, result: "warning", detail: warning, ...urgent };
  } catch (error) {
    return { name, result: "failed", detail: whyOf(error) };
  }
}

/** When all addresses of a host name refuse the connection, Node's error has a code but no message. */
function whyOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as NodeJS.ErrnoException;
  return error.message || code || error.name;
}

/**
 * Limits the time of `work`.
 * @throws Error when it takes longer than `timeoutMs`; `work` itself continues
 */
export async function withTimeout<T>(work: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
