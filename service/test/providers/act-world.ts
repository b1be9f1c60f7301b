import { startHttpDouble } from "@signsealship/testing/doubles/http-double";
import { isSealed, sql } from "../../src/kernel/platform/database/sql.ts";
import type { Jobs } from "../../src/kernel/platform/jobs/jobs.ts";
import { secretBytes } from "../../src/kernel/platform/secrets.ts";
import { type Account, type Act, openProviders, type Providers } from "../../src/providers/providers.ts";
import { openOrdersDatabase, silent } from "../orders/order/orders-database.ts";

/** How the double fails the next request that creates a thing. */
type Fault = "cut" | "hang" | "garbage" | "redirect" | { status: number; headers?: Record<string, string> };

export const apiKey = "key_of_the_account_0123456789";

/** A provider of things: POST /things creates one, and GET /things/REFERENCE finds it. */
async function startThings() {
  const made: string[] = [];
  const faults: Fault[] = [];
  let actsBeforeFault = true;
  const double = await startHttpDouble((request, body, response) => {
    const answer = (status: number, value: unknown, headers: Record<string, string> = {}) =>
      response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(value));
    if (request.method === "GET") {
      const reference = decodeURIComponent(request.url?.split("/")[2] ?? "");
      const id = made.indexOf(reference);
      return void answer(200, { data: id < 0 ? null : { id: `thing_${id}` } });
    }
    const fault = faults.shift();
    const { reference } = JSON.parse(body.toString());
    if (fault === undefined || actsBeforeFault) made.push(reference);
    if (fault === undefined) return void answer(200, { id: `thing_${made.length - 1}` });
    if (fault === "cut") return void request.socket.destroy();
    if (fault === "hang") return;
    if (fault === "garbage") return void response.writeHead(200).end("<html>");
    if (fault === "redirect") return void answer(302, {}, { location: "/things" });
    const words = `no: ${request.headers.authorization}`;
    answer(fault.status, { error: { code: "THING.NO", message: words } }, fault.headers);
  });
  return {
    ...double,
    made,
    /** Makes the next requests to create something fail. If `acts` is true, the object is created nevertheless. */
    fail(acts: boolean, ...next: Fault[]) {
      actsBeforeFault = acts;
      faults.splice(0, faults.length, ...next);
    },
  };
}

type Thing = { id: string };
type Handler = (payload: object) => Promise<void>;

/** A database, the double, and any number of nodes. The test sets the clock. */
export async function openWorld() {
  const orders = await openOrdersDatabase();
  const things = await startThings();
  const state = {
    now: new Date("2026-06-01T12:00:00Z"),
    wanted: true,
    found: true as boolean | "unclear",
    /** An act awaits this function before it sends its request. */
    files: async () => {},
    /** The error that `settled` throws. */
    broken: null as Error | null,
  };
  const settled: string[] = [];

  const thing: Act<Thing> = {
    name: "thing.make",
    provider: "lob",
    byHand: "packet_print",
    lookAfterMs: 20_000,
    wanted: async () => state.wanted,
    async perform({ orderId, attempt }, call) {
      await state.files();
      const body = JSON.stringify({ reference: `${orderId}:${attempt}` });
      const outcome = await call({ method: "POST", path: "/things", body });
      return outcome.kind === "answered" ? { kind: "done", result: outcome.body as Thing } : outcome;
    },
    async lookUp({ orderId, attempt }, call) {
      if (state.found === "unclear") return { kind: "unclear", why: "the list is late" };
      const outcome = await call({ method: "GET", path: `/things/${orderId}:${attempt}` });
      if (outcome.kind !== "answered") return { kind: "unclear", why: outcome.kind };
      const { data } = outcome.body as { data: Thing | null };
      return data ? { kind: "done", result: data } : { kind: "not_done" };
    },
    resultOf: ({ id }) => ({ id }),
    async settled(_tx, { orderId }, end) {
      if (state.broken) throw state.broken;
      settled.push(`${orderId} ${end.kind} ${end.kind === "done" ? end.result.id : end.why}`);
    },
  };

  /** A separate node, with its own circuit breaker, callers and job handlers. */
  function openNode(baseUrl = things.url, timeoutMs = 400) {
    const account: Account = {
      provider: "lob",
      baseUrl,
      timeoutMs,
      authorization: `Bearer ${apiKey}`,
      verify: null,
      check: async () => ({ ok: true, detail: "" }),
    };
    const secrets = secretBytes(Buffer.alloc(32, 7));
    const clock = () => state.now;
    const providers: Providers = openProviders({ db: orders.db, clock, log: silent, secrets, fetch }, [account]);
    providers.defineAct(thing);
    const handlers = new Map<string, Handler>();
    const jobs: Pick<Jobs, "work"> = {
      work: (queue, handler) => void handlers.set(queue, handler as unknown as Handler),
    };
    providers.work(jobs as Jobs);
    const run = async (intentId: number) => handlers.get("provider-act-lob")?.({ intentId });
    return { providers, run };
  }

  return {
    state,
    things,
    settled,
    orders,
    openNode,
    pass: (seconds: number) => {
      state.now = new Date(state.now.getTime() + seconds * 1000);
    },
    /** An order with an intent. @returns their ids */
    async intend(providers: Providers, attempt = 1) {
      const code = await orders.insert("ShippingPending");
      const [order] = await orders.db.query<{ id: number }>(
        sql`SELECT id FROM orders WHERE ${isSealed(sql`code`, "order", code)}`,
      );
      const orderId = order?.id ?? 0;
      const payload = { name: "Jane Roe, 350 Fifth Avenue" };
      const intent = { act: "thing.make", provider: "lob", orderId, attempt, payload, at: state.now } as const;
      await orders.db.transaction((tx) => providers.intend(tx, intent));
      const [row] = await orders.db.query<{ id: number }>(
        sql`SELECT id FROM provider_calls WHERE order_id = ${orderId} AND attempt = ${attempt}`,
      );
      return { code, orderId, id: row?.id ?? 0, reference: `${orderId}:${attempt}` };
    },
    async stateOf(id: number): Promise<string> {
      const [row] = await orders.db.query<{ state: string }>(sql`SELECT state FROM provider_calls WHERE id = ${id}`);
      return row?.state ?? "none";
    },
    async tasksOf(orderId: number): Promise<string[]> {
      const rows = await orders.db.query<{ task: string }>(
        sql`SELECT kind || ' ' || state AS task FROM tasks WHERE order_id = ${orderId} ORDER BY id`,
      );
      return rows.map(({ task }) => task);
    },
    async close() {
      await things.close();
      await orders.close();
    },
  };
}
