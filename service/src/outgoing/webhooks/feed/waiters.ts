import type { Owner } from "../../../kernel/identity/identity.ts";

const limits = { ofFirm: 10, inAll: 200 };

export type Waiters = {
  /**
   * Runs `wait`, a long poll of an owner. Returns null when too many are in progress or the service is stopping. `wait`
   * gets a signal that is aborted when `gone` is aborted, and when the service stops.
   */
  hold: <T>(owner: Owner, gone: AbortSignal, wait: (ended: AbortSignal) => Promise<T>) => Promise<T | null>;
  /** Ends all long polls. */
  stop: () => void;
};

/** Limits the number of long polls on this node, because each one polls the database a few times a second. */
export function createWaiters(): Waiters {
  const stopping = new AbortController();
  const ofFirm = new Map<string, number>();
  let inAll = 0;
  return {
    async hold({ partnerId }, gone, wait) {
      const held = ofFirm.get(partnerId) ?? 0;
      if (held >= limits.ofFirm || inAll >= limits.inAll || stopping.signal.aborted) return null;
      ofFirm.set(partnerId, held + 1);
      inAll++;
      try {
        return await wait(AbortSignal.any([gone, stopping.signal]));
      } finally {
        inAll--;
        const left = (ofFirm.get(partnerId) ?? 1) - 1;
        if (left === 0) ofFirm.delete(partnerId);
        else ofFirm.set(partnerId, left);
      }
    },
    stop: () => stopping.abort(),
  };
}
