import { createHash } from "node:crypto";
import { join } from "node:path";
import { startLob } from "@signsealship/testing/doubles/lob";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { changeOrder } from "@signsealship/testing/row-mac";
import { temporaryFolder } from "@signsealship/testing/temporary-folder";
import { lettersOnRecord, openLetters, recallOrder } from "../../../../src/delivery/shipping/letters/letters.ts";
import { run as readPages } from "../../../../src/delivery/shipping/letters/pages-task.ts";
import { closeTrouble } from "../../../../src/delivery/trouble.ts";
import { openBlobs } from "../../../../src/kernel/platform/blobs/blobs.ts";
import { folderBackend } from "../../../../src/kernel/platform/blobs/folder.ts";
import { isSealed, sql } from "../../../../src/kernel/platform/database/sql.ts";
import type { Jobs } from "../../../../src/kernel/platform/jobs/jobs.ts";
import { openRowMac } from "../../../../src/kernel/platform/row-mac.ts";
import { secretBytes } from "../../../../src/kernel/platform/secrets.ts";
import type { Workers } from "../../../../src/kernel/platform/workers/task.ts";
import { dispatchJobs } from "../../../../src/orders/fulfilment/fulfilment.ts";
import {
  documentMembers,
  documentUse,
  lockOrder,
  type PeopleEvent,
  transition,
} from "../../../../src/orders/order/order.ts";
import { letterList } from "../../../../src/pages/operator/orders/sent-lists.ts";
import { accountsOf, type MailClass, openProviders } from "../../../../src/providers/providers.ts";
import { openOrdersDatabase, silent } from "../../../orders/order/orders-database.ts";
import { jane } from "./jane.ts";

const business = { ...jane, name: "SignSealShip", line1: "1100 Congress Avenue" };
const letterPdf = makePdf({ pages: 2 });

type Handler = (payload: object) => Promise<void>;
export type World = Awaited<ReturnType<typeof openWorld>>;

