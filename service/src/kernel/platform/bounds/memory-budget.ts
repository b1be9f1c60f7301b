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
 * A waiting reservation holds no memory. A small reservation never overtakes a large one whose turn it is, because
 * otherwise the large one could wait forever.
 */
export function createMemoryBudget({
  bytes: total,
  bytesEach,
  waiting,
  waitingEach,
  waitMs,
}: MemoryLimits): MemoryBudget {
  // The holders that have memory or wait for it, in round-robin order.
  const holders = new Map<string, Held>();
  const share = Math.min(total, bytesEach);
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

  function giveBack(name: string, bytes: number): void {
    free += bytes;
    const holder = holders.get(name);
    if (holder) {
      holder.held -= bytes;
      forget(name, holder);
    }
    admitWaiting();
  }

  async function admitted(name: string, bytes: number): Promise<void> {
    const holder = holders.get(name) ?? { held: 0, line: [] };
    holders.set(name, holder);
    const { promise, resolve: admit, reject } = Promise.withResolvers<void>();
    const place: Waiting = { bytes, admit };
    holder.line.push(place);
    inLine += 1;
    admitWaiting();
    if (!holder.line.includes(place)) return;
    if (inLine > waiting || holder.line.length > waitingEach) leave();
    const timer = setTimeout(leave, waitMs).unref();
    await promise.finally(() => clearTimeout(timer));

    function leave(): void {
      const at = holder.line.indexOf(place);
      if (at < 0) return;
      holder.line.splice(at, 1);
      inLine -= 1;
      forget(name, holder);
      reject(tooMany());
      // The next holder's reservation may be smaller, so that it now fits.
      admitWaiting();
    }
  }

  async function reserve(name: string, bytes: number): Promise<() => void> {
    const needed = Math.min(bytes, share);
    await admitted(name, needed);
    let held = true;
    return () => {
      if (held) giveBack(name, needed);
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
