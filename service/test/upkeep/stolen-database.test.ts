import assert from "node:assert/strict";
import { after, test } from "node:test";
import { deflateSync } from "node:zlib";
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
import { holds, openedBy, readings, tokensIn } from "./dump.ts";

// An attacker has a dump of the whole database, but neither the keys nor the blobs.
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
/** Codes that grant access by themselves, by name. */
const codes = { proof, room, rotated, closing, envelope: signing.envelope.verifyCode, order: orderCode, other };
await until(async () => (await pendingWork(running.db)) === 0);

async function pendingWork(db: Database): Promise<number> {
  const [row] = await db.query<{ n: number }>(sql`
    SELECT count(*) AS n FROM webhook_deliveries WHERE state = 'pending'`);
  return row?.n ?? 0;
}

type Cell = { table: string; column: string; value: string };

/** Every value of every table as text. */
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

/** The places in a dump that contain a text, in any encoding. */
function placesOf(cells: readonly Cell[], text: string): string[] {
  return cells.filter(({ value }) => holds(value, text)).map(({ table, column }) => `${table}.${column}`);
}

test("finds a code in a dump as plain text, in bytes, in base64 and compressed", () => {
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

test("no table contains a code that gives access, in any form", async () => {
  const cells = await dump(running.db);
  for (const [name, code] of Object.entries(codes)) assert.deepEqual(placesOf(cells, code), [], name);
  const answers = cells.filter(({ table, column }) => table === "idempotency_keys" && column === "body");
  assert.equal(answers.length, 1);
  assert.ok([...readings(answers[0]?.value ?? "")].every((text) => !text.includes("orderCode")));
});

test("nothing in a dump opens a public route or works as a key", async () => {
  const tokens = tokensIn((await dump(running.db)).map(({ value }) => value));
  assert.ok(tokens.size > 200, `${tokens.size} tokens`);
  assert.deepEqual(await openedBy(running.service.baseUrl, tokens, codes.order), []);
});
