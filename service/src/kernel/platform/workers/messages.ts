/** A message from the pool to a thread. The memory is transferred there and back. */
export type Asked = {
  readonly module: string;
  readonly memory: ArrayBuffer;
  /** The number of the memory's bytes that belong to the task. */
  readonly length: number;
  readonly input: unknown;
};

/** A thread's response. */
export type Answered = { readonly memory: ArrayBuffer } & ({ readonly output: unknown } | { readonly error: unknown });
