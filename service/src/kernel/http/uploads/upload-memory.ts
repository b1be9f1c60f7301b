import type { Holder as MemoryHolder } from "../../platform/bounds/memory-budget.ts";
import { BusyError } from "../../platform/errors.ts";

/** Room for uploads in memory; a form that needs more than is left waits in line, and its sender with it (TCP back-pressure). */
export type UploadMemory = {
  /**
   * Resolves with the function that gives the bytes back. Holders take turns: who has much to send keeps nobody else out.
   * @throws BusyError when so many of the holder's reservations wait already
   */
  reserve: (holder: MemoryHolder, bytes: number, mostWaiting: number) => Promise<() => void>;
};

type Holder = { held: number; line: { bytes: number; admit: () => void }[] };

/** @param sizes in bytes: of the whole, and of what one holder may have of it; each must be at least the largest reservation. */
export function createUploadMemory({ total, perHolder }: { total: number; perHolder: number }): UploadMemory {
  let free = total;
  // In the order of their turns.
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
      // Whose turn it is waits until there is room, or small reservations would pass a large one for ever.
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
    async reserve(name, bytes, mostWaiting) {
      if (bytes > Math.min(total, perHolder)) throw new RangeError("a reservation larger than the whole");
      const holder = holders.get(name) ?? { held: 0, line: [] };
      if (holder.line.length >= mostWaiting)
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
