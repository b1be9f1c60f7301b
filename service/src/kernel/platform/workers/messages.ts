/**
 * A message from the pool to a thread. It hands its memory over to the thread without a copy; the thread's response
 * hands the memory back.
 */
export type Asked = {
  readonly module: string;
  readonly memory: ArrayBuffer;
  /** The length of the task's input, in bytes from the start of the memory. */
  readonly length: number;
  readonly input: unknown;
};

/** A thread's response. */
export type Answered = { readonly memory: ArrayBuffer } & ({ readonly output: unknown } | { readonly error: unknown });
