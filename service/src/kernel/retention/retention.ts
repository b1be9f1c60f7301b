export { deleteDue, type Forget, type RetentionDeps, type Upcoming, upcomingDeletions } from "./delete-due.ts";
export { deletedAmong, deletedAt, deletedMessage, marksOf, notDeleted } from "./deleted.ts";
export { leapt, movedSince } from "./leaps.ts";
export {
  createMarkCheck,
  type Mark,
  markedAmong,
  markedAt,
  markMembers,
  markRows,
  protectedTables,
  refusedMarkIds,
  type StoredMark,
} from "./marks.ts";
export { type Days, dueBefore, providerRecordsOf, type RetentionPlan, readRetention } from "./plan.ts";
export type { JudgedStates } from "./rules.ts";
