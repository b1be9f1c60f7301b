import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { newClient } from "@signsealship/testing/client";
import { forTests } from "@signsealship/testing/for-tests";
import { changeSigners } from "@signsealship/testing/row-mac";
import { newPartner } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { isSealed, sql } from "../../../src/kernel/platform/database/sql.ts";
import { newMember, postForm } from "../../firms/members/signed-in-member.ts";
import { chooseZone } from "../../orders/billing/choose-zone.ts";
import { browser, openCeremonyService, signBy } from "./ceremony/ceremony-service.ts";

type State = { n: number; name: string; email: string; status: string; signingUrl: string | null };
type Signers = { signers: State[]; envelope: { outcome: string | null } | null };
type Documents = { documents: { documentId: string; kind: string; sha256: string; bytes: number }[] };

const running = await forTests(openCeremonyService());
const { headers } = await newPartner(running.service, { name: "Another" });
const anotherKey = headers.Authorization.replace("Bearer ", "");
const stranger = newClient(running.service.baseUrl, anotherKey);

let unique = 1;
const person = (name: string, more: object = {}) => ({
  name,
  email: `${name.toLowerCase()}-${unique++}@example.com`,
  ...more,
});
const path = (code: string, rest: string) => `/api/partner/orders/${code}/${rest}`;
const signersOf = (code: string) => running.client.ok<Signers>("GET", path(code, "signers"));
const statuses = async (code: string) => (await signersOf(code)).signers.map(({ status }) => status);
const events = async (code: string) =>
  (
    await running.db.query<{ event: string }>(sql`
      SELECT t.record::jsonb->>'event' AS event FROM envelope_events t JOIN envelopes e ON e.id = t.envelope_id
      JOIN orders o ON o.id = e.order_id WHERE ${isSealed(sql`o.code`, "order", code)} ORDER BY t.position`)
  ).map(({ event }) => event);
const readable = (mail = "") =>
  mail.replaceAll(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));

test("the firm sees each signer's state, signs a test order by their links, and gets the signed document", async () => {
  const [jane, john] = [person("Jane"), person("John", { routing: 2 })];
  const code = await running.order([jane, john]);
  const link = await running.linkOf(jane.email);
  assert.deepEqual(await statuses(code), ["sent", "pending"]);
  const [first, second] = (await signersOf(code)).signers;
  assert.ok(first?.signingUrl?.endsWith(`/sign/${link.token}`));
  assert.equal(second?.signingUrl, null);
  await running.ceremony.opened(link, browser);
  assert.deepEqual(await statuses(code), ["viewed", "pending"]);
  await signBy(running.ceremony, link, "Jane");
  assert.equal((await statuses(code))[0], "signed");
  await signBy(running.ceremony, await running.linkOf(john.email), "John");
  const { signers, envelope } = await signersOf(code);
  assert.deepEqual([signers.map(({ status }) => status), envelope?.outcome], [["signed", "signed"], "Completed"]);

  const { documents } = await running.client.ok<Documents>("GET", path(code, "documents"));
  const kinds = documents.map(({ kind }) => kind);
  assert.deepEqual(kinds.slice(0, 2), ["original", "sealed"]);
  assert.ok(!kinds.includes("revision"));
  for (const { documentId, sha256, bytes } of documents) {
    const answer = await fetch(running.service.baseUrl + path(code, `documents/${documentId}`), {
      headers: running.headers,
    });
    const body = Buffer.from(await answer.arrayBuffer());
    assert.deepEqual([answer.status, body.length], [200, bytes]);
    assert.equal(createHash("sha256").update(body).digest("hex"), sha256);
    assert.match(answer.headers.get("content-disposition") ?? "", /^attachment/);
    assert.equal(answer.headers.get("cache-control"), "no-store");
  }
  const { documentId = "" } = documents[1] ?? {};
  assert.match(await stranger.refused(404, "GET", path(code, "signers")), /Order not found/);
  await stranger.refused(404, "GET", path(code, "documents"));
  await stranger.refused(404, "GET", path(code, `documents/${documentId}`));
  for (const other of ["sealed-0", "1", `original-${documentId.slice(-64)}`])
    await running.client.refused(404, "GET", path(code, `documents/${other}`));
});

