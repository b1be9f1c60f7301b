import { BusyError } from "../errors.ts";

/**
 * The name of a holder of memory: a firm and its environment, with a space between them. The template type makes the
 * compiler refuse a bare id.
 */
export type Holder = `${string} ${string}`;

/** The live and the test documents of a firm have separate shares, so that test reads can't starve live ones. */
export const memoryHolder = (of: { readonly partnerId: string; readonly environment: string }): Holder =>
  `${of.partnerId} ${of.environment}`;

/**
 * The memory that documents may use at once. A reservation that exceeds the free memory is queued. Holders are served
 * round-robin, and no holder gets more than its share.
 */
export type MemoryBudget = {
  /**
   * Waits until the memory is free, and resolves with a function that releases it.
   * @throws BusyError when the queue or the holder's part of it is full, or when the reservation was queued for too
   * long
   */
  readonly reserve: (holder: Holder, bytes: number) => Promise<() => void>;
  /** Reserves the bytes while the work runs. @throws the errors of `reserve` and of the work */
  readonly within: <T>(holder: Holder, bytes: number, work: () => Promise<T>) => Promise<T>;
};

export type MemoryLimits = {
  readonly bytes: number;
  /**
   * The most memory for one holder. A larger reservation counts as the holder's whole share, so the holder can have no
   * other reservation at the same time.
   */
  readonly bytesEach: number;
  readonly waiting: number;
  readonly waitingEach: number;
  readonly waitMs: number;
};

type Waiting = { readonly bytes: number; readonly admit: () => void };
type Held = { held: number; readonly line: Waiting[] };

const tooMany = () => new BusyError("Too many documents are being read right now. Try again in a moment.");

/**
 * The free memory, and the holders that use memory or are queued for it, in the order of their turns. Queued
 * reservations use no memory. If the next reservation is a large one, small ones must not overtake it, because they
 * could starve it.
 */
function createShares(total: number, share: number) {
  const holders = new Map<string, Held>();
  let free = total;
  let inLine = 0;

  function nextInTurn(): [string, Held, Waiting] | undefined {
    for (const [name, holder] of holders) {
      const [first] = holder.line;
      if (first && mayHold(holder.held, first.bytes)) return [name, holder, first];
    }
    return undefined;
  }

  /**
   * True if a holder may get more memory. A holder that already uses memory must leave at least as much free as it
   * would use in total. Otherwise a few holders with full shares would leave nothing for others.
   */
  const mayHold = (held: number, more: number): boolean =>
    held === 0 || (held + more <= share && held + more <= free - more);

  function admitWaiting(): void {
    for (;;) {
      const next = nextInTurn();
      if (!next || next[2].bytes > free) return;
      const [name, holder, { bytes, admit }] = next;
      holder.line.shift();
      inLine -= 1;
      holder.held += bytes;
      free -= bytes;
      // Moves the holder to the end of the round-robin order.
      holders.delete(name);
      holders.set(name, holder);
      admit();
    }
  }

  function forget(name: string, { held, line }: Held): void {
    if (held === 0 && line.length === 0) holders.delete(name);
  }

  return {
    /**
     * Adds a reservation to its holder's queue.
     * @returns `waits`: true if the reservation is still queued. `inLine`, `ofHolder`: the numbers of queued
     * reservations, in all and of this holder.
     */
    join(name: string, place: Waiting): { waits: boolean; inLine: number; ofHolder: number } {
      const holder = holders.get(name) ?? { held: 0, line: [] };
      holders.set(name, holder);
      holder.line.push(place);
      inLine += 1;
      admitWaiting();
      return { waits: holder.line.includes(place), inLine, ofHolder: holder.line.length };
    },
    /**
     * Removes a reservation from its queue.
     * @returns false if the reservation was no longer queued
     */
    leave(name: string, place: Waiting): boolean {
      const holder = holders.get(name);
      const at = holder?.line.indexOf(place) ?? -1;
      if (!holder || at < 0) return false;
      holder.line.splice(at, 1);
      inLine -= 1;
      forget(name, holder);
      // The removed reservation may have blocked a smaller one, which now fits.
      admitWaiting();
      return true;
    },
    giveBack(name: string, bytes: number): void {
      free += bytes;
      const holder = holders.get(name);
      if (holder) {
        holder.held -= bytes;
        forget(name, holder);
      }
      admitWaiting();
    },
  };
}

export function createMemoryBudget(limits: MemoryLimits): MemoryBudget {
  const { bytes: total, bytesEach, waiting, waitingEach, waitMs } = limits;
  const share = Math.min(total, bytesEach);
  const shares = createShares(total, share);

  async function admitted(name: string, bytes: number): Promise<void> {
    const { promise, resolve: admit, reject } = Promise.withResolvers<void>();
    const place: Waiting = { bytes, admit };
    const leave = () => {
      if (shares.leave(name, place)) reject(tooMany());
    };
    const { waits, inLine, ofHolder } = shares.join(name, place);
    if (!waits) return;
    if (inLine > waiting || ofHolder > waitingEach) leave();
    const timer = setTimeout(leave, waitMs).unref();
    await promise.finally(() => clearTimeout(timer));
  }

  async function reserve(name: string, bytes: number): Promise<() => void> {
    const needed = Math.min(bytes, share);
    await admitted(name, needed);
    let held = true;
    return () => {
      if (held) shares.giveBack(name, needed);
      held = false;
    };
  }

  return {
    reserve,
    async within(name, bytes, work) {
      const release = await reserve(name, bytes);
      try {
        return await work();
      } finally {
        release();
      }
    },
  };
}
