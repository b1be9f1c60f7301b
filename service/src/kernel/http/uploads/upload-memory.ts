import type { Holder as MemoryHolder } from "../../platform/bounds/memory-budget.ts";
import { BusyError } from "../../platform/errors.ts";

/**
 * Memory for uploads. A form that needs more than the free memory is queued, and TCP back-pressure pauses its sender.
 */
export type UploadMemory = {
  /**
   * Waits until the memory is free, and resolves with a function that releases it. Serves holders round-robin, so that
   * one heavy sender can't starve the others.
   * @throws BusyError when the holder already has `maxWaiting` reservations in the queue
   */
  reserve: (holder: MemoryHolder, bytes: number, maxWaiting: number) => Promise<() => void>;
};

type Holder = { held: number; line: { bytes: number; admit: () => void }[] };

/**
 * Creates the memory for uploads.
 * @param total in bytes, at least as many as the largest reservation
 * @param perHolder the most bytes for one holder, at least as many as the largest reservation
 */
export function createUploadMemory({ total, perHolder }: { total: number; perHolder: number }): UploadMemory {
  let free = total;
  const holders = new Map<string, Holder>();

  const nextInTurn = () => {
    for (const [name, { held, line }] of holders) {
      const [first] = line;
      if (first && held + first.bytes <= perHolder) return name;
    }
    return undefined;
  };

  function admitWaiting(): void {
    for (let name = nextInTurn(); name !== undefined; name = nextInTurn()) {
      const holder = holders.get(name);
      // If the next reservation does not fit, later ones wait too. Otherwise small reservations could starve a large
      // one.
      if (!holder?.line[0] || holder.line[0].bytes > free) return;
      const { bytes, admit } = holder.line[0];
      holder.line.shift();
      holder.held += bytes;
      free -= bytes;
      holders.delete(name);
      holders.set(name, holder);
      admit();
    }
  }

  function giveBack(name: string, bytes: number): void {
    free += bytes;
    const holder = holders.get(name);
    if (holder) holder.held -= bytes;
    if (holder?.held === 0 && holder.line.length === 0) holders.delete(name);
    admitWaiting();
  }

  return {
    async reserve(name, bytes, maxWaiting) {
      if (bytes > Math.min(total, perHolder)) throw new RangeError("a reservation larger than the whole");
      const holder = holders.get(name) ?? { held: 0, line: [] };
      if (holder.line.length >= maxWaiting)
        throw new BusyError("Too many of your uploads wait for their turn. Try again in a moment.");
      holders.set(name, holder);
      await new Promise<void>((admit) => {
        holder.line.push({ bytes, admit });
        admitWaiting();
      });
      let held = true;
      return () => {
        if (!held) return;
        held = false;
        giveBack(name, bytes);
      };
    },
  };
}
