import { ServiceError } from "../errors.ts";

/**
 * The type of the function `run` in a task's module. The function must not keep a reference to `bytes`, and its output
 * must not share their memory.
 */
export type Run<Input, Output> = (bytes: Buffer, input: Input) => Output | Promise<Output>;

/** Work that may take long, in a module that a worker thread can load. Input and output are structured clones. */
export type Task<Input, Output> = {
  /** The name of the task in logs and metrics. */
  readonly name: string;
  /** The module's specifier for `import`. */
  readonly module: string;
  /**
   * The limit of processor time, after which a task is killed. A task is also killed after four times as much elapsed
   * time. Processor time is used so that a busy machine doesn't refuse documents that are within the limits.
   */
  readonly limitMs: number;
  /** Never set. It exists only so that the type knows the task's input and output. */
  readonly run?: Run<Input, Output>;
};

export type TaskCall<Input> = {
  /** The one on whose behalf the task runs, such as a firm or a notary. Holders are served round-robin. */
  readonly holder: string;
  /** The input bytes, as one part or several. They are copied once, into memory that the thread gets. */
  readonly bytes?: Uint8Array | readonly Uint8Array[];
  readonly input: Input;
};

/** Runs tasks. @throws TaskKilled, or the task's own error as a plain Error */
export type Workers = {
  readonly run: <Input, Output>(task: Task<Input, Output>, call: TaskCall<Input>) => Promise<Output>;
};

/** A Buffer that a worker returns arrives as a plain Uint8Array, so it is wrapped in a Buffer again. */
export const ownBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);

/**
 * The reason why a task was stopped. `time`: it exceeded its limit. `memory`: it, or the whole process, used too much.
 * `crash`: its thread ended. `closed`: the service is stopping.
 */
export type KillReason = "time" | "memory" | "crash" | "closed";

/**
 * Thrown when a task was stopped before its end. A caller that knows the purpose of the task can give a better message.
 */
export class TaskKilled extends ServiceError {
  readonly why: KillReason;

  constructor(why: KillReason, options?: ErrorOptions) {
    super("unavailable", "The service could not finish this. Try again later.", options);
    this.name = "TaskKilled";
    this.why = why;
  }
}

/** True if a task was killed for its time or memory. Its request then counts as too costly. */
export const tooCostly = (error: unknown): boolean =>
  error instanceof TaskKilled && (error.why === "time" || error.why === "memory");

/**
 * Runs a task that may exceed its limits.
 * @param whenCostly called if the task is killed for its time or memory; returns another result, or throws an error
 * that fits the request
 */
export const runOr = <Input, Output, Other>(
  workers: Workers,
  task: Task<Input, Output>,
  call: TaskCall<Input>,
  whenCostly: (error: unknown) => Other,
): Promise<Output | Other> =>
  workers.run(task, call).catch((error: unknown) => {
    if (!tooCostly(error)) throw error;
    return whenCostly(error);
  });

/** True if a task exceeded its limits, according to an error or to the error's cause. */
export const wasTooCostly = (error: unknown): boolean =>
  tooCostly(error) || (error instanceof Error && error.cause !== undefined && wasTooCostly(error.cause));
