import type { Resources } from "../resources.ts";

/** What a running service has open. */
export type Examined = Pick<Resources, "config" | "log" | "db" | "blobs" | "clock" | "secrets" | "rowMac">;

/** One line of `doctor`. */
export type Finding = { name: string; result: "ok" | "warning" | "failed"; detail: string };

/** What a check found that did not fail: a detail, or a warning. */
export type Found = string | { warning: string };

/** How long a server may take to answer. */
export const timeoutMs = 5_000;

/** Runs a check; one that throws has failed. Never rejects. */
export async function runCheck(name: string, check: () => Promise<Found> | Found): Promise<Finding> {
  try {
    const found = await check();
    return typeof found === "string"
      ? { name, result: "ok", detail: found }
      : { name, result: "warning", detail: found.warning };
  } catch (error) {
    return { name, result: "failed", detail: whyOf(error) };
  }
}

/** A connection refused at every address of a name has a code and no message. */
function whyOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as NodeJS.ErrnoException;
  return error.message || code || error.name;
}

/** The outcome of `work`. @throws Error when it takes longer than `timeoutMs`; `work` goes on then. */
export async function withTimeout<T>(work: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
