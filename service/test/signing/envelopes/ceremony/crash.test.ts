import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { makeJobsDue } from "@signsealship/testing/due-jobs";
import { forTests } from "@signsealship/testing/for-tests";
import { repeats } from "@signsealship/testing/inputs/fuzz";
import { ownProcess } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { isSealed, sql } from "../../../../src/kernel/platform/database/sql.ts";
import { findOpenEnvelope, findSigners } from "../../../../src/signing/envelopes/records/envelope.ts";
import { readDocument } from "../../../../src/signing/envelopes/records/revisions.ts";
import { newMember, postForm } from "../../../firms/members/signed-in-member.ts";
import { openCeremonyService } from "./ceremony-service.ts";

// Each kill requires a restart of the service. Set `KILLS=100` for the complete run.
const kills = Number(process.env["KILLS"] ?? repeats(2, 2, 4));

const running = await forTests(openCeremonyService(ownProcess));

const post = (token: string, act: string, fields: Record<string, string>) => {
  const { baseUrl } = running.service;
  return fetch(`${baseUrl}/sign/${token}/${act}`, {
    method: "POST",
    redirect: "manual",
    headers: { origin: baseUrl },
    body: new URLSearchParams(fields),
  }).catch(() => null);
};

test("a service that is killed while somebody signs has the act completely or not at all, and continues", async () => {
  const signers = Array.from({ length: 2 }, (_, n) => ({ name: `Signer ${n + 1}`, email: `kill-${n}@example.com` }));
  for (let round = 0; round < kills; round++) {
    const code = await running.order(signers.map((each) => ({ ...each, email: `${round}-${each.email}` })));
    const tokens = await Promise.all(signers.map(({ email }) => running.linkOf(`${round}-${email}`)));
    for (const { token } of tokens)
      assert.equal(
        (await post(token, "consent", { version: "4", language: "en", can_read: "on" }))?.status,
        303,
        "consent",
      );
    const [order] = await running.db.query<{ id: number }>(
      sql`SELECT id FROM orders WHERE ${isSealed(sql`code`, "order", code)}`,
    );
    const envelope = await findOpenEnvelope(running.db, order?.id ?? 0);
    assert.ok(envelope);
    const answers = tokens.map(({ token }, n) => post(token, "sign", { revision: "1", name: `Signer ${n + 1}` }));
    await sleep(randomInt(250));
    await running.service.kill();
    const acknowledged = (await Promise.all(answers)).map((answer) => answer?.status === 303);
    const signed = (await findSigners(running.db, envelope.id)).map(({ signedAt }) => signedAt !== null);
    for (const [n, was] of acknowledged.entries()) assert.ok(!was || signed[n], "what was acknowledged is there");
    const { revision } = await readDocument(running.deps, envelope);
    assert.equal(revision, 1 + signed.filter(Boolean).length, "each act is one revision");
    running.service = await running.service.restart();
    for (const [n, { token }] of tokens.entries())
      await until(async () => {
        const { document, state } = await running.ceremony.view({ token, session: null });
        if (state !== "ready") return true;
        await post(token, "sign", { revision: String(document?.revision), name: `Signer ${n + 1}` });
        return false;
      });
    // A job completes an envelope whose request was killed between the last act and the seal.
    await makeJobsDue(running.db, "envelope");
    await until(async () => {
      const { status } = await running.client.ok<{ status: string }>("GET", `/api/partner/orders/${code}`);
      return status === "EsignComplete";
    });
    const sealed = await running.db.query(sql`
      SELECT FROM documents WHERE order_id = ${order?.id} AND kind = 'sealed'`);
    assert.equal(sealed.length, 1);
  }
});

