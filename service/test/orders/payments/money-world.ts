import { type StripeDouble, type StripeEvent, startStripe } from "@signsealship/testing/doubles/stripe";
import { authenticateFirms, testRowMac } from "@signsealship/testing/row-mac";
import type { Operator, OperatorRole } from "../../../src/firms/operators/operators.ts";
import type { Owner, Principal } from "../../../src/kernel/identity/identity.ts";
import type { Database } from "../../../src/kernel/platform/database/database.ts";
import { isSealed, sql } from "../../../src/kernel/platform/database/sql.ts";
import { newUuid } from "../../../src/kernel/platform/ids.ts";
import type { Handler, Jobs } from "../../../src/kernel/platform/jobs/jobs.ts";
import { readIssuer, registerIssuer } from "../../../src/orders/billing/billing.ts";
import { applyEvent } from "../../../src/orders/payments/events/apply-event.ts";
import { firmPaysJobs, openProcessor, type Processor, paymentJobs } from "../../../src/orders/payments/payments.ts";
import * as methods from "../../../src/orders/payments/records/methods.ts";
import { partRefundJobs } from "../../../src/orders/refunds/refunds.ts";
import { openOrdersDatabase, silent } from "../order/orders-database.ts";

/** Thrown when a simulated crash ends a step. */
export class Crash extends Error {}

/** A firm with a card on file, and a key that may spend with it. */
export type PayingFirm = {
  owner: Owner & { firmName: string };
  principal: Principal;
  customer: string;
  method: string;
};

export type MoneyWorld = Awaited<ReturnType<typeof openMoneyWorld>>;

const hour = 3_600_000;

/** Payments without HTTP: the processor's double, the jobs, and a clock. Each step of a test may crash. */
export async function openMoneyWorld() {
  const orders = await openOrdersDatabase();
  const stripe = await startStripe();
  const { db } = orders;
  const issuer = new URL("../../../data/billing.yaml", import.meta.url).pathname;
  await registerIssuer(db, readIssuer(issuer), new Date("2026-01-01T00:00:00Z"));
  const fuse = createFuse();
  let now = Date.now();
  const clock = () => new Date(now);
  const keys = { secretKey: "sk_live_double", webhookSecret: stripe.webhookSecret, apiBase: stripe.url };
  const real = openProcessor(keys, "https://sss.example");
  const expiries = new Map<string, Date>();
  const processor = fuse.around({
    ...real,
    // The double compares the expiry with the real time, so the expiry is computed from the real clock. It is stored,
    // because a repeated request must have the same expiry.
    mint: (request) => {
      const expiresAt = expiries.get(request.id) ?? new Date(Date.now() + 23 * hour);
      expiries.set(request.id, expiresAt);
      return real.mint({ ...request, expiresAt });
    },
    firm: fuse.around(real.firm),
  } satisfies Processor);
  const fused: Database = { ...db, transaction: fuse.transactions(db) };
  const notarySupply = { gapOf: async () => null, refuses: false };
  const deps = { db: fused, clock, rowMac: testRowMac, processor, notarySupply, log: silent };
  const handlers = new Map<string, Handler<object>>();
  const jobs: Jobs = {
    work: (queue, handler) => void handlers.set(queue, handler as Handler<object>),
    start: async () => {},
    stop: async () => {},
  };
  paymentJobs(jobs, deps);
  firmPaysJobs(jobs, deps);
  partRefundJobs(jobs, deps);

  type Job = { id: number; queue: string; payload: object; attempts: number };

  return {
    orders,
    stripe,
    db,
    deps,
    fuse,
    clock,
    advance: (ms: number) => {
      now += ms;
    },
    newFirm: () => newFirm(db, stripe, clock()),
    newOperator: (...roles: OperatorRole[]) => newOperator(db, clock(), roles),
    /** The queued jobs, oldest first. */
    waitingJobs: () =>
      db.query<Job>(sql`
        SELECT id, queue, payload, attempts FROM jobs WHERE queue = ANY (${[...handlers.keys()]}::text[]) ORDER BY id`),
    /**
     * Runs a job as a node does: a finished job is removed, a failed or crashed one is retried. @returns true if it
     * finished
     */
    async run({ id, queue, payload, attempts }: Job): Promise<boolean> {
      await db.query(sql`UPDATE jobs SET attempts = attempts + 1 WHERE id = ${id}`);
      try {
        await handlers.get(queue)?.(payload, { attempt: attempts + 1, signal: new AbortController().signal });
      } catch {
        return false;
      }
      await db.query(sql`DELETE FROM jobs WHERE id = ${id}`);
      return true;
    },
    /** @returns false when the node crashed, so that the processor sends the event again */
    async take(event: StripeEvent): Promise<boolean> {
      const options = { at: clock(), log: silent, actor: "processor" } as const;
      return fused
        .transaction((tx) => applyEvent(tx, event, options))
        .then(
          () => true,
          (error: unknown) => {
            if (error instanceof Crash) return false;
            throw error;
          },
        );
    },
    async orderIdOf(code: string): Promise<number> {
      const [row] = await db.query<{ id: number }>(
        sql`SELECT id FROM orders WHERE ${isSealed(sql`code`, "order", code)}`,
      );
      return row?.id ?? 0;
    },
    async close() {
      await orders.close();
      await stripe.close();
    },
  };
}

