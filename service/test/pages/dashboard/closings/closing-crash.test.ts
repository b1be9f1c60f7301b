import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import { repeats } from "@signsealship/testing/inputs/fuzz";
import { examplePdf } from "@signsealship/testing/inputs/order-form";
import { newPartner, ownProcess } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { sql } from "../../../../src/kernel/platform/database/sql.ts";
import { newMember, postForm } from "../../../firms/members/signed-in-member.ts";

const running = await forTests(openHarness(ownProcess));
const { db } = running;
const path = "/dashboard/closings/new";
const { partnerId, key } = await newPartner(running.service, { tier: "ClosingDesk" });
const { headers } = await newMember(running.service, "dana@harbor-title.com", key);
const pdf = new Uint8Array(examplePdf);

async function file(): Promise<string> {
  const body = new FormData();
  body.set("document", new File([pdf], "Deed.pdf", { type: "application/pdf" }));
  const answer = await fetch(`${running.service.baseUrl}${path}/file`, {
    method: "POST",
    headers: { ...headers, Accept: "application/json" },
    body,
  });
  return ((await answer.json()) as { file: string }).file;
}

let closings = 0;
async function newForm() {
  const shown = await fetch(running.service.baseUrl + path, { headers });
  const documents = await Promise.all(
    [1, 2, 3].map(async (n) => ({ [`doc${n}`]: await file(), [`doc${n}_name`]: `Paper ${n}`, [`doc${n}_sign`]: "on" })),
  );
  return {
    submission: /name="submission" value="([^"]*)"/.exec(await shown.text())?.[1] ?? "",
    closing_name: `Closing ${++closings}`,
    ...Object.assign({}, ...documents),
    email: "ann@example.com",
    name: "Ann Roe",
    client_signs: "on",
    byod_confirmed: "on",
    person1_name: "Lee Lender",
    person1_email: `lee${closings}@lender.example`,
    person1_role: "follows",
  } as Record<string, string>;
}

const place = (form: Record<string, string>) =>
  postForm(running.service.baseUrl + path, form, { ...headers, Accept: "text/html" }).catch(() => null);

/** Counts the rows of a closing, and orders that are in no room. */
async function written(form: Record<string, string>) {
  const [counts] = await db.query<{ orders: number; rooms: number; people: number }>(sql`
    SELECT count(DISTINCT r.id)::int AS rooms, count(DISTINCT a.order_id)::int AS orders, count(DISTINCT p.id)::int AS people
    FROM rooms r LEFT JOIN room_orders a ON a.room_id = r.id LEFT JOIN room_participants p ON p.room_id = r.id
    WHERE r.name = ${form["closing_name"]}`);
  const loose = await db.query(sql`
    SELECT FROM orders o WHERE partner_id = ${partnerId} AND NOT EXISTS (SELECT FROM room_orders a WHERE a.order_id = o.id)`);
  return { ...counts, loose: loose.length };
}
const nothing = { rooms: 0, orders: 0, people: 0, loose: 0 };
const all = { rooms: 1, orders: 3, people: 2, loose: 0 };

async function goesOn(form: Record<string, string>): Promise<void> {
  running.service = await running.service.restart();
  const first = await place(form);
  assert.equal(first?.status, 303, await first?.text());
  const second = await place(form);
  assert.equal(second?.headers.get("location"), first?.headers.get("location"));
  assert.deepEqual(await written(form), all);
}

test("a service that is killed between two documents has placed nothing, and places the same form afterwards", async () => {
  const form = await newForm();
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const token = form["doc2"]?.split(" ")[0] ?? "";
  // Blocks the order of the second document until its row is unlocked.
  const holding = db.transaction(async (tx) => {
    const locked = await tx.query(
      sql`SELECT FROM fill_documents WHERE token_sha256 = sha256(${Buffer.from(token)}) FOR UPDATE`,
    );
    assert.equal(locked.length, 1);
    await held;
  });
  const answer = place(form);
  await until(async () => {
    const waiting = await db.query(sql`
      SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%fill_documents%' AND pid <> pg_backend_pid()`);
    return waiting.length > 0 || undefined;
  });
  await running.service.kill();
  release();
  await holding;
  assert.equal(await answer, null);
  assert.deepEqual(await written(form), nothing);
  await goesOn(form);
});

test("a service that is killed at any moment of placing has the closing completely or not at all", async () => {
  for (let round = 0; round < repeats(2, 1, 8); round++) {
    const form = await newForm();
    const answer = place(form);
    await sleep(randomInt(300));
    await running.service.kill();
    const acknowledged = (await answer)?.status === 303;
    const found = await written(form);
    assert.deepEqual(found, acknowledged || found.rooms === 1 ? all : nothing);
    await goesOn(form);
  }
});
