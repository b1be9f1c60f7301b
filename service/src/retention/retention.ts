export { deleteDue, type RetentionDeps } from "./delete-due.ts";
export { deletedAmong, deletedAt, deletedMessage, notDeleted } from "./deleted.ts";
export { type Mark, markedAmong, markMembers } from "./marks.ts";
export { type Days, dueBefore, providerRecordsOf, type RetentionPlan, readRetention } from "./plan.ts";
export { type Upcoming, upcomingDeletions } from "./upcoming.ts";
