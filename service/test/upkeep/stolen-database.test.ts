import assert from "node:assert/strict";
import { after, test } from "node:test";
import { deflateSync, gunzipSync, inflateRawSync, inflateSync } from "node:zlib";
import { makeAuthority, startCatcher } from "@signsealship/testing/doubles/webhook-catcher";
import { forTests } from "@signsealship/testing/for-tests";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { temporaryFolder } from "@signsealship/testing/temporary-folder";
import { until } from "@signsealship/testing/until";
import type { Database } from "../../src/kernel/platform/database/database.ts";
import { Statement, sql } from "../../src/kernel/platform/database/sql.ts";
import { seal } from "../evidence/proof-passports/seal-document.ts";
import { openCeremonyService, signBy } from "../signing/envelopes/ceremony/ceremony-service.ts";

// Somebody who has a dump of the whole database, and neither the keys nor the blobs.
const folder = temporaryFolder();
const authority = makeAuthority(folder.path);

const client = { name: "Ottoline Quimby", email: "ottoline@example.com" };

after(() => running.service.stop());
const catcher = await forTests(startCatcher(authority));
const running = await forTests(openCeremonyService({ WEBHOOK_CA: authority.caFile, WEBHOOK_ALLOW: "127.0.0.0/8" }));
const { client: firm, service, headers } = running;
const topics = [
  "order.created",
  "payment.cleared",
  "signature.completed",
  "passport.sealed",
  "room.order_attached",
  "room.passport_sealed",
];
await firm.ok("POST", "/api/partner/webhooks", { url: `${catcher.url}/all`, topics });
const proof = (await seal({ baseUrl: service.baseUrl, headers }, makePdf())).verifyCode;
const orderCode = await running.order([client], {});
await signBy(running.ceremony, await running.linkOf(client.email), client.name);
const { roomCode: room } = await firm.ok<{ roomCode: string }>("POST", "/api/rooms", { name: "12 Elm Street" });
await firm.ok("POST", `/api/rooms/${room}/orders`, { orderCode });
const { verifyCode: closing } = await firm.ok<{ verifyCode: string }>("POST", `/api/rooms/${room}/passport`);
const { roomCode: rotated } = await firm.ok<{ roomCode: string }>("POST", `/api/rooms/${room}/rotate`);
await firm.ok("POST", `/api/rooms/${rotated}/passport`);
const signing = await firm.ok<{ envelope: { verifyCode: string } }>("GET", `/api/partner/orders/${orderCode}/signers`);
const form = orderForm({ ...minimal }, makePdf());
const answer = await fetch(`${service.baseUrl}/api/partner/orders`, {
  method: "POST",
  headers: { ...headers, "Idempotency-Key": crypto.randomUUID() },
  body: form,
});
assert.equal(answer.status, 201);
const { orderCode: other } = (await answer.json()) as { orderCode: string };
/** Codes that open something by themselves, by name. */
const codes = { proof, room, rotated, closing, envelope: signing.envelope.verifyCode, order: orderCode, other };
await until(async () => (await pendingWork(running.db)) === 0);

async function pendingWork(db: Database): Promise<number> {
  const [row] = await db.query<{ n: number }>(sql`
    SELECT count(*) AS n FROM webhook_deliveries WHERE state = 'pending'`);
  return row?.n ?? 0;
}

type Cell = { table: string; column: string; value: string };

/** Every value of every table, as its text. */
async function dump(db: Database): Promise<Cell[]> {
  const tables = await db.query<{ name: string }>(sql`
    SELECT relname AS name FROM pg_class
    WHERE relkind IN ('r', 'p', 'm') AND relnamespace = current_schema()::regnamespace`);
  const cells: Cell[] = [];
  for (const { name } of tables) {
    const rows = await db.query<{ column: string; value: string }>(
      new Statement(
        [`SELECT f.key AS column, f.value FROM "${name}" t, jsonb_each_text(to_jsonb(t)) f WHERE f.value IS NOT NULL`],
        [],
      ),
    );
    for (const row of rows) cells.push({ table: name, ...row });
  }
  return cells;
}

const inflated = (bytes: Buffer): Buffer[] =>
  [inflateSync, inflateRawSync, gunzipSync].flatMap((inflate) => {
    try {
      return [inflate(bytes)];
    } catch {
      return [];
    }
  });

