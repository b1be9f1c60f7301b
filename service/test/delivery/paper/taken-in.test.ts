import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { readSealPurpose } from "@signsealship/evidence/seal";
import { databaseOfRunning } from "@signsealship/testing/database";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { testsNeeding } from "@signsealship/testing/tools/tools";
import { until } from "@signsealship/testing/until";
import { isSealed, sql } from "../../../src/kernel/platform/database/sql.ts";
import { download, textOf, type Version } from "../../closing/closing-passports/seal-room.ts";
import { browser, openCeremonyService, signBy } from "../../signing/envelopes/ceremony/ceremony-service.ts";

const { test, before, after } = testsNeeding("poppler");

let running: Awaited<ReturnType<typeof openCeremonyService>>;
let scan = "";
before(async () => {
  running = await openCeremonyService();
  scan = join(running.service.dataDir, "scan.pdf");
  writeFileSync(scan, makePdf({ pages: 2, text: "Scan" }));
});
after(() => running.close());

type Signers = { signers: { status: string; takenIn?: true; signedAt: string | null }[] };
type Documents = { documents: { documentId: string; kind: string; origin?: string }[] };
type Card = { signers: { signed: boolean }[]; takenIn?: true; evidenceBadge: string };

let unique = 1;
const person = (name: string) => ({ name, email: `${name.toLowerCase()}-${unique++}@example.com` });

/** An order with two signers in a room, and the order as its firm sees it. */
async function inRoom(more: Record<string, string> = {}) {
  const [jane, john] = [person("Jane"), person("John")];
  const code = await running.order([jane, john], more);
  const { roomCode } = await running.client.ok<{ roomCode: string }>("POST", "/api/rooms", { name: "Closing" });
  await running.client.ok("POST", `/api/rooms/${roomCode}/orders`, { orderCode: code });
  const path = `/api/partner/orders/${code}`;
  return {
    jane,
    code,
    async closingCertificate() {
      const { verifyCode } = await running.client.ok<Version>("POST", `/api/rooms/${roomCode}/passport`);
      return textOf(await download(running.service.baseUrl, verifyCode)).replace(/\s+/g, " ");
    },
    takeIn: (to: string) => running.service.cli("order", "move", code, to, "--document", scan),
    async seen() {
      const room = await running.client.ok<{ orders: Card[]; progress: { signed: number } }>(
        "GET",
        `/api/rooms/${roomCode}`,
      );
      const { signers } = await running.client.ok<Signers>("GET", `${path}/signers`);
      const { documents } = await running.client.ok<Documents>("GET", `${path}/documents`);
      return { card: room.orders[0], progress: room.progress, signers, documents };
    },
    async purposeOf({ documentId }: { documentId: string }) {
      const { baseUrl } = running.service;
      const answer = await fetch(`${baseUrl}${path}/documents/${documentId}`, { headers: running.headers });
      return readSealPurpose(new Uint8Array(await answer.arrayBuffer()));
    },
  };
}

const kindsOf = ({ documents }: Documents) => documents.map(({ kind, origin }) => [kind, origin ?? "here"]);

test("states where a document that an operator handed in is from, and never that people signed here", async () => {
  const { takeIn, seen, purposeOf } = await inRoom({ svc_notary: "true" });
  await takeIn("EsignComplete");
  const { card, progress, signers, ...documents } = await seen();
  assert.deepEqual([card?.takenIn, card?.evidenceBadge, progress.signed], [true, "sealed", 0]);
  assert.deepEqual(
    card?.signers.map(({ signed }) => signed),
    [false, false],
  );
  assert.deepEqual(
    signers.map(({ status, takenIn, signedAt }) => [status === "signed", takenIn, signedAt]),
    [
      [false, true, null],
      [false, true, null],
    ],
  );
  assert.deepEqual(kindsOf(documents), [
    ["original", "here"],
    ["sealed", "operator"],
  ]);
  const [, sealed] = documents.documents;
  assert.deepEqual(sealed && (await purposeOf(sealed)), { kind: "signed_elsewhere", environment: "test" });

  await takeIn("NotarizationComplete");
  const notarized = (await seen()).documents.find(({ kind }) => kind === "notarized");
  assert.equal(notarized?.origin, "operator");
  assert.deepEqual(notarized && (await purposeOf(notarized)), { kind: "notarized_elsewhere", environment: "test" });
});

