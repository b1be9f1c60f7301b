const WIDTH = 30;

export type Progress = { readonly step: (failed: boolean) => void; readonly end: () => void };

/** A one-line progress bar. It is redrawn at most two hundred times and erased at the end. */
export function progressBar(total: number, write: (text: string) => void): Progress {
  const every = Math.max(1, Math.floor(total / 100));
  let done = 0;
  let failed = 0;
  let drawn = 0;
  return {
    step(fails) {
      done++;
      if (fails) failed++;
      if (done % every !== 0 && done !== total) return;
      const filled = Math.round((WIDTH * done) / total);
      const line = `[${"#".repeat(filled)}${".".repeat(WIDTH - filled)}] ${done}/${total}, ${failed} not verified`;
      write(`\r${line}`);
      drawn = line.length;
    },
    end: () => write(`\r${" ".repeat(drawn)}\r`),
  };
}
