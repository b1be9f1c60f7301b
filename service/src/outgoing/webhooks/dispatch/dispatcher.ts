import type { ColumnCipher } from "../../platform/column-cipher.ts";
import type { Database } from "../../platform/database/database.ts";
import type { RowMac } from "../../platform/row-mac.ts";
import { endsWithin } from "../../platform/work/ends-within.ts";
import { createLoop, type Loop } from "../../platform/work/loop.ts";
import { sealExchange } from "../exchange.ts";
import { adaptiveWindow, limits } from "./adaptive-window.ts";
import { type Claimed, claimDue } from "./claim.ts";
import { type Destination, readDestinations } from "./destinations.ts";
import { createHostLimit } from "./host-limit.ts";
import { createOutcomeWriter } from "./outcomes.ts";
import { perKeyConcurrency } from "./per-key-concurrency.ts";
import { placed } from "./placed.ts";
import { type SendDeps, send } from "./send.ts";

export type DispatcherDeps = SendDeps & {
  db: Database;
  rowMac: RowMac;
  secretCipher: ColumnCipher;
  keyCipher: ColumnCipher;
  exchangeCipher: ColumnCipher;
  /** Counts what became of a delivery, for measurement. */
  count: (outcome: "delivered" | "failed") => void;
};

export type DispatcherTimes = {
  /** Between two looks for what is due. */
  pollMs: number;
  /** How long a delivery is this node's alone. */
  leaseMs: number;
  /** How long it may wait here for its turn: what is left of the lease is more than a POST may take. */
  startWithinMs: number;
  /** How long outcomes are gathered before they are written together. */
  gatherMs: number;
  /** How long the end waits for what is in progress. */
  drainMs: number;
};

export const usualTimes: DispatcherTimes = {
  pollMs: 100,
  leaseMs: 60_000,
  startWithinMs: 4_000,
  gatherMs: 10,
  drainMs: 2_000,
};

type Queued = Claimed & { destination: Destination; leasedUntil: Date; startBefore: number };

/**
 * Sends what is due: each delivery is leased, its body built from the present records and signed, and posted once. Many nodes
 * may run one each. The records are polled a few times a second rather than announced: see docs/decisions/webhook-dispatch.md.
 * `stop` takes nothing new, waits a little for what is in progress, and gives the rest back.
 */
export function createDispatcher(deps: DispatcherDeps, times: DispatcherTimes = usualTimes): Loop {
  const { db, clock, log, outbound, exchangeCipher } = deps;
  const window = adaptiveWindow();
  const outcomes = createOutcomeWriter(deps, times.gatherMs);
  const hostLimit = createHostLimit(clock);
  const queue = perKeyConcurrency(limits.perWebhook, deliver);
  let stopping = false;
  const loop = createLoop({ name: "webhook deliveries", log, turn: claim });

  async function claim(): Promise<number> {
    const now = clock();
    const startBefore = now.getTime() + times.startWithinMs;
    const lease = { now, until: new Date(now.getTime() + times.leaseMs) };
    const { ready, waiting } = await placed(deps, await claimDue(db, lease, window.capacity()));
    for (const { seq } of waiting) outcomes.release({ seq, leasedUntil: lease.until, untried: true });
    const destinations = await readDestinations(
      deps,
      ready.map(({ webhookId }) => webhookId),
      now,
    );
    for (const delivery of ready) {
      const destination = destinations.get(delivery.webhookId);
      // Tried again when the lease has run out.
      if (!destination) continue;
      window.take(delivery.webhookId, delivery.partnerId);
      queue.add(delivery.webhookId, { ...delivery, destination, leasedUntil: lease.until, startBefore });
    }
    return times.pollMs;
  }

  /** One delivery from its turn to its outcome; never rejects. */
  async function deliver(delivery: Queued): Promise<void> {
    const { seq, webhookId, partnerId } = delivery;
    const late = stopping || clock().getTime() > delivery.startBefore;
    const outcome = late ? null : await send(deps, delivery, hostLimit);
    if (outcome) {
      const exchange = outcome.exchange && sealExchange(exchangeCipher, seq, outcome.exchange);
      const { isFailing } = delivery.destination;
      outcomes.complete({ ...outcome, exchange, seq, webhookId, isFailing, completedAt: clock() });
      deps.count(outcome.reason === null ? "delivered" : "failed");
    } else if (late || stopping) outcomes.release({ seq, leasedUntil: delivery.leasedUntil, untried: late });
    if (window.giveBack(webhookId, partnerId, outcome?.durationMs ?? null)) loop.wake();
  }

  return {
    ...loop,
    async stop() {
      stopping = true;
      await loop.stop();
      const idle = queue.idle();
      await endsWithin(idle, times.drainMs);
      await outbound.close();
      await idle;
      await outcomes.finish();
    },
  };
}