test("shows no signature of a round that a handed-in document replaced, but names it in the closing certificate", async () => {
  const { jane, takeIn, seen, closingCertificate } = await inRoom();
  await signBy(running.ceremony, await running.linkOf(jane.email), "Jane");
  assert.doesNotMatch(await closingCertificate(), /taken in/);
  await takeIn("EsignComplete");
  assert.match(
    await closingCertificate(),
    /Jane, signed .*John: no signature on record.* Signed elsewhere, taken in by an operator\. The sealed file does not contain the signatures made here\./,
  );
  const { card, signers } = await until(async () => {
    const now = await seen();
    return now.signers.every(({ takenIn }) => takenIn) ? now : null;
  });
  assert.deepEqual(
    card?.signers.map(({ signed }) => signed),
    [false, false],
  );
  assert.deepEqual(
    signers.map(({ status, signedAt }) => [status, signedAt]),
    [
      ["pending", null],
      ["pending", null],
    ],
  );
});

test("shows no signature of the discarded round on the pages of its links", async () => {
  const [jane, john] = [person("Jane"), person("John")];
  const code = await running.order([jane, john]);
  const links = [await running.linkOf(jane.email), await running.linkOf(john.email)] as const;
  await signBy(running.ceremony, links[0], "Jane");
  await running.ceremony.decline(links[1], { kind: "paper", reason: "" }, browser);
  const hasSigned = async () => {
    const { signers, signedAt } = await running.ceremony.view(links[0]);
    return [...signers.map(({ signed }) => signed), signedAt !== null];
  };
  assert.deepEqual(await hasSigned(), [true, false, true]);
  await running.service.cli("order", "move", code, "EsignComplete", "--document", scan);
  assert.deepEqual(await hasSigned(), [false, false, false]);
  for (const { token } of links)
    assert.doesNotMatch(
      await (await fetch(`${running.service.baseUrl}/sign/${token}`)).text(),
      /has signed<|You signed/,
    );
});

test("accepts a scan after a signer asked for paper, and opens no other envelope", async () => {
  const jane = person("Jane");
  const code = await running.order([jane, person("John")]);
  const link = await running.linkOf(jane.email);
  await running.ceremony.decline(link, { kind: "paper", reason: "" }, browser);
  assert.equal((await running.ceremony.view(link)).signedElsewhere, false);
  await running.service.cli("order", "move", code, "EsignComplete", "--document", scan);
  const page = await (await fetch(`${running.service.baseUrl}/sign/${link.token}`)).text();
  assert.match(page, /The document was signed elsewhere/);
  assert.doesNotMatch(page, /You asked for paper|The signing has ended/);
  const { signers } = await running.client.ok<Signers>("GET", `/api/partner/orders/${code}/signers`);
  assert.deepEqual(
    signers.map(({ status, takenIn }) => [status, takenIn]),
    [
      ["declined", true],
      ["pending", true],
    ],
  );
  const envelopes = () =>
    running.db.query(sql`
      SELECT e.outcome FROM envelopes e JOIN orders o ON o.id = e.order_id
      WHERE ${isSealed(sql`o.code`, "order", code)}
        AND NOT EXISTS (SELECT FROM jobs j WHERE j.queue = 'envelope' AND (j.payload->>'orderId')::int = o.id)`);
  assert.deepEqual(await until(async () => (await envelopes()).length > 0 && envelopes()), [{ outcome: "Declined" }]);
});

