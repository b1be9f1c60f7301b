/** One line of `doctor`. */
export type Finding = { name: string; result: "ok" | "warning" | "failed"; detail: string };

/** What a check that did not fail has to say: a detail, or one that somebody should look at. */
type Seen = string | { warning: string };

/** Longest that anything outside of the house may take to answer. */
export const patienceMs = 5_000;

/** Runs a check; one that throws has failed. Never rejects. */
export async function look(name: string, check: () => Promise<Seen> | Seen): Promise<Finding> {
  try {
    const seen = await check();
    return typeof seen === "string"
      ? { name, result: "ok", detail: seen }
      : { name, result: "warning", detail: seen.warning };
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

/** The outcome of `work`. @throws Error when it takes longer than `patienceMs`; `work` goes on then. */
export async function patiently<T>(work: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`no answer within ${patienceMs} ms`)), patienceMs);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
