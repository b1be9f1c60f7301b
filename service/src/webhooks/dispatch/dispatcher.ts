import { setTimeout as delay } from "node:timers/promises";
import type { Clock } from "../../platform/clock.ts";
import type { Database } from "../../platform/database.ts";
import type { Log } from "../../platform/logs.ts";
import type { ColumnCipher } from "../../platform/secrets.ts";
import type { Outbound, PostOutcome } from "../outbound/post.ts";
import { payloadOf } from "../payload.ts";
import { eventHeader, signatureHeader, signatureValue } from "../signing.ts";
import { createWindows, limits } from "./adaptive-window.ts";
import { createLanes } from "./per-key-concurrency.ts";
import {
  type Claimed,
  claimDue,
  completeDeliveries,
  type Finished,
  releaseDeliveries,
  selectDestinations,
} from "./store.ts";

export type DispatcherDeps = {
  db: Database;
  clock: Clock;
  log: Log;
  outbound: Outbound;
  secretCipher: ColumnCipher;
  baseUrl: string;
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
  leaseMs: 15_000,
  startWithinMs: 4_000,
  gatherMs: 10,
  drainMs: 2_000,
};

export type Dispatcher = {
  start: () => void;
  /** Looks for what is due at once. */
  wake: () => void;
  /** Takes nothing new, waits a little for what is in progress, and gives the rest back. */
  stop: () => Promise<void>;
};

/** Where a subscription is told; `keys` are the hashes of the secrets that sign. */
type Opened = { url: string; deleted: boolean; keys: Buffer[] };

type Queued = Claimed & { destination: Opened; startBefore: number };

const userAgent = "SignSealShip-Webhooks/1";

/** A bell that is heard also by those who come to listen after it rang. */
function createBell() {
  let rung = false;
  let answer = () => {};
  return {
    ring(): void {
      rung = true;
      answer();
    },
    async heard(withinMs: number): Promise<void> {
      if (!rung)
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, withinMs);
          answer = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      rung = false;
    },
  };
}

/**
 * Sends what is due: each delivery is leased, its body built from the present records and signed, and posted once. Many nodes
 * may run one each. The records are looked at a few times a second rather than announced: an announcement would make all
 * commits of the database wait in one line.
 */
export function createDispatcher(deps: DispatcherDeps, times: DispatcherTimes = usualTimes): Dispatcher {
  const { db, clock, log, outbound } = deps;
  const windows = createWindows();
  const bell = createBell();
  const lanes = createLanes(limits.lanes, work);
  const open = new Set<Promise<void>>();
  let finished: Finished[] = [];
  let unsent: { seq: number; untried: boolean }[] = [];
  let stopping = false;
  let running: Promise<void> = Promise.resolve();
  let writing: Promise<void> | null = null;

  async function send(delivery: Queued): Promise<PostOutcome> {
    const { url, deleted, keys } = delivery.destination;
    if (deleted) return { statusCode: null, reason: "webhook_deleted", durationMs: 0 };
    const body = payloadOf(delivery, deps.baseUrl);
    if (!body) return { statusCode: null, reason: "subject_missing", durationMs: 0 };
    const t = Math.floor(clock().getTime() / 1000);
    const headers = {
      "content-type": "application/json",
      "user-agent": userAgent,
      [signatureHeader]: signatureValue(keys, t, body),
      [eventHeader]: delivery.topic,
    };
    return outbound.post(url, headers, body);
  }

  /** One delivery from its turn to its outcome; never throws. */
  async function work(delivery: Queued): Promise<void> {
    const { seq, webhookId, partnerId } = delivery;
    const late = stopping || clock().getTime() > delivery.startBefore;
    const outcome = late
      ? null
      : await send(delivery).catch((error: unknown): PostOutcome => {
          log.error({ err: error, delivery: seq }, "a delivery could not be made");
          return null;
        });
    if (outcome) {
      finished.push({ ...outcome, seq, completedAt: clock() });
      deps.count(outcome.reason === null ? "delivered" : "failed");
    } else if (late || stopping) unsent.push({ seq, untried: late });
    writing ??= write();
    if (windows.giveBack(webhookId, partnerId, outcome?.durationMs ?? null)) bell.ring();
  }

  /** Writes outcomes, many at once. */
  async function write(): Promise<void> {
    while (finished.length + unsent.length > 0) {
      if (!stopping) await delay(times.gatherMs);
      const [done, back] = [finished, unsent];
      finished = [];
      unsent = [];
      try {
        if (done.length > 0) await completeDeliveries(db, done);
        const seqs = back.map(({ seq }) => seq);
        const untried = back.map((each) => each.untried);
        if (back.length > 0) await releaseDeliveries(db, seqs, untried);
      } catch (error) {
        log.error({ err: error }, "outcomes of deliveries could not be written");
        // What stays unwritten is sent again when its lease has run out.
        if (stopping) break;
        finished = [...done, ...finished];
        unsent = [...back, ...unsent];
        await delay(1_000);
      }
    }
    writing = null;
  }

  async function destinationsOf(claimed: readonly Claimed[], now: Date): Promise<Map<string, Opened>> {
    const ids = [...new Set(claimed.map(({ webhookId }) => webhookId))];
    const found = ids.length === 0 ? [] : await selectDestinations(db, ids, now);
    const opened = new Map<string, Opened>();
    for (const { id, url, deleted, hashes } of found) {
      try {
        opened.set(id, { url, deleted, keys: hashes.map((hash) => deps.secretCipher.decrypt(hash, id)) });
      } catch (error) {
        log.error(
          { err: error, webhook: id },
          "the secret of a webhook cannot be decrypted: is SECRETS_KEY the right one?",
        );
      }
    }
    return opened;
  }

  async function claim(): Promise<void> {
    const now = clock();
    const startBefore = now.getTime() + times.startWithinMs;
    const claimed = await claimDue(db, now, new Date(now.getTime() + times.leaseMs), windows.room());
    const destinations = await destinationsOf(claimed, now);
    for (const delivery of claimed) {
      const destination = destinations.get(delivery.webhookId);
      // Tried again when the lease has run out.
      if (!destination) continue;
      windows.take(delivery.webhookId, delivery.partnerId);
      const lane = lanes.add(delivery.webhookId, { ...delivery, destination, startBefore });
      if (lane) open.add(lane.finally(() => open.delete(lane)));
    }
  }

  async function run(): Promise<void> {
    while (!stopping) {
      try {
        await claim();
        await bell.heard(times.pollMs);
      } catch (error) {
        log.error({ err: error }, "due deliveries could not be read");
        await bell.heard(1_000);
      }
    }
  }

  return {
    start() {
      running = run();
    },
    wake: bell.ring,
    async stop() {
      stopping = true;
      bell.ring();
      await running;
      const drained = new AbortController();
      const all = Promise.all(open).then(() => drained.abort());
      await delay(times.drainMs, undefined, { signal: drained.signal }).catch(() => {});
      await outbound.close();
      await all;
      await writing;
    },
  };
}
