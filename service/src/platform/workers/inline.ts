import type { Run, Workers } from "./task.ts";

const none = Buffer.alloc(0);

/** Runs tasks right here, without limits: for a command that works for one person and then ends. */
export const inlineWorkers: Workers = {
  async run<Input, Output>(task: { readonly module: string }, call: { bytes?: Uint8Array; input: Input }) {
    const { run } = (await import(task.module)) as { run: Run<Input, Output> };
    const { bytes } = call;
    return run(bytes ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length) : none, call.input);
  },
};
