import { minuteMs } from "../../../kernel/platform/clock.ts";
import type { ColumnCipher } from "../../../kernel/platform/column-cipher.ts";
import type { Database } from "../../../kernel/platform/database/database.ts";
import type { RowMac } from "../../../kernel/platform/row-mac.ts";
import { endsWithin } from "../../../kernel/platform/work/ends-within.ts";
import { createLoop, type Loop } from "../../../kernel/platform/work/loop.ts";
import { sealExchange } from "../exchange.ts";
import { adaptiveWindow, limits } from "./adaptive-window.ts";
import { type Claimed, claimDue, withChainPosition } from "./claim.ts";
import { type Destination, readDestinations } from "./destinations.ts";
import { createHostLimit } from "./host-limit.ts";
import { createOutcomeWriter } from "./outcomes.ts";
import { type SendDeps, send } from "./send.ts";

export type DispatcherDeps = {
  db: Database;
  rowMac: RowMac;
  ciphers: Record<"secretCipher" | "keyCipher" | "exchangeCipher", ColumnCipher>;
  sending: SendDeps;
  /** Counts outcomes, for metrics. */
  count: (outcome: "delivered" | "failed") => void;
};

export type DispatcherTimes = {
  /** The interval between polls for due deliveries. */
  pollMs: number;
  /** The duration of a delivery's lease. */
  leaseMs: number;
  /**
   * The POST of a delivery must begin within this time after the lease began. The rest of the lease is longer than the
   * longest POST, so no other node sends the delivery meanwhile.
   */
  startWithinMs: number;
  /** How long outcomes are collected before one statement writes them. */
  gatherMs: number;
  /** How long `stop` waits for deliveries in progress. */
  drainMs: number;
};

const usualTimes: DispatcherTimes = {
  pollMs: 100,
  leaseMs: minuteMs,
  startWithinMs: 4_000,
  gatherMs: 10,
  drainMs: 2_000,
};

type Queued = Claimed & { destination: Destination; startBefore: number };

/**
 * Sends due deliveries: leases each one, builds its body from the present records, signs the body, and posts it. A
 * delivery whose outcome is unknown is sent again after its lease ends. Each node may run a dispatcher. It polls ten
 * times a second and doesn't use database notifications: see docs/decisions/webhook-dispatch.md. `stop` claims no more
 * deliveries, waits briefly for those in progress, aborts the rest, and releases leases without an outcome.
 */
export function createDispatcher(deps: DispatcherDeps, times: DispatcherTimes = usualTimes): Loop {
  const { ciphers, sending } = deps;
  const { clock, log, outbound } = sending;
  const rows = { db: deps.db, rowMac: deps.rowMac, clock, log };
  const window = adaptiveWindow();
  const outcomes = createOutcomeWriter(rows, times.gatherMs);
  const hostLimit = createHostLimit(clock);
  const queue = perKeyConcurrency(limits.perWebhook, deliver);
  let stopping = false;
  const loop = createLoop({ name: "webhook deliveries", log, turn: claim });

  async function claim(): Promise<number> {
    const now = clock();
    const startBefore = now.getTime() + times.startWithinMs;
    const { ready, waiting } = await withChainPosition(rows, await claimDue(rows, times.leaseMs, window.capacity()));
    for (const { seq, leasedUntil } of waiting) outcomes.release({ seq, leasedUntil, untried: true });
    const destinations = await readDestinations(
      { ...rows, ...ciphers },
      ready.map(({ webhookId }) => webhookId),
      now,
    );
    for (const delivery of ready) {
      const destination = destinations.get(delivery.webhookId);
      // If a destination can't be read, the delivery is retried after its lease ends.
      if (!destination) continue;
      window.acquire(delivery.webhookId, delivery.partnerId);
      queue.add(delivery.webhookId, { ...delivery, destination, startBefore });
    }
    return times.pollMs;
  }

  /**
   * Sends one delivery and records its outcome. If it is late, or the dispatcher stops before there is an outcome,
   * releases the lease. If the outcome is unknown for another reason, the lease runs out. Never rejects.
   */
  async function deliver(delivery: Queued): Promise<void> {
    const { seq, webhookId, partnerId } = delivery;
    const late = stopping || clock().getTime() > delivery.startBefore;
    const outcome = late ? null : await send(sending, delivery, hostLimit);
    if (outcome) {
      const exchange = outcome.exchange && sealExchange(ciphers.exchangeCipher, seq, outcome.exchange);
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

/**
 * A queue for each key. It works on items in the order in which they were added, and on a fixed number of each key's
 * items at once.
 */
type PerKeyConcurrency<T> = {
  add: (key: string, item: T) => void;
  /** Resolves when no item is running or queued. */
  idle: () => Promise<void>;
};

type State<T> = { waiting: T[]; running: number };

/**
 * Creates the queues.
 * @param max how many items of one key are worked on at once
 * @param work must not reject
 */
function perKeyConcurrency<T>(max: number, work: (item: T) => Promise<void>): PerKeyConcurrency<T> {
  const keys = new Map<string, State<T>>();
  const workers = new Set<Promise<void>>();

  async function workOn(key: string, state: State<T>): Promise<void> {
    for (let item = state.waiting.shift(); item !== undefined; item = state.waiting.shift()) await work(item);
    if (--state.running === 0) keys.delete(key);
  }

  return {
    add(key, item) {
      const state = keys.get(key) ?? { waiting: [], running: 0 };
      keys.set(key, state);
      state.waiting.push(item);
      if (state.running >= max) return;
      state.running++;
      const worker = workOn(key, state).finally(() => workers.delete(worker));
      workers.add(worker);
    },
    async idle() {
      await Promise.all(workers);
    },
  };
}
