/**
 * Does `work` and has its lease extended meanwhile, three times in its length.
 * @param extend gives the lease its full length again; must not reject
 */
export async function withLease<T>(leaseMs: number, extend: () => Promise<void>, work: () => Promise<T>): Promise<T> {
  const timer = setInterval(extend, leaseMs / 3);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
