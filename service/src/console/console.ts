/** What the console reads of all firms' orders, and what its people may do to them. */

export { type FirmRecord, findFirms, firmRecord } from "./firms.ts";
export { sendMorningMails } from "./morning-mail.ts";
export { type ConsoleMove, isConsoleMove, mayMove, movesOf, movesOfOthers } from "./moves.ts";
export { addNote, type OrderNote } from "./notes.ts";
export { type OrderRecord, orderRecord } from "./order-record.ts";
export { type ListedOrder, listAllOrders, type OrdersFilter } from "./orders-list.ts";
export { searchOrders } from "./search.ts";
export { openServiceTasks, queuesToLookAt, type ServiceTaskDeps, type SigningCertificate } from "./service-tasks.ts";
export { taskMetrics } from "./task-metrics.ts";
