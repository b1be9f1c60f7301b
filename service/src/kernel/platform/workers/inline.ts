import type { Run, TaskCall, Workers } from "./task.ts";

/** Runs tasks in the current thread without limits, for a command that serves one person and then ends. */
export const inlineWorkers: Workers = {
  async run<Input, Output>(task: { readonly module: string }, { bytes = [], input }: TaskCall<Input>) {
    const { run } = (await import(task.module)) as { run: Run<Input, Output> };
    const whole =
      bytes instanceof Uint8Array ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length) : Buffer.concat(bytes);
    return run(whole, input);
  },
};