/** Letters with a real database and a double of Lob. The test sets the clock and runs the jobs. */
export async function openWorld() {
  const folder = temporaryFolder();
  const orders = await openOrdersDatabase();
  const { db } = orders;
  const state = { now: new Date("2026-06-01T12:00:00Z") };
  const clock = () => state.now;
  const lob = await startLob(clock);
  const secrets = secretBytes(Buffer.alloc(32, 7));
  const rowMac = openRowMac(secrets);
  const blobs = openBlobs(folderBackend(join(folder.path, "blobs")), secrets, clock);
  const workers = {
    run: async (_task: unknown, call: { bytes: Buffer }) => readPages(call.bytes),
  } as unknown as Workers;

  /** A separate node, with its own circuit breaker and its own job handlers. */
  function openNode({ mailClass = "certified" as MailClass, hasKey = true } = {}) {
    const account = { apiKey: lob.apiKey, apiBase: lob.apiBase, webhookSecret: lob.webhookSecret };
    const accounts = accountsOf({ easypost: null, lob: hasKey ? account : null, telnyx: null }).map((each) => ({
      ...each,
      timeoutMs: 10_000,
    }));
    const providers = openProviders({ db, clock, log: silent, secrets, fetch }, accounts);
    const handlers = new Map<string, Handler>();
    const jobs = { work: (queue: string, handler: unknown) => void handlers.set(queue, handler as Handler) } as Jobs;
    const planning = { workers, mailClass, business };
    const deps = { db, clock, log: silent, blobs, rowMac, providers, planning };
    const taker = openLetters(jobs, deps, { register: () => {}, work: () => {} });
    dispatchJobs(jobs, { db, clock }, taker ? [taker] : []);
    jobs.work<{ orderId: number }>("recall", ({ orderId }) => recallOrder(deps, orderId));
    providers.work(jobs);

    /**
     * Runs the jobs of the queues in `only`, and the jobs that they add to these queues, for at most `rounds` rounds.
     * Polls Lob about letters only if `polls` is set.
     */
    async function work({ rounds = 6, polls = false, only = [...handlers.keys()] } = {}): Promise<void> {
      const queues = only.filter((queue) => polls || queue !== "poll-letter");
      for (let round = 0; round < rounds; round++) {
        const waiting = await db.query<{ queue: string; payload: object }>(sql`
          DELETE FROM jobs WHERE queue = ANY (${queues}::text[])
          RETURNING queue, payload`);
        if (waiting.length === 0) return;
        for (const { queue, payload } of waiting) await handlers.get(queue)?.(payload);
      }
    }

    /** Delivers an event as Lob posts it: verifies its signature, and applies it. @returns the outcome */
    async function hear(event: { id: string }): Promise<string> {
      const raw = Buffer.from(JSON.stringify(event));
      const headers = Object.fromEntries(
        Object.entries(lob.sign(raw.toString())).map(([k, v]) => [k.toLowerCase(), v]),
      );
      await providers.acceptEvent("lob", raw, headers);
      await work();
      const [row] = await db.query<{ outcome: string }>(
        sql`SELECT outcome FROM provider_events WHERE event_id = ${event.id}`,
      );
      return row?.outcome ?? "not on record";
    }
    return { providers, handlers, work, hear };
  }

  async function idOf(code: string): Promise<number> {
    const [order] = await db.query<{ id: number }>(
      sql`SELECT id FROM orders WHERE ${isSealed(sql`code`, "order", code)}`,
    );
    return order?.id ?? 0;
  }

  async function move(code: string, on: PeopleEvent, reason?: string): Promise<void> {
    await db.transaction(async (tx) => {
      const order = await lockOrder(tx, code);
      if (order) await transition(tx, order, on, { actor: "operator", at: clock(), log: silent, reason });
    });
  }

  return {
    db,
    lob,
    state,
    openNode,
    move,
    pass: (seconds: number) => {
      state.now = new Date(state.now.getTime() + seconds * 1000);
    },
    /** An order that waits to be printed and mailed. */
    async placed({ pdf = letterPdf, environment = "live" as "live" | "test", shipTo = jane } = {}) {
      const code = await orders.insert("NotarizationComplete", { environment, fax: false });
      const sha256 = createHash("sha256").update(pdf).digest("hex");
      const blobKey = await blobs.put(pdf, documentUse(sha256));
      const mac = rowMac.of(
        "documents",
        documentMembers({ ...(await orders.ownerOf(code)), kind: "notarized", sha256, blobKey }),
      );
      await changeOrder(db, code, sql`ship_method = 'print_mail', ship_to = ${JSON.stringify(shipTo)}::jsonb`);
      await db.query(sql`
        UPDATE documents SET sha256 = ${sha256}, bytes = ${pdf.length}, blob_key = ${blobKey}, row_mac = ${mac}
        WHERE kind = 'notarized' AND order_id = (SELECT id FROM orders WHERE ${isSealed(sql`code`, "order", code)})`);
      await move(code, "next_segment");
      return code;
    },
    async statusOf(code: string): Promise<string> {
      return (await orders.look(code)).status;
    },
    async tasksOf(code: string): Promise<string[]> {
      const rows = await db.query<{ task: string }>(sql`
        SELECT t.kind || ' ' || t.state AS task FROM tasks t JOIN orders o ON o.id = t.order_id
        WHERE ${isSealed(sql`o.code`, "order", code)} ORDER BY t.id`);
      return rows.map(({ task }) => task);
    },
    async reasonsOf(code: string): Promise<string> {
      const rows = await db.query<{ reason: string | null }>(sql`
        SELECT t.reason FROM tasks t JOIN orders o ON o.id = t.order_id
        WHERE ${isSealed(sql`o.code`, "order", code)} AND t.state IN ('open', 'claimed') ORDER BY t.id`);
      return rows.map(({ reason }) => reason ?? "").join("; ");
    },
    /** The path of the order's notarized file in the store. */
    async fileOf(code: string): Promise<string> {
      const [row] = await db.query<{ key: string }>(
        sql`SELECT blob_key AS key FROM documents WHERE kind = 'notarized' AND order_id = ${await idOf(code)}`,
      );
      return join(folder.path, "blobs", row?.key ?? "");
    },
    /** The ids of the order's letters that Lob accepted and that were not canceled. */
    lettersOf: (code: string) =>
      [...lob.letters.values()]
        .filter(({ metadata, deleted }) => metadata["order"] === code.slice(0, 6).toUpperCase() && !deleted)
        .map(({ id }) => id),
    async shipmentOf(code: string): Promise<string> {
      const [row] = await db.query<{ shown: string }>(sql`
        SELECT s.status || ' ' || s.carrier || ' ' || s.tracking_number AS shown
        FROM shipments s JOIN orders o ON o.id = s.order_id WHERE ${isSealed(sql`o.code`, "order", code)} ORDER BY s.id DESC LIMIT 1`);
      return row?.shown ?? "none";
    },
    /** The letters as the console shows them, without HTML tags. */
    async shownOf(code: string): Promise<string> {
      const shown = await letterList(await lettersOnRecord(db, await idOf(code)));
      return shown.toString().replace(/<[^>]+>/g, "");
    },
    idOf,
    /** Closes the task about a letter, as a person would. */
    lookedAfter: async (code: string, letterId: string) =>
      db.transaction(async (tx) => {
        const letter = { orderId: await idOf(code), subject: letterId };
        await closeTrouble(tx, letter, { at: clock(), by: "provider:lob", outcome: "looked at" });
      }),
    async jobsOf(queue: string): Promise<number> {
      return (await db.query(sql`SELECT FROM jobs WHERE queue = ${queue}`)).length;
    },
    async close() {
      await lob.close();
      await orders.close();
      folder.remove();
    },
  };
}
