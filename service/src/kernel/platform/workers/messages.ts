/**
 * A message from the pool to a thread. The memory is transferred to the thread, which transfers it back with its
 * response (no copy).
 */
export type Asked = {
  readonly module: string;
  readonly memory: ArrayBuffer;
  /** The number of bytes in the memory that are the task's input. */
  readonly length: number;
  readonly input: unknown;
};

/** A thread's response. */
export type Answered = { readonly memory: ArrayBuffer } & ({ readonly output: unknown } | { readonly error: unknown });
