/** Room for uploads in memory; whoever asks for more than is left waits in line, and the sender with it (TCP back-pressure). */
export type UploadMemory = {
  /** Resolves with the function that gives the bytes back. */
  reserve: (bytes: number) => Promise<() => void>;
};

/** @param total bytes; must be at least the largest single reservation. */
export function createUploadMemory(total: number): UploadMemory {
  let free = total;
  const line: { bytes: number; admit: () => void }[] = [];
  const admitWaiting = () => {
    for (let next = line[0]; next && next.bytes <= free; next = line[0]) {
      line.shift();
      free -= next.bytes;
      next.admit();
    }
  };
  return {
    async reserve(bytes) {
      if (bytes > total) throw new RangeError("a reservation larger than the whole");
      await new Promise<void>((admit) => {
        line.push({ bytes, admit });
        admitWaiting();
      });
      let held = true;
      return () => {
        if (!held) return;
        held = false;
        free += bytes;
        admitWaiting();
      };
    },
  };
}
