/**
 * Waits until the work has ended, but at most `graceMs`.
 * @returns true if the work has ended
 * @throws the work's error, if it occurs in this time
 */
export async function endsWithin(work: Promise<unknown>, graceMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), graceMs);
  });
  const ended = work.then(() => true);
  return Promise.race([ended, late]).finally(() => clearTimeout(timer));
}
