import type { Principal } from "../../kernel/identity/identity.ts";
import { createKeyedSemaphore } from "../../kernel/platform/bounds/keyed-semaphore.ts";
import { type Clock, dayMs } from "../../kernel/platform/clock.ts";
import type { Database } from "../../kernel/platform/database/database.ts";
import { ServiceError } from "../../kernel/platform/errors.ts";
import type { OrderStatus } from "../order/order.ts";
import { type Figures, readFigures } from "./figures.ts";
import type { Snapshot } from "./schemas.ts";

/** The stages into which the contract's funnel groups statuses (contract, Analytics). */
type Bucket = "created" | "paid" | "inProgress" | "completed" | "problem";

const buckets: Readonly<Record<OrderStatus, Bucket>> = {
  Created: "created",
  QuoteReady: "created",
  AwaitingPayment: "created",
  Paid: "paid",
  EsignPending: "inProgress",
  EsignComplete: "inProgress",
  NotarizationPending: "inProgress",
  NotarizationComplete: "inProgress",
  ShippingPending: "inProgress",
  Shipped: "inProgress",
  Delivered: "inProgress",
  FaxPending: "inProgress",
  FaxSent: "inProgress",
  FaxDelivered: "inProgress",
  Completed: "completed",
  PaymentFailed: "problem",
  EsignDeclined: "problem",
  EsignExpired: "problem",
  NotarizationFailed: "problem",
  IdentityLocked: "problem",
  ManualQuoteRequired: "problem",
  OnHold: "problem",
  ShippingFailed: "problem",
  RefundPending: "problem",
  Refunded: "problem",
  Cancelled: "problem",
  FaxFailed: "problem",
};

const byName: ReadonlyMap<string, Bucket> = new Map(Object.entries(buckets));

/** The funnel stage of a raw status; `problem` for a status that this release doesn't know. */
export const bucketOf = (status: string): Bucket => byName.get(status) ?? "problem";

/** True if orders at this stage count toward the revenue. */
const earns = (bucket: Bucket): boolean => bucket === "paid" || bucket === "inProgress" || bucket === "completed";

const hardLimitMs = 30_000;
// The most queries at once on a node. A query for a large firm uses a processor core for a second or two. More queries
// at once would slow the rest of the service.
const atOnce = 2;

/** Computes the snapshot from a cohort's figures. A pure function. */
function snapshotOf(figures: Figures, windowDays: number, generatedAt: Date): Snapshot {
  const months = new Map<string, Snapshot["volumeByMonth"][number]>();
  const funnel = { created: 0, paid: 0, inProgress: 0, completed: 0, problem: 0 };
  const serviceMix = { sign: 0, notarize: 0, ship: 0, fax: 0 };
  let revenueCents = 0;
  for (const group of figures.groups) {
    const bucket = bucketOf(group.status);
    const { month } = group;
    const volume = months.get(month) ?? { month, createdCount: 0, completedCount: 0 };
    months.set(month, volume);
    volume.createdCount += group.orders;
    if (group.status === "Completed") volume.completedCount += group.orders;
    funnel[bucket] += group.orders;
    if (earns(bucket)) revenueCents += group.cents;
    for (const service of ["sign", "notarize", "ship", "fax"] as const) serviceMix[service] += group[service];
  }
  const [median, p90] = figures.turnaround ?? [0, 0];
  return {
    windowDays,
    volumeByMonth: [...months.values()],
    funnel,
    turnaroundHours: { median, p90 },
    serviceMix,
    evidence: {
      totalCompleted: funnel.completed,
      sealedDocumentCount: figures.sealedDocuments,
      deliveredWithProofCount: figures.deliveredShipments,
    },
    revenueCents,
    generatedAt: generatedAt.toISOString(),
  };
}

type Caller = Pick<Principal, "partnerId" | "environment">;

/**
 * Reads the snapshot of a partner's orders in one environment. @throws ServiceError `unavailable` when reading takes
 * too long
 */
export type AnalyticsReader = (caller: Caller, windowDays: number) => Promise<Snapshot>;

/**
 * Opens this node's reader. At most one query runs for each partner at a time, and two on the node. Identical requests
 * that wait share one query.
 */
export function analyticsReader(
  { db, clock }: { db: Database; clock: Clock },
  timeoutMs: number = hardLimitMs,
): AnalyticsReader {
  const turns = createKeyedSemaphore(atOnce);
  const waiting = new Map<string, Promise<Snapshot>>();

  async function read({ partnerId, environment }: Caller, windowDays: number): Promise<Snapshot> {
    const to = clock();
    const from = new Date(to.getTime() - windowDays * dayMs);
    const figures = await readFigures(db, { partnerId, environment, from, to }, timeoutMs);
    if (!figures) throw new ServiceError("unavailable", "The figures took too long. Ask for fewer days.");
    return snapshotOf(figures, windowDays, to);
  }

  return (caller, windowDays) => {
    const what = `${caller.partnerId} ${caller.environment} ${windowDays}`;
    const shared = waiting.get(what);
    if (shared) return shared;
    const reading = turns(caller.partnerId, () => {
      waiting.delete(what);
      return read(caller, windowDays);
    });
    waiting.set(what, reading);
    return reading;
  };
}
