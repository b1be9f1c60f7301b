import { dayMs, hourMs, minuteMs, secondMs } from "../kernel/platform/clock.ts";
import { withLongStatements } from "../kernel/platform/database/database.ts";
import type { Statement } from "../kernel/platform/database/sql.ts";
import type { PeriodicTask } from "../kernel/platform/work/periodic.ts";
import type { Resources } from "../kernel/resources.ts";
import { checkMonths, closeMonths, watchIssuer } from "./billing/billing.ts";
import { sweepBulks } from "./bulk/bulk.ts";
import { sweepEndedFills } from "./fills/fills.ts";
import { mailOrderUpdates } from "./fulfilment/fulfilment.ts";
import { sweepFills } from "./order/order.ts";
import { applySandboxSteps, type Processor, processorTasks, watchPayments } from "./payments/payments.ts";
import { sweepExecutions } from "./playbooks/playbooks.ts";

/** SQL condition: true if the order's closing is due today. `closing/rooms` implements this. */
export type ClosesToday = (orderId: Statement, now: Date) => Statement;

type Parts = { processor: Processor | null; closesToday: ClosesToday };

/** The periodic tasks of orders: those of the orders themselves, then those of their money. */
export const ordersTasks = (resources: Resources, parts: Parts): PeriodicTask[] => [
  ...tasksOfOrders(resources, parts),
  ...tasksOfMoney(resources, parts),
];

const tasksOfOrders = ({ db, clock }: Resources, { closesToday }: Parts): PeriodicTask[] => {
  const sweeper = withLongStatements(db);
  return [
    { name: "expired fill tokens", everyMs: hourMs, work: () => sweepFills(sweeper, clock()) },
    { name: "forms that have ended", everyMs: hourMs, work: (stopping) => sweepEndedFills(db, clock(), stopping) },
    { name: "people of bulks that nobody placed", everyMs: hourMs, work: () => sweepBulks(sweeper, clock()) },
    {
      name: "expired playbook executions",
      everyMs: minuteMs,
      // Also runs when a node starts, for executions that became due while no node was running.
      atStart: true,
      work: (stopping) => sweepExecutions(db, clock(), stopping),
    },
    {
      name: "mails to members about their orders",
      everyMs: 30 * secondMs,
      work: () => mailOrderUpdates({ db, clock, closesToday }),
    },
  ];
};

const tasksOfMoney = (resources: Resources, { processor }: Parts): PeriodicTask[] => [
  { name: "payments without an answer", everyMs: 5 * minuteMs, work: (stopping) => watchPayments(resources, stopping) },
  { name: "issuer of receipts", everyMs: 5 * minuteMs, work: () => watchIssuer(resources, processor) },
  { name: "bank of the sandbox", everyMs: minuteMs, work: (stopping) => applySandboxSteps(resources, stopping) },
  ...processorTasks({ ...resources, processor }),
  { name: "months to close", everyMs: hourMs, atStart: true, work: (stopping) => closeMonths(resources, stopping) },
  {
    name: "closed months against their documents",
    everyMs: dayMs,
    work: (stopping) => checkMonths(resources, stopping),
  },
];
