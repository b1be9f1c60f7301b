import { BusyError } from "../errors.ts";

/** The holder of a share of the memory. A template type, so that a bare id is not accepted. */
export type Holder = `${string} ${string}`;

/** A firm's live and test documents have separate shares, so that test reads can't starve live ones. */
export const memoryHolder = (of: { readonly partnerId: string; readonly environment: string }): Holder =>
  `${of.partnerId} ${of.environment}`;

/**
 * The memory that documents may hold at once. A holder waits when it needs more memory than is free. Holders are served
 * round-robin, and none gets more than its share.
 */
export type MemoryBudget = {
  /**
   * Resolves with a function that releases the bytes.
   * @throws BusyError when too much is already waiting, or when the wait takes too long
   */
  readonly reserve: (holder: Holder, bytes: number) => Promise<() => void>;
  /** Reserves the bytes while the work runs. @throws the errors of `reserve` and of the work */
  readonly within: <T>(holder: Holder, bytes: number, work: () => Promise<T>) => Promise<T>;
};

export type MemoryLimits = {
  readonly bytes: number;
  /**
   * The most memory for one holder. A reservation of more bytes takes all of it, so the holder can't have a second one.
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
 * The memory with its holders in round-robin order: those that have some, and those that wait for it. A waiting
 * reservation holds no memory. A small reservation never overtakes a large one whose turn it is, because otherwise the
 * large one could wait forever.
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
   * A holder that already has memory gets more only if afterwards at least as much is free as the holder has. Otherwise
   * a few holders at their full share would leave nothing.
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
    /** Adds a reservation to its holder's line. @returns whether it has to wait, and how many then wait with it */
    join(name: string, place: Waiting): { waits: boolean; inLine: number; ofHolder: number } {
      const holder = holders.get(name) ?? { held: 0, line: [] };
      holders.set(name, holder);
      holder.line.push(place);
      inLine += 1;
      admitWaiting();
      return { waits: holder.line.includes(place), inLine, ofHolder: holder.line.length };
    },
    /** Ends the wait of a reservation. @returns false if it had ended before */
    leave(name: string, place: Waiting): boolean {
      const holder = holders.get(name);
      const at = holder?.line.indexOf(place) ?? -1;
      if (!holder || at < 0) return false;
      holder.line.splice(at, 1);
      inLine -= 1;
      forget(name, holder);
      // The next holder's reservation may be smaller, so that it now fits.
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
