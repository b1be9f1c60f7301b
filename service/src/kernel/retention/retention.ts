export { deleteDue, type Forget, upcomingDeletions } from "./delete-due.ts";
export { deletedAmong, deletedAt, deletedMessage, joinMark, marksOf, notDeleted } from "./deleted.ts";
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
export {
  archivedTemplatesOf,
  dueBefore,
  providerRecordsOf,
  type RetentionPlan,
  readRetention,
} from "./plan.ts";
export { byEnvironment, ruled, type Source, type SourceOf, undueIn, unnamedIn } from "./source.ts";
