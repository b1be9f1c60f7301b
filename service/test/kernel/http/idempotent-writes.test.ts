import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { newPartner } from "@signsealship/testing/service";
import { sql } from "../../../src/kernel/platform/database/sql.ts";

const harness = await forTests(openHarness());
const firm = await newPartner(harness.service, { tier: "ClosingDesk" });

type Answer = { status: number; replayed: string | null; text: string; body: Record<string, unknown> };

async function post(path: string, body: BodyInit, key: string | null, by = firm.key): Promise<Answer> {
  const headers = {
    Authorization: `Bearer ${by}`,
    ...(typeof body === "string" && { "Content-Type": "application/json" }),
    ...(key !== null && { "Idempotency-Key": key }),
  };
  const response = await fetch(harness.service.baseUrl + path, { method: "POST", headers, body });
  const text = await response.text();
  return {
    status: response.status,
    replayed: response.headers.get("Idempotent-Replayed"),
    text,
    body: JSON.parse(text),
  };
}

const room = (key: string | null, name = "12 Elm Street", by?: string) =>
  post("/api/rooms", JSON.stringify({ name }), key, by);

function seal(key: string | null, pages = 1): Promise<Answer> {
  const form = new FormData();
  form.append("file", new Blob([new Uint8Array(makePdf({ pages }))], { type: "application/pdf" }), "deed.pdf");
  return post("/api/passport/seal", form, key);
}

const count = async (table: "rooms" | "passports"): Promise<number> => {
  const name = table === "rooms" ? sql`rooms` : sql`passports`;
  const [row] = await harness.db.query<{ n: number }>(sql`SELECT count(*)::int AS n FROM ${name}`);
  return row?.n ?? 0;
};

const writes = [
  { what: "a room", table: "rooms", write: room, other: (key: string) => room(key, "9 Oak Lane"), id: "roomCode" },
  { what: "a seal", table: "passports", write: seal, other: (key: string) => seal(key, 2), id: "passportId" },
] as const;

for (const { what, table, write, other, id } of writes)
  describe(`${what} with an Idempotency-Key`, () => {
    test("is made once, and answered byte for byte the same", async () => {
      const before = await count(table);
      const first = await write(`${table}-once`);
      const again = await write(`${table}-once`);
      assert.deepEqual([first.status, first.replayed, again.status, again.replayed], [200, null, 200, "true"]);
      assert.equal(again.text, first.text);
      assert.equal(await count(table), before + 1);
    });

    test("is made once when six requests come at once", async () => {
      const before = await count(table);
      const answers = await Promise.all(Array.from({ length: 6 }, () => write(`${table}-race`)));
      assert.deepEqual(
        answers.map(({ status }) => status),
        Array(6).fill(200),
      );
      assert.equal(new Set(answers.map(({ body }) => body[id])).size, 1);
      assert.equal(answers.filter(({ replayed }) => replayed === null).length, 1);
      assert.equal(await count(table), before + 1);
    });

    test("is refused where the key named other content, or is too short", async () => {
      await write(`${table}-other`);
      const refused = await other(`${table}-other`);
      assert.deepEqual([refused.status, /another body/.test(refused.text)], [409, true]);
      assert.equal((await write("short")).status, 400);
    });

    test("is another one without a key", async () => {
      assert.notEqual((await write(null)).body[id], (await write(null)).body[id]);
    });
  });

test("a refused room leaves its key free, and another firm's key of the same text names another room", async () => {
  assert.equal((await room("rooms-refused", " ")).status, 400);
  const made = await room("rooms-refused");
  const theirs = await room("rooms-refused", "12 Elm Street", (await newPartner(harness.service)).key);
  assert.deepEqual([made.status, theirs.status, theirs.replayed], [200, 200, null]);
  assert.notEqual(made.body["roomCode"], theirs.body["roomCode"]);
});