/** A value, and what is in it: bytes as text, base64, and what was compressed. */
function* readings(value: string, depth = 0): Generator<string> {
  yield value;
  if (depth === 2) return;
  const packed: Buffer[] = [];
  for (const [hex] of value.matchAll(/(?<=\\x)(?:[0-9a-f]{2})+/g)) packed.push(Buffer.from(hex, "hex"));
  for (const [text] of value.matchAll(/[A-Za-z0-9+/_-]{24,}/g)) packed.push(Buffer.from(text, "base64"));
  for (const bytes of packed.flatMap((each) => [each, ...inflated(each)]))
    yield* readings(bytes.toString("latin1"), depth + 1);
}

/** Where a text is in a dump, in whatever form. */
function placesOf(cells: readonly Cell[], text: string): string[] {
  const hex = Buffer.from(text).toString("hex");
  return cells
    .filter(({ value }) => [...readings(value)].some((one) => one.includes(text) || one.includes(hex)))
    .map(({ table, column }) => `${table}.${column}`);
}

test("finds a code in a dump as it is, in bytes, in base64 and compressed", () => {
  const forms = [
    codes.proof,
    `{"a":"x${codes.proof}y"}`,
    `\\x${Buffer.from(`..${codes.proof}`).toString("hex")}`,
    Buffer.from(codes.proof).toString("base64url"),
    `\\x${deflateSync(codes.proof).toString("hex")}`,
  ];
  for (const value of forms)
    assert.deepEqual(placesOf([{ table: "t", column: "c", value }], codes.proof), ["t.c"], value);
});

test("no table holds a code that opens something, in whatever form", async () => {
  const cells = await dump(running.db);
  for (const [name, code] of Object.entries(codes)) assert.deepEqual(placesOf(cells, code), [], name);
  const answers = cells.filter(({ table, column }) => table === "idempotency_keys" && column === "body");
  assert.equal(answers.length, 1);
  assert.ok([...readings(answers[0]?.value ?? "")].every((text) => !text.includes("orderCode")));
});

/** Every route that a code or token opens by itself. */
const routesOf = (token: string): string[] => [
  ...["", "/document", "/evidence", "/certificate"].map((part) => `/api/passport/verify/${token}${part}`),
  `/verify/${token}`,
  ...["", "/pdf"].map((part) => `/api/verify/room/${token}${part}`),
  `/api/verify/envelope/${token}`,
  `/v/room/${token}`,
  `/v/envelope/${token}`,
  `/rooms/${token}`,
  `/api/rooms/${token}`,
  `/orders/${token}`,
  `/orders/${codes.order}/documents/${token}`,
  `/sign/${token}`,
  `/sign/${token}/document`,
  `/sign-in/${token}`,
  `/operator/sign-in/${token}`,
  `/invitation/${token}`,
  `/outbox/${token}/`,
];

const bearerRoutes = ["/api/partner/me", "/api/rooms", "/api/partner/orders"];

test("nothing that a dump holds opens a public route or stands for a key", async () => {
  const { baseUrl } = running.service;
  const cells = await dump(running.db);
  const tokens = new Set<string>();
  for (const { value } of cells)
    for (const [token] of value.replaceAll("\\x", "").matchAll(/[A-Za-z0-9._-]{20,200}/g)) tokens.add(token);
  assert.ok(tokens.size > 200, `${tokens.size} tokens`);
  const answerOf = async (path: string, token: string) => {
    const response = await fetch(baseUrl + path, { redirect: "manual" });
    return `${response.status} ${(await response.text()).replaceAll(token, "")}`;
  };
  // Some pages answer every token alike, and say that it is unknown.
  const unknown = "0".repeat(40);
  const toUnknown = await Promise.all(routesOf(unknown).map((path) => answerOf(path, unknown)));
  const opened: string[] = [];
  for (const token of tokens) {
    const paths = routesOf(token);
    const answers = await Promise.all(paths.map((path) => answerOf(path, token)));
    opened.push(...paths.filter((_, n) => !/^4/.test(answers[n] ?? "") && answers[n] !== toUnknown[n]));
    for (const path of bearerRoutes) {
      const asKey = await fetch(baseUrl + path, { headers: { Authorization: `Bearer ${token}` } });
      await asKey.arrayBuffer();
      if (asKey.status !== 401) opened.push(`${path} by key`);
    }
  }
  assert.deepEqual(opened, []);
});
