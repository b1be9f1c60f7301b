import { endsWithin } from "../platform/work/ends-within.ts";

/** One dependency that `/readyz` asks; `check` rejects when it does not answer. */
export type Probe = {
  name: string;
  check: () => Promise<void>;
  /**
   * All nodes share it, and most requests do without it: while it is away a node is degraded and stays in the balancer.
   * Without any other dependency the node is failed.
   */
  isShared?: boolean;
};

export type ReadinessTimes = {
  /** A dependency that answers no sooner is as good as away. */
  answerMs: number;
  /** For so long an answer is told again: a probe may cost money (a signature of a key service) or a write. */
  sharedMs: number;
};

export const usualReadinessTimes: ReadinessTimes = { answerMs: 2_000, sharedMs: 1_000 };

/** Asks anew, or tells what was just asked. */
export type ReadReadiness = () => Promise<Readiness>;

export type Readiness = {
  status: "ok" | "degraded" | "failed";
  checks: Record<string, "ok" | "failed">;
};

/**
 * Asks all dependencies at the same time. However many ask, each dependency is asked once at a time, and one that hangs is not
 * asked again before it has ended: until then it counts as failed.
 * @param onFailure is called once for each failure that a probe found
 */
export function openReadiness(
  probes: readonly Probe[],
  onFailure: (name: string, error: unknown) => void,
  times: ReadinessTimes = usualReadinessTimes,
): ReadReadiness {
  const asked = probes.map(({ name, check, isShared = false }) => ({
    name,
    isShared,
    ask: sharedProbe(check, (error) => onFailure(name, error), times),
  }));
  return async () => {
    const results = await Promise.all(asked.map(async ({ ask, ...probe }) => ({ ...probe, ok: await ask() })));
    const failed = results.filter(({ ok }) => !ok);
    return {
      status: failed.length === 0 ? "ok" : failed.every(({ isShared }) => isShared) ? "degraded" : "failed",
      checks: Object.fromEntries(results.map(({ name, ok }) => [name, ok ? "ok" : "failed"])),
    };
  };
}

function sharedProbe(
  check: Probe["check"],
  onFailure: (error: unknown) => void,
  { answerMs, sharedMs }: ReadinessTimes,
): () => Promise<boolean> {
  let answer: Promise<boolean> | null = null;
  let hanging = false;
  let freshUntil = 0;

  async function ask(): Promise<boolean> {
    hanging = true;
    const work = check().finally(() => {
      hanging = false;
    });
    try {
      if (await endsWithin(work, answerMs)) return true;
      onFailure(new Error(`no answer within ${answerMs} ms`));
      work.catch(() => {});
    } catch (error) {
      onFailure(error);
    } finally {
      freshUntil = performance.now() + sharedMs;
    }
    return false;
  }

  return () => {
    // While the answer is awaited, and while it hangs after it was given up, there is no other.
    if (answer && (hanging || performance.now() < freshUntil)) return answer;
    answer = ask();
    return answer;
  };
}
