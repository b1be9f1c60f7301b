import { timeLimit } from "../platform/stopwatch.ts";
import { endsWithin } from "../platform/work/ends-within.ts";

/** A dependency that `/readyz` probes; `check` rejects when it doesn't respond. */
export type Probe = {
  name: string;
  check: () => Promise<void>;
  /**
   * True for a dependency that all nodes share and that most requests don't need. If it fails, the node is degraded but
   * stays in the load balancer. If any other dependency fails, the node is not ready.
   */
  isShared?: boolean;
};

export type ReadinessTimes = {
  /** A dependency that has not responded within this time counts as failed. */
  answerMs: number;
  /**
   * The time for which a result is cached, in milliseconds. A probe can be expensive: a key service charges a fee for a
   * signature, and some probes write data.
   */
  sharedMs: number;
};

const usualReadinessTimes: ReadinessTimes = { answerMs: 2_000, sharedMs: 1_000 };

/** Probes the dependencies, or returns the cached result. */
export type ReadReadiness = () => Promise<Readiness>;

type Readiness = {
  status: "ok" | "degraded" | "failed";
  checks: Record<string, "ok" | "failed">;
};

/**
 * Probes all dependencies concurrently. However many callers there are, each dependency has at most one probe at a
 * time. A hanging probe counts as failed and is not repeated until it has ended.
 * @param onFailure is called once for each failed probe
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
  let isStale = () => true;

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
      isStale = timeLimit(sharedMs);
    }
    return false;
  }

  return () => {
    // Starts no second probe while one is running, even after its time-out.
    if (answer && (hanging || !isStale())) return answer;
    answer = ask();
    return answer;
  };
}
