/** What people have to do: opened by what happens, claimed by a person, closed when it is done or wanted no more. */
export {
  claimTask,
  dispatchQueue,
  endsByWord,
  finishTask,
  releaseClaims,
  releaseTask,
  type TaskDeps,
} from "./claim.ts";
export { businessMorning, readTaskTimes } from "./due.ts";
export { isTaskKind, type TaskKind, taskKinds, taskWords } from "./kinds.ts";
export {
  claimantOf,
  claimedTasks,
  dueTasks,
  findTask,
  type QueueCount,
  queueCounts,
  queueOf,
  type Task,
  tasksOfOrder,
} from "./lists.ts";
export {
  closeTasks,
  dropPaused,
  explainTask,
  type NewTask,
  openTask,
  pauseTasks,
  resumeTasks,
  type TaskEnd,
} from "./open-close.ts";
