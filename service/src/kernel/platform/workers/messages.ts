/** What the pool posts to a thread. The memory is lent: it goes there and comes back. */
export type Asked = {
  readonly module: string;
  readonly memory: ArrayBuffer;
  /** How much of the memory is the task's bytes. */
  readonly length: number;
  readonly input: unknown;
};

/** What a thread posts back. */
export type Answered = { readonly memory: ArrayBuffer } & ({ readonly output: unknown } | { readonly error: unknown });