test("before an envelope the order's own signers are shown, and nobody when signing was not bought", async () => {
  const code = await running.order([person("Jane"), person("John")], {}, undefined, { pay: false });
  assert.deepEqual(await statuses(code), ["pending", "pending"]);
  assert.match(
    await running.client.refused(409, "POST", path(code, "signers/1/remind")),
    /does not wait for signatures/,
  );
});

test("a signer is reminded once an hour, during their turn", async () => {
  const [jane, john] = [person("Jane", { language: "es" }), person("John", { routing: 2 })];
  const code = await running.order([jane, john]);
  await running.linkOf(jane.email);
  await running.client.ok("POST", path(code, "signers/1/remind"));
  assert.match(await running.client.refused(409, "POST", path(code, "signers/1/remind")), /within the last hour/);
  assert.match(await running.client.refused(409, "POST", path(code, "signers/2/remind")), /not this person's turn/);
  await running.client.refused(404, "POST", path(code, "signers/3/remind"));
  await running.client.refused(404, "POST", path(code, "signers/x/remind"));
  await stranger.refused(404, "POST", path(code, "signers/1/remind"));
  await until(() => running.mailsTo(jane.email).length === 2);
  const mail = readable(running.mailsTo(jane.email)[1]);
  assert.match(mail, /<html lang="es">/);
  assert.match(mail, /\/sign\/[0-9a-f]{40}/);
  assert.match(mail, /^From: .* via /m);
  assert.ok((await events(code)).includes("reminded"));
});

test("another person signs in a signer's place: the old link is invalid, and the order's room shows the new one", async () => {
  const [jane, john] = [person("Jane"), person("John")];
  const code = await running.order([jane, john]);
  const { roomCode } = await running.client.ok<{ roomCode: string }>("POST", "/api/rooms", { name: "Closing" });
  await running.client.ok("POST", `/api/rooms/${roomCode}/orders`, { orderCode: code });
  type View = { orders: { signers: { name: string; email: string; routingOrder: number; signed: boolean }[] }[] };
  const shown = async () => (await running.client.ok<View>("GET", `/api/rooms/${roomCode}`)).orders[0]?.signers;
  const old = await running.linkOf(jane.email);
  assert.deepEqual(
    (await shown())?.map(({ name }) => name),
    ["Jane", "John"],
  );

  const mary = person("Mary", { language: "es" });
  for (const [body, message] of [
    [{ name: "Mary" }, /signer.email is required/],
    [{ ...mary, email: "nobody" }, /email address/],
    [{ ...mary, auth: "access_code" }, /access_code is required/],
    [{ ...mary, routing: 2 }, /routing is not one of them/],
    [john, /another person/],
    [[], /must be an object/],
  ] as const)
    assert.match(await running.client.refused(400, "POST", path(code, "signers/1/replace"), body), message);
  await stranger.refused(404, "POST", path(code, "signers/1/replace"), mary);
  await running.client.ok("POST", path(code, "signers/1/replace"), mary);
  await assert.rejects(running.ceremony.view(old), { code: "not_found" });
  const told = await until(() =>
    running
      .mailsTo(jane.email)
      .map(readable)
      .find((mail) => /need not sign/.test(mail)),
  );
  assert.ok(!/\/sign\//.test(told), "who signs no more gets no link");
  assert.deepEqual(await shown(), [
    { name: "Mary", email: "m***@example.com", routingOrder: 1, signed: false },
    { name: "John", email: "j***@example.com", routingOrder: 1, signed: false },
  ]);
  await signBy(running.ceremony, await running.linkOf(mary.email), "Mary");
  assert.deepEqual(
    (await shown())?.map(({ signed }) => signed),
    [true, false],
  );
  assert.match(await running.client.refused(409, "POST", path(code, "signers/1/replace"), jane), /signed already/);
  const [order] = await running.db.query<{ name: string }>(sql`
    SELECT signers->0->>'name' AS name FROM orders WHERE ${isSealed(sql`code`, "order", code)}`);
  assert.equal(order?.name, "Mary", "an envelope issued anew goes to the same people");
});

test("a signer who signs while being replaced has either signed, or has an invalid link", async () => {
  for (let turn = 0; turn < 4; turn++) {
    const [jane, mary] = [person("Jane"), person("Mary")];
    const code = await running.order([jane, person("John")]);
    const link = await running.linkOf(jane.email);
    const [signed, replaced] = await Promise.allSettled([
      signBy(running.ceremony, link, "Jane"),
      new Promise((resolve) => setTimeout(resolve, turn * 25)).then(() =>
        running.client.call("POST", path(code, "signers/1/replace"), mary),
      ),
    ]);
    assert.equal(replaced.status, "fulfilled");
    const [first] = (await signersOf(code)).signers;
    const { status } = replaced.value;
    if (signed.status === "fulfilled") assert.deepEqual([status, first?.name, first?.status], [409, "Jane", "signed"]);
    else assert.deepEqual([status, first?.name, first?.status], [200, "Mary", "sent"]);
  }
});

test("a new link unlocks a locked one", async () => {
  const jane = person("Jane", { auth: "access_code", access_code: "Blue Heron" });
  const code = await running.order([jane]);
  const link = await running.linkOf(jane.email);
  assert.match(await running.client.refused(409, "POST", path(code, "signers/1/unlock")), /not locked/);
  for (let n = 0; n < 5; n++) await running.ceremony.identify(link, "wrong", browser);
  assert.deepEqual(await statuses(code), ["locked"]);
  assert.match(await running.client.refused(409, "POST", path(code, "signers/1/remind")), /Unlock it instead/);
  await running.client.ok("POST", path(code, "signers/1/unlock"));
  await assert.rejects(running.ceremony.view(link), { code: "not_found" });
  await until(() => running.mailsTo(jane.email).length === 2);
  const fresh = await running.linkOf(jane.email);
  assert.ok(await running.ceremony.identify(fresh, "Blue Heron", browser));
  assert.ok((await events(code)).includes("unlocked"));
});

test("the operator shows an envelope, voids it, and reissues it to the same people", async () => {
  const jane = person("Jane", { language: "es" });
  const code = await running.order([jane]);
  const old = await running.linkOf(jane.email);
  const { service } = running;
  await assert.rejects(service.cli("envelope", "void", code), /--reason/);
  await assert.rejects(service.cli("envelope", "show", "0".repeat(40)), /Order not found/);
  await service.cli("envelope", "reissue", code);
  await assert.rejects(running.ceremony.view(old), { code: "not_found" });
  await until(() => running.mailsTo(jane.email).length === 2);
  const link = await running.linkOf(jane.email);
  await service.cli("envelope", "void", code, "--reason", "wrong draft");
  assert.equal((await running.ceremony.view(link)).state, "voided");
  await assert.rejects(service.cli("envelope", "void", code, "--reason", "again"), /no envelope that is open/);
  await until(() => running.mailsTo(jane.email).some((mail) => readable(mail).includes("se retir")));
  await service.cli("envelope", "reissue", code);
  await until(async () => (await signersOf(code)).envelope?.outcome === null);
  await until(async () => (await running.linkOf(jane.email)).token !== link.token);
  await signBy(running.ceremony, await running.linkOf(jane.email), "Jane");
  type Shown = { signers: { status: string }[]; trail: { event: string }[] };
  const shown = (await service.cli("envelope", "show", code)) as unknown as Shown;
  assert.deepEqual(
    shown.signers.map(({ status }) => status),
    ["signed"],
  );
  assert.deepEqual(shown.trail.map(({ event }) => event).slice(0, 2), ["created", "link_issued"]);
  await assert.rejects(service.cli("envelope", "reissue", code), /cannot move/);
});

test("a member reminds and replaces signers on the order's page in the dashboard, and the client sees who signs", async () => {
  const { service } = running;
  const jane = person("Jane");
  const code = await running.order([jane, person("John", { routing: 2 })]);
  await running.linkOf(jane.email);
  const member = await newMember(service, `member-${unique++}@acme.example`, running.headers.Authorization.slice(7));
  const outsider = await newMember(service, `member-${unique++}@other.example`, anotherKey);
  const open = (path: string, { headers } = member) =>
    fetch(service.baseUrl + path, { headers: { ...headers, Accept: "text/html" } });
  const page = `/dashboard/orders/${code}`;
  const shown = await (await open(page)).text();
  assert.match(shown, /Asked to sign/);
  assert.match(shown, /Sign as Jane/);
  assert.match(shown, /Not asked yet/);
  const post = async (rest: string, fields: Record<string, string> = {}, { headers } = member) => {
    const answer = await postForm(service.baseUrl + page + rest, fields, { ...headers, Accept: "text/html" });
    return { status: answer.status, location: answer.headers.get("location"), text: await answer.text() };
  };
  assert.match((await post("/signers/1/remind")).location ?? "", /done=signer-reminded/);
  const again = await post("/signers/1/remind");
  assert.deepEqual([again.status, /within the last hour/.test(again.text)], [409, true]);
  const refused = await post("/signers/1/replace", { name: "Mary <Smith>", email: "nobody", auth: "" });
  assert.equal(refused.status, 400);
  assert.match(refused.text, /value="Mary &lt;Smith&gt;"/);
  assert.equal((await post("/signers/1/replace", person("Eve"), outsider)).status, 404);
  assert.match((await post("/signers/1/replace", person("Mary"))).location ?? "", /done=signer-replaced/);
  assert.equal((await signersOf(code)).signers[0]?.name, "Mary");

  const [original] = (await running.client.ok<Documents>("GET", path(code, "documents"))).documents;
  const file = await open(`${page}/documents/${original?.documentId}`);
  assert.deepEqual([file.status, file.headers.get("content-type")], [200, "application/pdf"]);
  assert.equal((await open(`${page}/documents/${original?.documentId}`, outsider)).status, 404);
  const ofClient = await (
    await fetch(`${service.baseUrl}/orders/${code}`, { headers: { Accept: "text/html" } })
  ).text();
  assert.match(ofClient, /Who signs[\s\S]*Mary/);
  assert.doesNotMatch(ofClient, /\/sign\/|open the signing link/, "nothing was sent for a test order");
});

test("mails are in the signer's language, and a reminder whose link's key is missing brings a new link", async () => {
  const [firm] = await running.db.query<{ partnerId: string }>(
    sql`SELECT partner_id AS "partnerId" FROM orders LIMIT 1`,
  );
  await chooseZone({ db: running.db, clock: () => new Date() }, firm?.partnerId ?? "", "Pacific/Honolulu");
  for (const [language, words] of [
    ["en", [/TEST: .*please sign/, /still waits/, /signed by everybody/]],
    ["es", [/TEST: .*firme/, /espera su firma/, /Todos han firmado/]],
  ] as const) {
    const jane = person("Jane", { language });
    const code = await running.order([jane], { external_reference: "FILE-1" });
    const old = await running.linkOf(jane.email);
    await running.client.ok("POST", path(code, "signers/1/remind"));
    await until(() => running.mailsTo(jane.email).length === 2);
    await changeSigners(running.db, sql`link_id = gen_random_uuid(), reminded_at = NULL`, sql`email = ${jane.email}`);
    await running.client.ok("POST", path(code, "signers/1/remind"));
    await until(async () => (await running.linkOf(jane.email)).token !== old.token);
    await signBy(running.ceremony, await running.linkOf(jane.email), "Jane");
    const mails = await until(() => {
      const found = running.mailsTo(jane.email).map(readable);
      return found.length === 4 ? found : undefined;
    });
    for (const mail of mails) {
      assert.ok(mail.includes(`<html lang="${language}">`));
      assert.match(mail, /^From: .* via /m);
    }
    const [hour] = mails.flatMap((mail) => / \d+:\d\d\s[AaPp]\.?\s?[Mm]\.?\sHST/.exec(mail) ?? []);
    assert.ok(hour, "the hour in the firm's zone, and the zone's name");
    assert.ok(
      mails.every((mail) => /(?:Hello|Hola) Jane/.test(mail)),
      "their name",
    );
    for (const word of words)
      assert.ok(
        mails.some((mail) => word.test(mail.replaceAll("_", " "))),
        String(word),
      );
  }
});