test("shows people who signed a test order as signed, even if it was notarized elsewhere", async () => {
  const { code, takeIn, seen, closingCertificate } = await inRoom({ svc_notary: "true" });
  const advance = { event: "signature.completed" };
  await running.client.ok("POST", `/api/partner/sandbox/orders/${code}/advance`, advance);
  await takeIn("NotarizationComplete");
  const { card, signers, progress } = await seen();
  assert.deepEqual([card?.takenIn, progress.signed], [true, 1]);
  assert.deepEqual(
    card?.signers.map(({ signed }) => signed),
    signers.map(({ status }) => status === "signed"),
  );
  assert.match(await closingCertificate(), /Notarized elsewhere, taken in by an operator/);
});

test("leaves an order that the sandbox signs unchanged", async () => {
  const { code, seen, purposeOf } = await inRoom();
  const advance = { event: "signature.completed" };
  await running.client.ok("POST", `/api/partner/sandbox/orders/${code}/advance`, advance);
  const { card, progress, signers, ...documents } = await seen();
  assert.deepEqual([card?.takenIn, progress.signed], [undefined, 1]);
  assert.deepEqual(
    card?.signers.map(({ signed }) => signed),
    [true, true],
  );
  assert.deepEqual(
    signers.map(({ status, takenIn }) => [status, takenIn ?? false]),
    [
      ["signed", false],
      ["signed", false],
    ],
  );
  assert.deepEqual(kindsOf(documents), [
    ["original", "here"],
    ["sealed", "here"],
  ]);
  const [, sealed] = documents.documents;
  assert.deepEqual(sealed && (await purposeOf(sealed)), { kind: "signed", environment: "test" });
});

test("trusts only the order's own row, whatever its documents' rows say about who handed them in", async () => {
  const role = databaseOfRunning(running.service.dataDir);
  const [elsewhere, here] = [await running.order([person("Jane")]), await running.order([person("John")])];
  await running.service.cli("order", "move", elsewhere, "EsignComplete", "--document", scan);
  const advance = { event: "signature.completed" };
  await running.client.ok("POST", `/api/partner/sandbox/orders/${here}/advance`, advance);
  const originOf = (code: string, origin: string | null) =>
    role.query(sql`
      UPDATE documents SET origin = ${origin}
      WHERE kind = 'sealed' AND order_id = (SELECT id FROM orders WHERE ${isSealed(sql`code`, "order", code)})`);
  await originOf(elsewhere, null);
  await originOf(here, "operator");
  const documentsOf = (code: string) => `/api/partner/orders/${code}/documents`;
  const seen = async (code: string) => kindsOf(await running.client.ok<Documents>("GET", documentsOf(code))).at(-1);
  assert.deepEqual(
    [await seen(elsewhere), await seen(here)],
    [
      ["sealed", "operator"],
      ["sealed", "here"],
    ],
  );
  await role.query(sql`UPDATE orders SET taken_in = '{}' WHERE ${isSealed(sql`code`, "order", elsewhere)}`);
  const { status } = await running.client.call("GET", documentsOf(elsewhere));
  assert.equal(status, 503, "nor is the mark taken away");
  await role.close();
});

test("shows on the pages of client and room, and to the operator, that a document was handed in", async () => {
  const { code, takeIn } = await inRoom();
  await takeIn("EsignComplete");
  const { baseUrl } = running.service;
  const page = await (await fetch(`${baseUrl}/orders/${code}`)).text();
  assert.match(page, /The document has no signature made here: it was signed elsewhere and taken in/);
  assert.doesNotMatch(page, /Everyone has signed/);
  const shown = await running.service.cli<{ documents: { kind: string; origin: string | null }[] }>(
    "order",
    "show",
    code,
  );
  assert.deepEqual(
    shown.documents.map(({ kind, origin }) => [kind, origin]),
    [
      ["original", null],
      ["sealed", "operator"],
    ],
  );
});
