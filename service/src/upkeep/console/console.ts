/** The console's view of all firms' orders, and the actions of its operators. */

export { addNote } from "./notes.ts";
export {
  type ConsoleMove,
  isConsoleMove,
  mayMove,
  movesOf,
  movesOfOthers,
  type OrderRecord,
  openDocumentAsOperator,
  orderRecord,
} from "./order-record.ts";
export { type ListedOrder, listAllOrders, type OrdersFilter } from "./orders-list.ts";
export { type FirmRecord, findFirms, firmRecord, searchOrders } from "./search-records.ts";
export {
  claimedTasks,
  dueTasks,
  findTask,
  mailNewTasks,
  openServiceTasks,
  type QueueCount,
  queueCounts,
  queueOf,
  queuesToLookAt,
  retryQueue,
  type SigningCertificate,
  sendMorningMails,
  type Task,
  taskMetrics,
  tasksOfOrder,
} from "./task-lists.ts";
