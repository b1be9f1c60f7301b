/** Tasks for people: opened by events, claimed by a person, and closed when they are done or no longer needed. */
export {
  askAgain,
  bringClaimsNearer,
  claimTask,
  claimTaskIn,
  dispatchQueue,
  endsByWord,
  finishTask,
  mayAskAgain,
  releaseClaims,
  releaseTask,
  releaseTaskIn,
  type TaskDeps,
} from "./claim.ts";
export { arrivalDue, businessDay, businessMorning, businessNoon } from "./due.ts";
export { isTaskKind, type TaskKind, taskKinds, taskWords } from "./kinds.ts";
export {
  claimantOf,
  closeTasks,
  dropPaused,
  explainTask,
  hadTask,
  keepTasks,
  lockTasks,
  type NeededTask,
  type NewTask,
  neverOpened,
  openTask,
  openTasksOf,
  openUnlessPaused,
  pauseTasks,
  pauseUnclaimed,
  resumeTasks,
  resumeUnclaimed,
  type TaskEnd,
} from "./open-close.ts";
export { fromTasks, joinTask, protectedTables, taskState, verifiedTask, verifyTasks } from "./store.ts";