/**
 * Lets a step crash at its n-th point: all work of the step after that point fails. There are points around each
 * transaction, before its commit, and around each call of the processor.
 */
function createFuse() {
  let left = Number.POSITIVE_INFINITY;
  const burn = () => {
    if (left === 0) throw new Crash("crash");
    left -= 1;
  };
  return {
    /** Sets the point at which the next step crashes; null for no crash. */
    set: (points: number | null) => {
      left = points ?? Number.POSITIVE_INFINITY;
    },
    hasBlown: () => left === 0,
    transactions:
      (db: Database): Database["transaction"] =>
      async (work, time) => {
        burn();
        const result = await db.transaction(async (tx) => {
          const done = await work(tx);
          burn();
          return done;
        }, time);
        burn();
        return result;
      },
    around: <Port extends object>(port: Port): Port =>
      new Proxy(port, {
        get(target, name, receiver) {
          const member: unknown = Reflect.get(target, name, receiver);
          if (typeof member !== "function") return member;
          return async (...args: unknown[]) => {
            burn();
            const answer: unknown = await Reflect.apply(member, target, args);
            burn();
            return answer;
          };
        },
      }),
  };
}

async function newOperator(db: Database, at: Date, roles: readonly OperatorRole[]): Promise<Operator> {
  const id = newUuid();
  const name = `Person ${id.slice(0, 4)}`;
  await db.query(sql`INSERT INTO users (id, email, created_at) VALUES (${id}, ${`${id}@desk.example`}, ${at})`);
  await db.query(sql`INSERT INTO operators (user_id, name, roles, added_at) VALUES (${id}, ${name}, ${roles}, ${at})`);
  const shown = { id, name, email: null, roles, environment: "live", actor: `operator:${id}` } as const;
  return { ...shown, sessionId: id, signedInAt: at, decidesFrom: null, session: null };
}

async function newFirm(db: Database, stripe: StripeDouble, at: Date): Promise<PayingFirm> {
  const [partnerId, keyId, id] = [newUuid(), newUuid(), newUuid()];
  const owner = { partnerId, environment: "live", firmName: "Elm Title" } as const;
  const [customer, method] = [`cus_${partnerId}`, `pm_${partnerId}`];
  stripe.firm.customers.push({ id: customer, object: "customer" });
  stripe.firm.methods.set(method, { id: method, object: "payment_method", type: "card", customer });
  await db.query(sql`INSERT INTO partners (id, name, tier) VALUES (${partnerId}, ${owner.firmName}, 'trial')`);
  await authenticateFirms(db);
  await db.query(sql`
    INSERT INTO partner_keys (id, partner_id, environment, key_sha256, last4)
    VALUES (${keyId}, ${partnerId}, 'live', sha256(${keyId}::text::bytea), 'abcd')`);
  const by = `key:${keyId}`;
  const max = 100_000_000;
  await db.transaction(async (tx) => {
    await methods.putLimit(tx, { owner, spender: by, orderCents: max, monthCents: max, by, at });
    await methods.insertMethod(tx, { id, partnerId, environment: "live", customer, addedBy: by, addedAt: at });
    const saved = { method, kind: "card", brand: "visa", last4: "4242", expires: "04/2031" } as const;
    await methods.updateMethod(tx, id, { state: "active", saved });
  });
  const key = { id: keyId, prefix: "", last4: "abcd", createdAt: at, scopes: null, expiresAt: null };
  const principal: Principal = { ...owner, tier: "trial", liveEnabled: true, key, member: null };
  return { owner, principal, customer, method };
}
