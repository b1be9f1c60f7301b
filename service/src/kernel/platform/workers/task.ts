import { ServiceError } from "../errors.ts";

/** The function `run` of a task's module. It keeps no reference to `bytes`, and its output shares no memory with them. */
export type Run<Input, Output> = (bytes: Buffer, input: Input) => Output | Promise<Output>;

/** Work that may take long, as a module that a worker thread can load. Input and output are structured clones. */
export type Task<Input, Output> = {
  /** For logs and metrics. */
  readonly name: string;
  /** Where the module is, as `import` takes it. */
  readonly module: string;
  /**
   * A task that uses more processor time is killed, and one that lasts four times as long. Processor time, so that a
   * busy machine refuses no document that is within its bounds.
   */
  readonly limitMs: number;
  /** Never set: says what goes in and out. */
  readonly run?: Run<Input, Output>;
};

export type TaskCall<Input> = {
  /** Who is to wait for it: holders take turns. */
  readonly holder: string;
  /** Copied once, into memory that the thread keeps; several parts, one behind the other. */
  readonly bytes?: Uint8Array | readonly Uint8Array[];
  readonly input: Input;
};

/** Runs tasks. @throws TaskKilled, and whatever the task throws, as a plain Error */
export type Workers = {
  readonly run: <Input, Output>(task: Task<Input, Output>, call: TaskCall<Input>) => Promise<Output>;
};

/** `time` and `memory`: beyond the bounds of a task; `crash`: the thread ended; `closed`: the service stops. */
export type KillReason = "time" | "memory" | "crash" | "closed";

/** A task that did not end by itself. Who knows what was asked for puts it in better words. */
export class TaskKilled extends ServiceError {
  readonly why: KillReason;

  constructor(why: KillReason, options?: ErrorOptions) {
    super("unavailable", "The service could not finish this. Try again later.", options);
    this.name = "TaskKilled";
    this.why = why;
  }
}

/** Whether an error says that a task was beyond its bounds: what was asked for costs too much. */
export const tooCostly = (error: unknown): boolean =>
  error instanceof TaskKilled && (error.why === "time" || error.why === "memory");

/** The same of an error or of what caused it. */
export const wasTooCostly = (error: unknown): boolean =>
  tooCostly(error) || (error instanceof Error && error.cause !== undefined && wasTooCostly(error.cause));