test("a service that is killed during a closing loses nothing, signs nothing twice, and its link still works", async () => {
  const jane = { name: "Jane Doe", email: "closing@example.com" };
  const { roomCode } = await running.client.ok<{ roomCode: string }>("POST", "/api/rooms", { name: "Ortega closing" });
  const codes: string[] = [];
  for (const paper of ["Deed", "Note", "Letter"]) {
    const code = await running.order([jane], { external_reference: paper }, undefined, { pay: false });
    await running.client.ok("POST", `/api/rooms/${roomCode}/orders`, { orderCode: code });
    codes.push(code);
  }
  for (const code of codes) await running.client.ok("POST", `/api/partner/sandbox/orders/${code}/checkout`);
  const { token } = await running.linkOf(jane.email);
  const view = (document: number) => running.ceremony.view({ token, session: null, document });
  const sign = async (n: number) =>
    post(`${token}/${n}`, "sign", { revision: String((await view(n)).document?.revision), name: jane.name });
  assert.equal((await post(`${token}/1`, "consent", { version: "5", language: "en", can_read: "on" }))?.status, 303);
  for (const n of [1, 2, 3]) {
    const answer = sign(n);
    // Kills the service during the act, or between this document and the next.
    await sleep(randomInt(n === 1 ? 1 : 50, 300));
    await running.service.kill();
    const acknowledged = (await answer)?.status === 303;
    running.service = await running.service.restart();
    const { signedAt, consent } = await view(n);
    assert.ok(!acknowledged || signedAt, "an acknowledged signature is there");
    assert.equal(consent?.version, "5", "the consent for all documents is there");
    if (!signedAt) assert.equal((await sign(n))?.status, 303);
    // Sends the same act again, like a browser that got no response.
    await sign(n);
    const next = await running.ceremony.next({ token, session: null });
    if (n < 3) assert.equal(next, n + 1);
  }
  await makeJobsDue(running.db, "envelope");
  for (const code of codes) {
    await until(async () => {
      const { status } = await running.client.ok<{ status: string }>("GET", `/api/partner/orders/${code}`);
      return !["EsignPending", "Paid"].includes(status);
    });
    const [counted] = await running.db.query<{ acts: number; passes: number; sealed: number }>(sql`
      SELECT count(*) FILTER (WHERE t.record::json ->> 'event' = 'signed')::int AS acts,
        count(*) FILTER (WHERE t.record::json ->> 'event' = 'session_identified')::int AS passes,
        (SELECT count(*)::int FROM documents d WHERE d.order_id = o.id AND d.kind = 'sealed') AS sealed
      FROM orders o JOIN envelopes e ON e.order_id = o.id JOIN envelope_events t ON t.envelope_id = e.id
      WHERE ${isSealed(sql`o.code`, "order", code)} GROUP BY o.id`);
    assert.deepEqual(counted, { acts: 1, passes: 1, sealed: 1 });
  }
});

test("a service that is killed while a device continues with the next document, or is handed on, leaves at most one turn", async () => {
  const jane = { name: "Jane Doe", email: "device@example.com" };
  const { roomCode } = await running.client.ok<{ roomCode: string }>("POST", "/api/rooms", { name: "Device closing" });
  for (const paper of ["Deed", "Note"]) {
    const orderCode = await running.order([jane], { external_reference: paper });
    await until(async () => {
      const path = `/api/partner/orders/${orderCode}/signers`;
      const { signers } = await running.client.ok<{ signers: { status: string }[] }>("GET", path);
      return signers[0]?.status === "sent";
    });
    await running.client.ok("POST", `/api/rooms/${roomCode}/orders`, { orderCode });
  }
  const key = running.headers.Authorization.replace("Bearer ", "");
  const member = await newMember(running.service, "host@harbor-title.com", key);
  const opened = await postForm(`${running.service.baseUrl}/dashboard/rooms/${roomCode}/sitting`, {}, member.headers);
  const set = opened.headers.getSetCookie().find((line) => line.startsWith("sitting=")) ?? "";
  const token = (set.split(";")[0] ?? "").replace("sitting=", "");
  const client = { ip: "203.0.113.7", userAgent: "Test/1" };
  for (const act of ["next", "done"]) {
    const [first] = (await running.ceremony.sitting(token))?.next ?? [];
    assert.ok(first);
    const { session } = await running.ceremony.beginTurn(token, first.n, client, first.sitting);
    const answer = postForm(
      `${running.service.baseUrl}/in-person/${act}`,
      { after: first.sitting },
      { Cookie: `sitting=${token}`, Origin: running.service.baseUrl },
    ).catch(() => null);
    await sleep(randomInt(60));
    await running.service.kill();
    const answered = await answer;
    running.service = await running.service.restart();
    const [open] = await running.db.query<{ turns: number }>(sql`SELECT count(signer_id)::int AS turns FROM sittings`);
    const before = await running.ceremony.view({ token: session, session: null }).catch(() => null);
    if (answered?.status === 303) {
      assert.equal(before, null, "an acknowledged act closed the pages of the turn before");
      assert.equal(open?.turns, act === "next" ? 1 : 0);
    } else assert.ok((open?.turns ?? 2) <= 1, "never two turns");
    const [again] = (await running.ceremony.sitting(token))?.next ?? [];
    assert.equal(again?.name, jane.name, "the device continues");
  }
});
