/** A message from the pool to a thread. The memory's ownership moves to the thread, and back with the response. */
export type Asked = {
  readonly module: string;
  readonly memory: ArrayBuffer;
  /** How many bytes of the memory belong to the task. */
  readonly length: number;
  readonly input: unknown;
};

/** A thread's response. */
export type Answered = { readonly memory: ArrayBuffer } & ({ readonly output: unknown } | { readonly error: unknown });
