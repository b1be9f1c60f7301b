import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openHarness } from "@signsealship/testing/harness";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { authenticate, authenticateOrders } from "@signsealship/testing/row-mac";
import { newPartner, temporaryFolder } from "@signsealship/testing/service";
import { testsNeeding } from "@signsealship/testing/tools/tools";
import { until } from "@signsealship/testing/until";
import { unzipSync } from "fflate";
import { askPyHanko } from "../../../../../packages/evidence/test/pdf/changes/oracles/pyhanko-oracle.ts";
import type { Tx } from "../../../../src/kernel/platform/database/database.ts";
import { isSealed, sql } from "../../../../src/kernel/platform/database/sql.ts";
import { newUuid } from "../../../../src/kernel/platform/ids.ts";
import { openLog } from "../../../../src/kernel/platform/logs.ts";
import { lockOrder, transition } from "../../../../src/orders/order/order.ts";
import { openPkcs12 } from "../../../../src/pages/operator/browser/pkcs12.ts";
import { encodePng, notaryBlockOf } from "../../../../src/signing/envelopes/envelopes.ts";
import { followOrder } from "../../../../src/signing/envelopes/lifecycle/follow.ts";
import { findSigning } from "../../../../src/signing/envelopes/records/signing.ts";
import type { Act } from "../../../../src/signing/notaries/acts/act.ts";
import { currentSha256 } from "../../../../src/signing/notaries/claims/documents.ts";
import { saveAct } from "../../../../src/signing/notaries/claims/orders.ts";
import { sealFor } from "../../../../src/signing/notaries/commissions/seals.ts";
import { endCheck, insertCheck } from "../../../../src/signing/notaries/identity/store.ts";
import { addNotary, listNotaries, setNotary, sweepActs } from "../../../../src/signing/notaries/notaries.ts";
import { mutoolOpens, pdfsig, qpdfAccepts, run } from "../../../evidence/seals/pdf/oracles.ts";
import { mailsTo, newMember, postForm } from "../../../firms/members/signed-in-member.ts";
import { newOperator, newSession } from "../../../firms/operators/console-people.ts";
import { type Ink, inkIn, inkOn } from "../../envelopes/pdf/pixels.ts";
import { certificateFiles, password } from "../certificate-files.ts";
import { ohioCommission, ordersToNotarize } from "../orders-to-notarize.ts";
import { alertIn, notesAct, signsAsNotary } from "../signing/signs-as-notary.ts";

const { test, before, after } = testsNeeding("pyhanko", "poppler", "mupdf", "qpdf");

const folder = temporaryFolder();
const make = certificateFiles(folder.path);
const { pem, p12 } = make("Nora Ames", { key: "p256" });
const pin = "246810";

/** The shipped rules, changed to allow one more kind of act: witnessing a signature. */
function rulesWithWitnessing(): string {
  const file = join(folder.path, "rules.yaml");
  const shipped = readFileSync(new URL("../../../../data/notarization-rules.yaml", import.meta.url), "utf8");
  writeFileSync(file, shipped.replace("[acknowledgment, jurat, oath]", "[acknowledgment, jurat, oath, witnessing]"));
  return file;
}

let running: Awaited<ReturnType<typeof openHarness>>;
let partner: Awaited<ReturnType<typeof newPartner>>;
let nora: Awaited<ReturnType<typeof newOperator>>;
/** A member of the firm. */
let member: Awaited<ReturnType<typeof newMember>>;

before(async () => {
  running = await openHarness({ NOTARY_RULES: rulesWithWitnessing() });
  partner = await newPartner(running.service);
  member = await newMember(running.service, "agent@acme.example", partner.key);
  nora = await newOperator(running, { roles: ["notary"], environment: "test", passkey: false });
  const { ronRegistration: _, ronExpires: __, ...inPerson } = ohioCommission;
  const commission = { ...inPerson, commissionNumber: "2024-RE-1", certificate: pem };
  await addNotary({ db: running.db, clock: () => new Date() }, nora.id, commission, "operator");
});
after(async () => {
  await running.close();
  folder.remove();
});

const orders = () => ordersToNotarize(running, partner);
const statusOf = (code: string) => orders().statusOf(code);
const at = (path: string) => running.service.baseUrl + path;
const get = (path: string, cookie = nora.cookie) => fetch(at(path), { headers: { cookie }, redirect: "manual" });
const post = (path: string, fields: Record<string, string> = {}, cookie = nora.cookie) =>
  postForm(at(path), fields, { cookie });
const desk = (code: string, rest = "") => `/operator/notary/orders/${code}${rest}`;

/** A test order that the notary has claimed, after a new sign-in. */
async function claimed(fields: Record<string, string> = {}, document = makePdf({ text: "Deed" })): Promise<string> {
  nora = { ...nora, ...(await newSession(running, nora.id, { environment: "test", passkey: false })) };
  const code = await orders().place(fields, document);
  await orders().claim(code, nora.cookie);
  return code;
}

async function begun(act: string, fields: Record<string, string> = {}): Promise<string> {
  const code = await claimed(fields);
  const began = await post(desk(code, "/sheet"), { act, pin });
  assert.equal(began.status, 303, await began.text());
  return code;
}

const mark = (code: string, step: string, signer: number | null = 1, more: Record<string, string> = {}) =>
  post(desk(code, "/sheet/mark"), { step, ...(signer && { signer: String(signer) }), ...more });
const identity = (n = 1) => ({
  [`principal_${n}_basis`]: "personal_knowledge",
  [`principal_${n}_name`]: "x",
  [`principal_${n}_address`]: "1 Main Street",
});

async function marked(...marks: Parameters<typeof mark>[]): Promise<void> {
  for (const each of marks) {
    const answer = await mark(...each);
    assert.equal(answer.status, 303, `${each[1]}: ${await answer.text()}`);
  }
}

/** Hands the device to the signer. @returns the path of the signing pages */
async function handedOver(code: string): Promise<string> {
  const answer = await post(desk(code, "/sheet/hand-over"));
  assert.equal(answer.status, 303, await answer.text());
  return answer.headers.get("location") ?? "";
}

const back = (typed = pin) => post("/handed-over", { pin: typed });

/** Consents as a browser without JavaScript does. */
async function consents(path: string): Promise<void> {
  const page = await (await get(path, "")).text();
  const value = (name: string) => new RegExp(`name="${name}"[^>]*? value="([^"]*)"`).exec(page)?.[1] ?? "";
  const given = { version: value("version"), language: value("language"), can_read: "on" };
  assert.equal((await post(`${path}/consent`, given, "")).status, 303);
}

async function signs(path: string): Promise<Response> {
  const page = await (await get(path, "")).text();
  const revision = /name="revision" value="(\d+)"/.exec(page)?.[1] ?? "1";
  return post(`${path}/sign`, { revision, name: "Jane Doe" }, "");
}

const asked = (code: string): Parameters<typeof mark>[] => [
  [code, "alone", 1, { choice: "alone" }],
  [code, "willing"],
];
const toRead = (code: string) =>
  marked([code, "open", null], [code, "appear"], [code, "identify", 1, identity()], ...asked(code));

async function noted(code: string, more: Record<string, string> = {}): Promise<void> {
  // The answer is ignored. In some tests the service rejects this mark, for example because an earlier step is still
  // open.
  await mark(code, "close", null);
  await notesAct({ get, post }, code, more);
}

const today = () =>
  `${new Intl.DateTimeFormat("en-US", { dateStyle: "long", timeZone: "UTC" }).format(new Date())} (UTC)`;

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");

const notarySigns = (code: string) => signsAsNotary({ get, post }, code, p12);

/** A red ring on white, like the seals of notaries. */
function ring(side: number): Buffer {
  const rgba = new Uint8Array(side * side * 4).fill(255);
  for (let i = 0; i < side * side; i++) {
    const from = Math.hypot((i % side) - side / 2, Math.floor(i / side) - side / 2);
    if (from < side / 2 && from > side / 3) rgba.set([200, 0, 0], 4 * i);
  }
  return encodePng({ width: side, height: side, rgba });
}

const redInk: Ink = (r, g, b) => r > 150 && g < 90 && b < 90;

async function notaryId(): Promise<string> {
  return (await listNotaries(running.db)).find(({ operatorId }) => operatorId === nora.id)?.id ?? "";
}

/** Uploads a picture of the notary's seal as an administrator. */
async function addsSeal(bytes: Buffer, cookie: string): Promise<Response> {
  const body = new FormData();
  body.append("document", new Blob([new Uint8Array(bytes)]), "seal.png");
  const headers = { cookie, Origin: running.service.baseUrl, Accept: "text/html" };
  const path = at(`/operator/notaries/${await notaryId()}/seal`);
  return fetch(path, { method: "POST", redirect: "manual", headers, body });
}

async function confirmsSeal(cookie: string): Promise<Response> {
  const page = await (await get(`/operator/notaries/${await notaryId()}`, cookie)).text();
  const value = (name: string) =>
    (new RegExp(`name="${name}" value="([^"]*)"`).exec(page)?.[1] ?? "").replaceAll("&quot;", '"');
  return post(
    `/operator/notaries/${await notaryId()}/seal/confirm`,
    { seal: value("seal"), shown: value("shown") },
    cookie,
  );
}

test("a picture of a seal counts once it was compared with the commission, and no longer after the commission has changed", async () => {
  const admin = await newOperator(running, { roles: ["admin"] });
  const now = async () => {
    const notary = (await listNotaries(running.db)).find(({ operatorId }) => operatorId === nora.id);
    assert.ok(notary);
    return sealFor(running.db, notary);
  };
  for (const bytes of [Buffer.from("<svg onload=alert(1)>"), Buffer.from("%PDF-1.7"), ring(400).subarray(0, 900)])
    assert.equal((await addsSeal(bytes, admin.cookie)).status, 400);
  assert.equal((await addsSeal(ring(400), admin.cookie)).status, 303);
  assert.equal(await now(), null);
  const stale = { seal: "00000000-0000-4000-8000-000000000000", shown: "[]" };
  assert.equal((await post(`/operator/notaries/${await notaryId()}/seal/confirm`, stale, admin.cookie)).status, 409);
  assert.equal((await confirmsSeal(nora.cookie)).status, 403);
  assert.equal((await confirmsSeal(admin.cookie)).status, 303);
  const drawn = await now();
  assert.ok(drawn && drawn.length < 200_000 && !drawn.equals(ring(400)), "it was made to fit, and encoded again");
  const keeping = { db: running.db, clock: () => new Date() };
  await setNotary(keeping, await notaryId(), { commissionExpires: "2041-01-31" }, "operator");
  assert.equal(await now(), null);
  await setNotary(keeping, await notaryId(), { commissionExpires: "2040-01-31" }, "operator");
  assert.ok(await now());
  await running.db.query(sql`UPDATE notary_seals SET confirmed_by = 'operator:eve'`);
  await assert.rejects(now(), /not what the service wrote/);
  await running.db.query(sql`UPDATE notary_seals SET confirmed_by = ${`operator:${admin.id}`}`);
  assert.ok(await now());
});

test("a jurat in person: reading, oath, signature, the notary's signature; readers accept every signature and the seal", async () => {
  const code = await begun("jurat");
  await toRead(code);
  const reading = await handedOver(code);
  await consents(reading);
  assert.match(await (await get(reading, "")).text(), /The notary’s step comes next/);
  const early = await signs(reading);
  assert.equal(early.status, 409);
  assert.match(await early.text(), /something changed in the meantime/);
  assert.equal((await back()).headers.get("location"), desk(code, "/sheet"));
  assert.equal((await get(reading, "")).status, 404);
  await marked([code, "oath", 1, { choice: "affirmation" }]);
  const signing = await handedOver(code);
  const signed = await signs(signing);
  assert.equal(signed.status, 303, await signed.text());
  await back();
  await noted(code);
  const { lines, hasSeal } = await notarySigns(code);
  assert.ok(
    lines.some((line) => line.includes("in my physical presence")),
    lines.join("\n"),
  );
  assert.equal(await statusOf(code), "NotarizationComplete");
  const file = await orders().notarized(code);
  const path = join(folder.path, "jurat.pdf");
  writeFileSync(path, file);
  const [judged] = askPyHanko([{ judge: file }]);
  assert.deepEqual(
    judged?.signatures?.map(({ permitted }) => permitted),
    [true, true, true],
    JSON.stringify(judged),
  );
  assert.deepEqual(
    (await pdfsig(path)).map(({ valid }) => valid),
    [true, true, true],
  );
  assert.ok((await qpdfAccepts(path)) && (await mutoolOpens(path)));
  assert.ok(
    lines.includes(`Sworn to or affirmed and subscribed before me by Jane Doe this date of ${today()}.`),
    lines.join(),
  );
  // The notary's block shows the picture of the notary's seal that the previous test confirmed. Two PDF readers render
  // it.
  assert.equal(hasSeal, true);
  const added = join(folder.path, "jurat-page-2.pdf");
  await run("mutool", ["clean", path, added, "2"]);
  const [red, black] = [await inkOn(added, redInk), await inkOn(added, (r, g, b) => Math.max(r, g, b) < 70)];
  assert.ok(red[2] - red[0] > 60 && red[2] - red[0] < 90, JSON.stringify(red));
  assert.ok(red[0] > black[0], "the seal is to the right of the words");
  const page = { x: 0, y: 0, width: 612, height: 792 };
  const { mutool, poppler } = await inkIn(added, redInk, page);
  assert.ok(mutool > 1_000 && poppler > 1_000, `${mutool} ${poppler}`);
});

/**
 * Performs all steps of a jurat in the notary's presence, except the notary's own signature. @returns the order's code
 */
async function actOf(signer: { name: string; email: string }): Promise<string> {
  const code = await begun("jurat", { signers: JSON.stringify([signer]), email: "ida-client@example.com" });
  await toRead(code);
  await consents(await handedOver(code));
  await back();
  await marked([code, "oath", 1, { choice: "affirmation" }]);
  assert.equal((await signs(await handedOver(code))).status, 303);
  await back();
  await noted(code, { principal_1_name: signer.name });
  return code;
}

/** Waits until no job can mail anybody about a notarized document. Delayed jobs are run at once. */
async function mailsAreSent(): Promise<void> {
  const queues = sql`queue = ANY ('{notarized,notarized-notice,signing-mail}')`;
  await until(async () => {
    await running.db.query(
      sql`UPDATE jobs SET due_at = now() WHERE ${queues} AND due_at > now() + interval '40 seconds'`,
    );
    return (await running.db.query(sql`SELECT FROM jobs WHERE ${queues}`)).length === 0;
  });
}

const notarizedMails = (email: string) =>
  mailsTo(running.service, email).filter((mail) => mail.includes("is notarized"));

test("a person who signed only before the notary is told without a link, because nobody has tried their address", async () => {
  const email = "una@example.com";
  await notarySigns(await actOf({ name: "Una Roe", email }));
  await mailsAreSent();
  const [mail, ...more] = notarizedMails(email);
  assert.match(mail ?? "", /To get your copy, ask /);
  assert.doesNotMatch(mail ?? "", /\/sign\//);
  assert.deepEqual([more, notarizedMails("ida-client@example.com")], [[], []]);
});

/**
 * Marks all open envelopes as signed in a meeting with the notary by audio and video. Each signer's email address then
 * counts as proved, as if by a mailed code.
 */
async function byAudioAndVideo(): Promise<void> {
  await running.db.query(sql`
    UPDATE envelope_rooms r SET block = block || '{"isRemote": true}' FROM envelopes e WHERE e.id = r.envelope_id AND e.ended_at IS NULL`);
  await authenticate(running, "envelope_rooms");
}

test("a person who met the notary by audio and video gets one link for the documents of a closing", async () => {
  const email = "ida@example.com";
  const signer = { name: "Ida Roe", email };
  const codes = [await actOf(signer), await actOf(signer)];
  const [first = "", second = ""] = codes;
  await byAudioAndVideo();
  const room = await closingWith(first);
  await asFirm("POST", `/api/rooms/${room}/orders`, { orderCode: second });
  await notarySigns(first);
  const [job] = await until(async () => {
    const waiting = await running.db.query<{ seconds: number }>(sql`
      SELECT extract(epoch FROM due_at - now())::int AS seconds FROM jobs
      WHERE queue = 'signing-mail' AND payload ->> 'moment' = 'notarized' AND due_at > now() + interval '40 seconds'`);
    return waiting.length > 0 ? waiting : null;
  });
  assert.ok((job?.seconds ?? 0) > 0, "the mail waits for the other document");
  assert.deepEqual(notarizedMails(email), []);
  await notarySigns(second);
  await mailsAreSent();
  const [mail, ...more] = notarizedMails(email);
  assert.match(mail ?? "", /12 Elm Street \(2 documents\) is notarized/);
  assert.deepEqual(more, []);
  const path = /\/sign\/[0-9a-f]{40}/.exec(mail ?? "")?.[0] ?? "";
  const page = await (await get(`${path}/2`, "")).text();
  assert.match(page, /Save the notarized document/);
  assert.doesNotMatch(page, /If there is another step|id="sign-button"/);
  for (const [index, code] of codes.entries()) {
    const copy = await get(`${path}/${index + 1}/notarized.pdf?save=1`, "");
    assert.deepEqual(Buffer.from(await copy.arrayBuffer()), await orders().notarized(code));
  }
  assert.deepEqual(notarizedMails("ida-client@example.com"), []);
  const topics = await running.db.query<{ topic: string }>(sql`
    SELECT v.topic FROM events v JOIN orders o ON o.id = v.order_id WHERE ${isSealed(sql`o.code`, "order", first)}`);
  assert.deepEqual(
    topics.filter(({ topic }) => topic === "signature.requested"),
    [],
  );
  // The job may run again after a crash, without a second mail to anybody.
  await running.db.query(sql`
    SELECT enqueue_job('notarized', jsonb_build_object('orderId', o.id), now()) FROM orders o
    WHERE ${isSealed(sql`o.code`, "order", first)}`);
  await mailsAreSent();
  assert.equal(notarizedMails(email).length, 1);
  // The firm ends the link to one of the documents. The link to the other one stays valid.
  const orderPath = `/dashboard/orders/${first}`;
  assert.match(
    await (await get(orderPath, member.cookie)).text(),
    /Links to the copies.*ida@example\.com.*End the link/s,
  );
  const stranger = await newPartner(running.service);
  const other = await newMember(running.service, "stranger@other.example", stranger.key);
  const foreign = `/dashboard/orders/${second}/copy-links/1/end`;
  assert.equal((await post(foreign, { attempt: "1" }, other.cookie)).status, 404);
  assert.equal((await get(`${path}/2`, "")).status, 200);
  const ends = () => post(`${orderPath}/copy-links/1/end`, { attempt: "1" }, member.cookie);
  assert.equal((await ends()).status, 303);
  for (const n of [1, 2]) assert.equal((await get(`${path}/${n}`, "")).status, 404);
  for (const code of codes)
    assert.doesNotMatch(await (await get(`/dashboard/orders/${code}`, member.cookie)).text(), /Links to the copies/);
  assert.equal((await ends()).status, 404, "it was ended already");
});

test("a copy that goes to a corrected address shares no link with one that goes to the earlier address", async () => {
  const [email, right] = ["ivy@example.com", "ivy@right.example"];
  const [first, second] = [await actOf({ name: "Ivy Roe", email }), await actOf({ name: "Ivy Roe", email })];
  await byAudioAndVideo();
  const room = await closingWith(first);
  await notarySigns(first);
  await mailsAreSent();
  const corrected = await post(`/dashboard/rooms/${room}/addresses`, { from: email, to: right }, member.cookie);
  assert.equal(corrected.status, 303);
  await asFirm("POST", `/api/rooms/${room}/orders`, { orderCode: second });
  await notarySigns(second);
  await mailsAreSent();
  assert.equal(notarizedMails(right).length, 1);
  assert.deepEqual(
    [...notarizedMails(email), ...notarizedMails(right)].filter((mail) => mail.includes("2 documents")),
    [],
  );
  await asFirm("POST", `/api/rooms/${room}/close`);
});

type InManifest = Record<
  "originalSha256" | "sealedSha256" | "custodyCertSha256" | "notarizedSha256" | "envelopeVerifyCode",
  string | undefined
>;

const asFirm = async <T>(method: string, path: string, body?: object): Promise<T> => {
  const headers = { ...partner.headers, ...(body && { "Content-Type": "application/json" }) };
  const answer = await fetch(at(path), { method, headers, ...(body && { body: JSON.stringify(body) }) });
  assert.ok(answer.ok, `${path}: ${await answer.clone().text()}`);
  return (await answer.json()) as T;
};

/** A room with this order. @returns its code */
async function closingWith(orderCode: string): Promise<string> {
  const { roomCode } = await asFirm<{ roomCode: string }>("POST", "/api/rooms", { name: "12 Elm Street" });
  await asFirm("POST", `/api/rooms/${roomCode}/orders`, { orderCode });
  return roomCode;
}

/** Seals a new version of the room's closing passport. @returns the room's order in the version's manifest */
async function manifestIn(room: string): Promise<InManifest | undefined> {
  const { verifyCode } = await asFirm<{ verifyCode: string }>("POST", `/api/rooms/${room}/passport`);
  const { manifest } = await asFirm<{ manifest: { documents: InManifest[] } }>("GET", `/api/verify/room/${verifyCode}`);
  return manifest.documents[0];
}

/** The files of a closing's zip, without log proofs and anchors, and the text of its README. */
async function zipOf(room: string): Promise<{ files: { kind: string; sha256: string }[]; readme: string }> {
  const answer = await fetch(at(`/dashboard/rooms/${room}/zip`), { headers: member.headers });
  assert.equal(answer.status, 200);
  const entries = Object.entries(unzipSync(new Uint8Array(await answer.arrayBuffer())));
  const textOf = (name: string) =>
    Buffer.from(entries.find(([path]) => path.endsWith(`/${name}`))?.[1] ?? []).toString();
  const { files } = JSON.parse(textOf("contents.json")) as { files: { kind: string; sha256: string }[] };
  return { files: files.filter(({ kind }) => kind !== "tlog-proof" && kind !== "ots"), readme: textOf("README.txt") };
}

/** An order that was signed at home, and that the notary has claimed since. */
async function claimedSigned(email: string): Promise<string> {
  nora = { ...nora, ...(await newSession(running, nora.id, { environment: "test", passkey: false })) };
  const code = await orders().place({ email, svc_sign: "true" });
  await orders().signsAtHome(email);
  await orders().reachesNotary(code);
  await orders().claim(code, nora.cookie);
  return code;
}

/** The kinds of the copies that a signer can save from the page to which the mailed link leads. */
async function copiesFor(email: string): Promise<string[]> {
  const [path = ""] = mailsTo(running.service, email).flatMap((mail) => /\/sign\/[0-9a-f]{40}/.exec(mail)?.[0] ?? []);
  const answer = await fetch(at(path));
  assert.equal(answer.status, 200);
  return [...(await answer.text()).matchAll(/\/([a-z_]+)\.pdf\?save=1"/g)].map(([, kind = ""]) => kind);
}

for (const [act, words] of [
  ["jurat", /^Sworn to or affirmed and subscribed before me by Jane Doe this date of /],
  ["witnessing", /Jane Doe/],
] as const)
  test(`a document that was signed before is signed again for an act of the kind ${act}, and the journal says so`, async () => {
    const { db } = running;
    const code = await claimedSigned(`${act}@example.com`);
    assert.match(await (await get(desk(code))).text(), /everybody signs the original document again before you/);
    const [order] = await db.query<{ id: number; sealed: string; original: string }>(sql`
      SELECT o.id, max(d.sha256) FILTER (WHERE d.kind = 'sealed') AS sealed,
        max(d.sha256) FILTER (WHERE d.kind = 'original') AS original
      FROM orders o JOIN documents d ON d.order_id = o.id WHERE ${isSealed(sql`o.code`, "order", code)} GROUP BY o.id`);
    assert.ok(order);
    const reserved = await notaryBlockOf(db, order.id);
    const signingOf = async () => (await findSigning(db, code, null))?.envelope;
    const signedOf = async () => (await signingOf())?.outcome;
    const room = await closingWith(code);
    const atHome = await manifestIn(room);
    assert.equal(atHome?.sealedSha256, order.sealed);
    assert.ok(reserved);

    // Until the notary signs, the earlier signatures and the document with them are valid.
    assert.equal((await post(desk(code, "/sheet"), { act, pin })).status, 303);
    assert.equal(await signedOf(), "Completed");
    assert.deepEqual(await manifestIn(room), atHome);
    assert.equal((await post(desk(code, "/sheet/end"))).status, 303);
    assert.deepEqual([await notaryBlockOf(db, order.id), await signedOf()], [reserved, "Completed"]);
    assert.equal(await currentSha256(db, order.id), order.sealed);

    assert.equal((await post(desk(code, "/sheet"), { act, pin })).status, 303);
    await toRead(code);
    const reading = await handedOver(code);
    await consents(reading);
    if (act === "jurat") {
      assert.equal((await signs(reading)).status, 409, "not before the oath");
      await back();
      await marked([code, "oath", 1, { choice: "oath" }]);
      assert.equal((await signs(await handedOver(code))).status, 303);
    } else assert.equal((await signs(reading)).status, 303);
    await back();
    await noted(code);
    const { lines } = await notarySigns(code);
    assert.ok(
      lines.some((line) => words.test(line)),
      lines.join("\n"),
    );
    assert.equal(await statusOf(code), "NotarizationComplete");
    const file = await orders().notarized(code);
    const path = join(folder.path, `again-${act}.pdf`);
    writeFileSync(path, file);
    // The file has three signatures: the signer's in this act, the notary's, and the seal. It does not have the
    // signature that was made at home.
    assert.deepEqual(
      (await pdfsig(path)).map(({ valid }) => valid),
      [true, true, true],
    );
    const [entry] = await db.query<{ record: string }>(
      sql`SELECT record FROM notary_journal ORDER BY position DESC LIMIT 1`,
    );
    const { act: entered } = JSON.parse(entry?.record ?? "") as { act: Act };
    assert.deepEqual([entered.act, entered.signedBefore], [act, { sha256: order.sealed }]);
    assert.match(entered.notes ?? "", /Signed again before me/);

    // After the act, the closing passport names only the act's envelope. It leaves out the earlier sealed document,
    // which has other signatures.
    assert.deepEqual([(await signingOf())?.attempt, await signedOf()], [3, "Completed"]);
    const closed = await manifestIn(room);
    assert.equal(closed?.envelopeVerifyCode, (await signingOf())?.verifyCode);
    assert.notEqual(closed?.envelopeVerifyCode, atHome?.envelopeVerifyCode);
    assert.deepEqual(
      [closed?.originalSha256, closed?.sealedSha256, closed?.custodyCertSha256, closed?.notarizedSha256],
      [order.original, undefined, undefined, hash("sha256", file)],
    );
    assert.deepEqual(await copiesFor(`${act}@example.com`), ["notarized"]);
    // The zip also omits the earlier signed document, so that nobody mistakes it for the notarized one.
    const { files, readme } = await zipOf(room);
    assert.deepEqual(
      files.map(({ kind, sha256 }) => [kind, sha256]),
      [
        ["notarized", hash("sha256", file)],
        ["closing_certificate", files[1]?.sha256],
      ],
    );
    assert.doesNotMatch(readme, /custody certificate of a notarized document/);
  });

/** Leaves a prepared document without an open run sheet, as if the service was killed before it stored the sheet. */
async function preparedAlone(code: string): Promise<void> {
  assert.equal((await post(desk(code, "/sheet"), { act: "jurat", pin })).status, 303);
  assert.equal((await post(desk(code, "/sheet/end"))).status, 303);
  await running.db.query(sql`
    UPDATE envelopes SET outcome = NULL, ended_at = NULL
    WHERE outcome = 'Voided' AND order_id = (SELECT o.id FROM orders o WHERE ${isSealed(sql`o.code`, "order", code)})`);
  await authenticate(running, "envelopes");
}

const minute = (msAgo: number) => new Date(Date.now() - msAgo).toISOString().slice(0, 16);

/** An act in person, as the form without a run sheet sends it. */
const withoutSheet = (act: string) => ({
  act,
  mode: "ipen",
  document: "Deed",
  venue_state: "OH",
  venue_county: "Franklin",
  fee: "5.00",
  started_at: minute(60_000),
  ended_at: minute(0),
  ...identity(),
  principal_1_name: "Jane Doe",
});

const outcomes = async (code: string) => (await outcomesOf(code)).map(({ outcome }) => outcome);

test("a document that was prepared for an act that never began is not notarized in place of the signed one", async () => {
  const code = await claimedSigned("prepared-alone@example.com");
  const [order] = await running.db.query<{ id: number; sealed: string }>(sql`
    SELECT o.id, d.sha256 AS sealed FROM orders o JOIN documents d ON d.order_id = o.id AND d.kind = 'sealed'
    WHERE ${isSealed(sql`o.code`, "order", code)}`);
  assert.ok(order);
  await preparedAlone(code);
  assert.equal(await currentSha256(running.db, order.id), order.sealed);
  const saved = await post(desk(code, "/act"), withoutSheet("acknowledgment"));
  assert.equal(saved.status, 303, await alertIn(saved));
  await notarySigns(code);
  assert.equal(await statusOf(code), "NotarizationComplete");
  const path = join(folder.path, "prepared-alone.pdf");
  writeFileSync(path, await orders().notarized(code));
  // The four signatures in order: the signer's, the service's seal on it, the notary's, and the service's last seal.
  assert.deepEqual(
    (await pdfsig(path)).map(({ valid }) => valid),
    [true, true, true, true],
  );
  assert.deepEqual((await outcomes(code)).sort(), ["Completed", "Voided"]);
});

test("the release of an order discards a document that was prepared for an act that never began", async () => {
  const code = await claimed();
  await preparedAlone(code);
  assert.deepEqual(await outcomes(code), [null]);
  assert.equal((await post(desk(code, "/release"))).status, 303);
  assert.deepEqual(await outcomes(code), ["Voided"]);
});

test("an act that can't be opened leaves no prepared document", async () => {
  const code = await claimed();
  const { db } = running;
  await db.transaction((tx) =>
    tx.script(`CREATE FUNCTION refuse_sheet() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no sheet'; END $$;
      CREATE TRIGGER refuse_sheet BEFORE INSERT ON notary_sheets FOR EACH ROW EXECUTE FUNCTION refuse_sheet()`),
  );
  try {
    assert.equal((await post(desk(code, "/sheet"), { act: "jurat", pin })).status, 500);
  } finally {
    await db.transaction((tx) => tx.script("DROP FUNCTION refuse_sheet() CASCADE"));
  }
  assert.deepEqual(await outcomes(code), ["Voided"]);
  assert.equal((await post(desk(code, "/sheet"), { act: "jurat", pin })).status, 303);
});

for (const act of ["jurat", "witnessing"])
  test(`without a run sheet, an act of the kind ${act} is refused for a document that was signed before`, async () => {
    const code = await claimedSigned(`no-sheet-${act}@example.com`);
    const refused = await post(desk(code, "/act"), withoutSheet(act));
    assert.equal(refused.status, 409);
    assert.match(
      await alertIn(refused),
      /was signed before.*In person, on this device.*or print the document, have everybody sign the print again/,
    );
    // Notes an act that is allowed, and then changes its kind in the database. The result is like an act that was noted
    // before the document was signed, or with a run sheet that has ended.
    assert.equal((await post(desk(code, "/act"), withoutSheet("acknowledgment"))).status, 303);
    const [draft] = await running.db.query<{ taskId: number; notaryId: string; act: Act }>(sql`
      SELECT task_id AS "taskId", notary_id AS "notaryId", act FROM notary_drafts ORDER BY updated_at DESC LIMIT 1`);
    assert.ok(draft);
    await saveAct(running.db, draft.taskId, draft.notaryId, { ...draft.act, act }, new Date());
    const key = await openPkcs12(p12, password);
    const prepared = await post(desk(code, "/sign/prepare"), { certificate: base64(key.certificate.der) });
    assert.match(JSON.stringify(await prepared.json()), /was signed before.*In person, on this device/);
  });

/** Uploads a scan of paper as the notary, and confirms the report about it. */
async function uploadsScan(code: string): Promise<Response> {
  const upload = (step: string, fields: Record<string, string>) => {
    const body = new FormData();
    for (const [name, value] of Object.entries(fields)) body.append(name, value);
    body.append(
      "document",
      new Blob([new Uint8Array(makePdf({ text: "Scan" }))], { type: "application/pdf" }),
      "d.pdf",
    );
    const headers = { cookie: nora.cookie, Origin: running.service.baseUrl, Accept: "text/html" };
    return fetch(at(desk(code, step)), { method: "POST", redirect: "manual", headers, body });
  };
  const report = await (await upload("/check", {})).text();
  const value = (name: string) => new RegExp(`name="${name}"[^>]*? value="([^"]*)"`).exec(report)?.[1] ?? "";
  return upload("/complete", { sha256: value("sha256"), actSha256: value("actSha256"), warnings: value("warnings") });
}

test("on paper, a jurat of a document that was signed before counts once the notary states that everybody signed the print again", async () => {
  const code = await claimedSigned("on-paper@example.com");
  const [order] = await running.db.query<{ sealed: string }>(sql`
    SELECT d.sha256 AS sealed FROM orders o JOIN documents d ON d.order_id = o.id AND d.kind = 'sealed'
    WHERE ${isSealed(sql`o.code`, "order", code)}`);
  assert.match(await (await get(desk(code))).text(), /Everybody signed the print again, before me/);
  assert.equal((await post(desk(code, "/in-person"), { reason: "The signer comes to my office." })).status, 303);
  await asFirm("POST", `/api/partner/orders/${code}/in-person`, { agrees: true });
  const paper = (act: string) => ({ ...withoutSheet(act), mode: "ink" });
  const refused = await post(desk(code, "/act"), paper("jurat"));
  assert.equal(refused.status, 409);
  assert.match(await alertIn(refused), /sign the print again before you, and tick that/);
  // An electronic document can't be signed again without a run sheet, whatever the form contains.
  assert.equal((await post(desk(code, "/act"), { ...withoutSheet("jurat"), signed_again: "on" })).status, 409);
  const noted = await post(desk(code, "/act"), { ...paper("jurat"), signed_again: "on" });
  assert.equal(noted.status, 303, await alertIn(noted));
  assert.match(await (await get(desk(code))).text(), /name="signed_again"[^>]* checked/);
  const done = await uploadsScan(code);
  assert.equal(done.status, 303, await alertIn(done));
  assert.equal(await statusOf(code), "NotarizationComplete");
  const [{ record, position } = { record: "", position: 0 }] = await running.db.query<{
    record: string;
    position: number;
  }>(sql`SELECT record, position FROM notary_journal ORDER BY position DESC LIMIT 1`);
  const { act, document } = JSON.parse(record) as { act: Act; document: { isPaper: boolean } };
  assert.deepEqual(await copiesFor("on-paper@example.com"), ["notarized"], "the signed copy counts no more");
  assert.deepEqual([act.act, act.signedBefore, document.isPaper], ["jurat", { sha256: order?.sealed }, true]);
  const room = await closingWith(code);
  const { files, readme } = await zipOf(room);
  assert.deepEqual(
    files.map(({ kind }) => kind),
    ["notarized"],
  );
  assert.doesNotMatch(readme, /signed file that it/);
  const { sealedSha256, notarizedSha256, envelopeVerifyCode } = (await manifestIn(room)) ?? {};
  assert.deepEqual([sealedSha256, envelopeVerifyCode], [undefined, undefined], "the earlier signing does not count");
  assert.equal(notarizedSha256, files[0]?.sha256);

  const zip = async () => (await fetch(at(`/dashboard/rooms/${room}/zip`), { headers: member.headers })).status;
  const replace = (from: string, to: string) =>
    running.db.transaction(async (tx) => {
      await tx.query(sql`ALTER TABLE notary_journal DISABLE TRIGGER notary_journal_append_only`);
      await tx.query(sql`
        UPDATE notary_journal SET record = replace(record, ${from}, ${to}) WHERE position = ${position} AND record LIKE '%"signedBefore"%'`);
      await tx.query(sql`ALTER TABLE notary_journal ENABLE TRIGGER notary_journal_append_only`);
    });
  await replace('"jurat"', '"oath"');
  assert.equal(await zip(), 503, "an altered entry decides nothing");
  assert.deepEqual(await copiesFor("on-paper@example.com"), ["notarized"], "the signer's page still opens");
  await replace('"oath"', '"jurat"');
  assert.equal(await zip(), 200);
  const page = await (await fetch(at(`/dashboard/orders/${code}`), { headers: member.headers })).text();
  assert.equal(page.match(/An earlier version: the notarized document is the one that counts/g)?.length, 1);
});

test("no closing takes a signing before a notary from rows that were inserted or altered in the database", async () => {
  const { db } = running;
  const code = await claimedSigned("planted-room@example.com");
  const room = await closingWith(code);
  await manifestIn(room);
  const answers = async () => [
    (await fetch(at(`/dashboard/rooms/${room}/zip`), { headers: member.headers })).status,
    (await fetch(at(`/dashboard/rooms/${room}`), { headers: member.headers })).status,
    (await fetch(at(`/api/rooms/${room}/passport`), { method: "POST", headers: partner.headers })).status,
  ];
  const page = async () => (await fetch(at(`/dashboard/rooms/${room}`), { headers: member.headers })).text();
  const ofOrder = sql`order_id = (SELECT o.id FROM orders o WHERE ${isSealed(sql`o.code`, "order", code)})`;
  await db.query(sql`
    INSERT INTO envelope_rooms (envelope_id, block, opened_at, row_mac)
    SELECT id, '{"name": "notary1", "object": 1, "width": 1, "height": 1}', now(), (SELECT row_mac FROM envelope_rooms LIMIT 1)
    FROM envelopes WHERE ${ofOrder}`);
  assert.deepEqual(await answers(), [503, 200, 503]);
  assert.match(await page(), /This page leaves out orders whose record was altered/);
  await db.query(sql`DELETE FROM envelope_rooms WHERE envelope_id IN (SELECT id FROM envelopes WHERE ${ofOrder})`);
  // The document that was signed at home is not finished, because a notary must still act.
  assert.deepEqual(await answers(), [409, 200, 200]);
  assert.doesNotMatch(await page(), /was altered/);
  assert.equal((await post(desk(code, "/sheet"), { act: "jurat", pin })).status, 303);
  await db.query(
    sql`UPDATE envelopes SET outcome = 'Completed', ended_at = now() WHERE ${ofOrder} AND outcome IS NULL`,
  );
  assert.deepEqual(await answers(), [503, 200, 503]);
  assert.match(await page(), /This page leaves out orders whose record was altered/);
});

test("on paper, an acknowledgment is of the signatures in the document, and nobody signs again", async () => {
  const code = await claimedSigned("on-paper-too@example.com");
  assert.equal((await post(desk(code, "/in-person"), { reason: "The signer comes to my office." })).status, 303);
  await asFirm("POST", `/api/partner/orders/${code}/in-person`, { agrees: true });
  const typed = { ...withoutSheet("acknowledgment"), mode: "ink", signed_again: "on" };
  assert.equal((await post(desk(code, "/act"), typed)).status, 303);
  const [draft] = await running.db.query<{ act: Act }>(
    sql`SELECT act FROM notary_drafts ORDER BY updated_at DESC LIMIT 1`,
  );
  assert.deepEqual([draft?.act.act, draft?.act.signedBefore], ["acknowledgment", undefined]);
});

test("without a run sheet, a jurat of a document that nobody has signed is not refused", async () => {
  const code = await claimed();
  const saved = await post(desk(code, "/act"), withoutSheet("jurat"));
  assert.equal(saved.status, 303, await alertIn(saved));
});

test("an acknowledgment of a document that was signed before is of the signatures in it", async () => {
  const code = await claimedSigned("acknowledges@example.com");
  assert.equal((await post(desk(code, "/sheet"), { act: "acknowledgment", pin })).status, 303);
  assert.match(await (await get(desk(code, "/sheet"))).text(), /Own signature/);
  assert.equal((await post(desk(code, "/sheet/hand-over"))).status, 409);
  assert.equal((await post(desk(code, "/sheet/end"))).status, 303);
});

test("a signature in a jurat is refused before the oath, also by a direct request, and the refusal names the open step", async () => {
  const code = await begun("jurat");
  await toRead(code);
  for (const step of ["oath", "sign", "notary_signs"]) {
    const answer = await mark(code, step, step === "notary_signs" ? null : 1, { choice: "oath" });
    assert.equal(answer.status, 409);
    assert.match(await alertIn(answer), /Another step is open: Reading and consent \(Jane Doe\)/);
  }
  const read = await mark(code, "read");
  assert.equal(read.status, 409);
  assert.match(await alertIn(read), /signer’s own step/);
  // The notary can't sign yet, because a step of the act is open.
  await noted(code);
  const key = await openPkcs12(p12, password);
  const prepared = await post(desk(code, "/sign/prepare"), { certificate: base64(key.certificate.der) });
  assert.match(JSON.stringify(await prepared.json()), /A step of the act is open: Reading and consent/);
});

test("the sheet of an act in person shows an identity check that was not passed, and a credential that the notary sees counts all the same", async () => {
  const code = await begun("acknowledgment");
  const step = async () => (await (await get(desk(code, "/sheet"))).text()).replaceAll(/<[^>]*>/g, " ");
  await marked([code, "open", null], [code, "appear"]);
  assert.doesNotMatch(await step(), /doesn’t need this check/);
  const [order] = await running.db.query<{ id: number }>(
    sql`SELECT id FROM orders o WHERE ${isSealed(sql`o.code`, "order", code)}`,
  );
  const askedAt = new Date();
  await running.db.transaction(async (tx) => {
    const id = newUuid();
    const about = { id, orderId: order?.id ?? 0, notaryId: await notaryId(), person: 1, quiz: null };
    const link = { tokenSha256: Buffer.alloc(32, 7), askedAt, expiresAt: new Date(askedAt.getTime() + 1_000) };
    await insertCheck(tx, { ...about, needs: ["credential_analysis"], ...link });
    await endCheck(tx, id, "failed", askedAt);
  });
  assert.match(
    await step(),
    /The identity check of Jane Doe failed for good\. An act in person doesn’t need this check/,
  );
  assert.match(
    (await (await get(desk(code))).text()).replaceAll(/<[^>]*>/g, " "),
    /You can’t rely on this identity check/,
  );
  const shown = { type: "Passport", issuer: "United States", issued: "2020-01-01", expires: "2040-01-01" };
  const seen = Object.fromEntries(Object.entries(shown).map(([name, value]) => [`principal_1_${name}`, value]));
  await marked([code, "identify", 1, { ...identity(), ...seen, principal_1_basis: "credential" }]);
});

test("a device in a signer's hands gives no access to the desk without the PIN, and five wrong PINs end the PIN", async () => {
  const code = await begun("acknowledgment");
  await toRead(code);
  const path = await handedOver(code);
  for (const address of ["/operator", "/operator/notary", desk(code), desk(code, "/sheet"), "/dashboard"])
    assert.notEqual((await get(address)).status, 200, address);
  const page = await (await get(path)).text();
  assert.doesNotMatch(page, /operator/);
  const handed = await get("/handed-over");
  assert.equal(handed.status, 200);
  for (let wrong = 0; wrong < 5; wrong++) assert.match(await alertIn(await back("000000")), /not right/);
  const locked = await back();
  assert.notEqual(locked.status, 303);
  assert.match(await (await get("/handed-over")).text(), /Too many wrong PINs/);
  assert.notEqual((await get(desk(code))).status, 200);
});

test("many concurrent PINs count as at most five attempts", async () => {
  const code = await begun("acknowledgment");
  await toRead(code);
  await handedOver(code);
  const answers = await Promise.all(Array.from({ length: 12 }, () => back("111111")));
  assert.equal((await Promise.all(answers.map(alertIn))).filter((text) => text.includes("not right")).length, 5);
});

test("a signer's signature stays after the device is taken back from another session, and the pages of the turn are gone", async () => {
  const code = await begun("acknowledgment");
  await toRead(code);
  const turn = await handedOver(code);
  await consents(turn);
  assert.equal((await signs(turn)).status, 303);
  // The notary signs in on another device, and unlocks the first one.
  const other = await newSession(running, nora.id, { environment: "test", passkey: false });
  const taken = await post(desk(code, "/sheet/back"), {}, other.cookie);
  assert.equal(taken.status, 303, await alertIn(taken));
  assert.equal((await signs(turn)).status, 404);
  nora = { ...nora, ...other };
  assert.equal((await post(desk(code, "/sheet/back"))).status, 409);
  await marked([code, "acknowledge"]);
  await noted(code);
  await notarySigns(code);
  assert.equal(await statusOf(code), "NotarizationComplete");
});

test("a noted act must agree with the marks, or the notary can't sign", async () => {
  const code = await begun("acknowledgment");
  await toRead(code);
  const path = await handedOver(code);
  await consents(path);
  await signs(path);
  await back();
  await marked([code, "acknowledge"]);
  const key = await openPkcs12(p12, password);
  const refusal = async (typed: Record<string, string>) => {
    await noted(code, typed);
    const answer = await post(desk(code, "/sign/prepare"), { certificate: base64(key.certificate.der) });
    return JSON.stringify(await answer.json());
  };
  assert.match(await refusal({ act: "jurat" }), /of another kind/);
  const same = { act: "acknowledgment" };
  assert.match(await refusal({ ...same, started_at: "2026-01-15T14:05" }), /before the act was opened/);
  const now = { started_at: new Date().toISOString().slice(0, 16) };
  assert.match(
    await refusal({ ...same, ...now, principal_1_name: "Eve" }),
    /Jane Doe appeared, and is not principal 1/,
  );
  const witness = {
    principal_1_basis: "credible_witness",
    principal_1_witness_name: "W",
    principal_1_witness_address: "A",
  };
  const credential = { principal_1_type: "Passport", principal_1_issuer: "US", principal_1_issued: "2020-01-01" };
  const more = {
    ...same,
    ...now,
    principal_1_name: "Jane Doe",
    ...witness,
    ...credential,
    principal_1_expires: "2030-01-01",
  };
  assert.match(await refusal(more), /The identity of Jane Doe is another one than you marked/);
  assert.doesNotMatch(await refusal({ ...more, principal_1_basis: "personal_knowledge" }), /refused/);
});

test("of two tabs that begin an act one succeeds; an ended act begins again with the original document", async () => {
  const code = await claimed();
  const both = await Promise.all([1, 2].map(() => post(desk(code, "/sheet"), { act: "acknowledgment", pin })));
  assert.deepEqual(both.map(({ status }) => status).sort(), [303, 409]);
  assert.equal((await post(desk(code, "/release"))).status, 409);
  await toRead(code);
  const path = await handedOver(code);
  await consents(path);
  await signs(path);
  await back();
  assert.equal((await post(desk(code, "/sheet/end"))).status, 303);
  assert.equal((await get(path, "")).status, 404);
  assert.equal((await post(desk(code, "/sheet"), { act: "jurat", pin })).status, 303);
  const [rooms] = await running.db.query<{ ended: string[] }>(sql`
    SELECT array_agg(coalesce(e.outcome, 'open') ORDER BY e.attempt) AS ended FROM envelopes e JOIN orders o ON o.id = e.order_id
    WHERE ${isSealed(sql`o.code`, "order", code)}`);
  // A second tab may have prepared the document as well, so more than one envelope may be voided.
  const [last, ...before] = rooms?.ended.toReversed() ?? [];
  assert.deepEqual([last, ...new Set(before)], ["open", "Voided"]);
});

const outcomesOf = (code: string) =>
  running.db.query<{ orderId: string; outcome: string | null }>(sql`
    SELECT o.id AS "orderId", e.outcome FROM envelopes e JOIN orders o ON o.id = e.order_id
    WHERE ${isSealed(sql`o.code`, "order", code)}`);

async function followsOrder(orderId: string): Promise<void> {
  const { db } = running;
  const job = { orderId: Number(orderId) };
  const [{ id } = {}] = await db.query<{ id: string }>(sql`SELECT enqueue_job('envelope', ${job}::jsonb, now()) AS id`);
  await until(async () => (await db.query(sql`SELECT FROM jobs WHERE id = ${id}`)).length === 0);
}

test("a late job of the signing does not end an act in the notary's presence, and ends it once the order no longer waits for the notary", async () => {
  const code = await begun("acknowledgment");
  const [{ orderId } = { orderId: "" }] = await outcomesOf(code);
  await followsOrder(orderId);
  assert.deepEqual(await outcomesOf(code), [{ orderId, outcome: null }]);
  await running.db.query(sql`UPDATE orders SET status = 'Refunded' WHERE id = ${orderId}`);
  await authenticateOrders(running.db, sql`id = ${orderId}`);
  await followsOrder(orderId);
  assert.deepEqual(await outcomesOf(code), [{ orderId, outcome: "Voided" }]);
});

test("an order that is put on hold while its job runs keeps the document of its act", async () => {
  const code = await begun("acknowledgment");
  const [{ orderId } = { orderId: "" }] = await outcomesOf(code);
  const { db, rowMac } = running;
  const put = async (status: string) => {
    await db.query(sql`UPDATE orders SET status = ${status} WHERE id = ${orderId}`);
    await authenticateOrders(db, sql`id = ${orderId}`);
  };
  const slow = Object.assign(Object.create(db), {
    async transaction<T>(work: (tx: Tx) => Promise<T>) {
      await put("OnHold");
      return db.transaction(work);
    },
  });
  await followOrder({ db: slow, clock: () => new Date(), rowMac } as never, Number(orderId));
  assert.deepEqual(await outcomesOf(code), [{ orderId, outcome: null }]);
  await put("NotarizationPending");
});

test("an act in person ends once its order is on hold or locked, the device comes back, and the act begins again after the hold", async () => {
  const { db, rowMac } = running;
  const [held, locked, waiting] = [await begun("acknowledgment"), await begun("acknowledgment"), await begun("jurat")];
  const moves = (code: string, on: "held" | "released" | "identity_locked") =>
    db.transaction(async (tx) => {
      const order = await lockOrder(tx, code);
      assert.ok(order);
      await transition(tx, order, on, { actor: "test", at: new Date(), log: openLog("silent"), reason: "A dispute." });
    });
  await toRead(held);
  const path = await handedOver(held);
  await consents(path);
  await moves(held, "held");
  await moves(locked, "identity_locked");
  // 50 altered sheets that were opened earlier don't keep these acts open.
  const copied = await begun("acknowledgment");
  await moves(copied, "held");
  await db.query(sql`
    WITH dropped AS (
      INSERT INTO tasks (kind, environment, subject, state, due_at, created_at, ended_at, ended_by)
      SELECT 'notarize', 'test', 'altered ' || n, 'dropped', now(), now(), now(), 'test' FROM generate_series(1, 50) n
      RETURNING id)
    INSERT INTO notary_sheets (id, task_id, order_id, notary_id, mode, script, people, opened_at)
    SELECT gen_random_uuid(), t.id, n.order_id, n.notary_id, n.mode, n.script, n.people, n.opened_at - interval '1 day'
    FROM dropped t, notary_sheets n JOIN orders o ON o.id = n.order_id WHERE ${isSealed(sql`o.code`, "order", copied)}`);
  const deps = { db, rowMac, clock: () => new Date(), log: openLog("silent") };
  await sweepActs(deps, new AbortController().signal);
  await db.query(sql`DELETE FROM notary_sheets WHERE row_mac IS NULL`);
  const ends = await Promise.all(
    [held, locked, waiting].map((code) =>
      db.query<{ act: string | null; document: string | null }>(sql`
        SELECT n.outcome AS act, e.outcome AS document FROM orders o
        JOIN notary_sheets n ON n.order_id = o.id JOIN envelopes e ON e.order_id = o.id
        WHERE ${isSealed(sql`o.code`, "order", code)}`),
    ),
  );
  assert.deepEqual(ends.flat(), [
    { act: "abandoned", document: "Voided" },
    { act: "identity", document: "Voided" },
    { act: null, document: null },
  ]);
  assert.equal((await back()).status, 303);
  await moves(held, "released");
  assert.equal((await get(path, "")).status, 404);
  assert.equal((await mark(held, "close", null)).status, 409);
  assert.equal((await post(desk(held, "/sheet"), { act: "acknowledgment", pin })).status, 303);
  assert.equal((await mark(held, "open", null)).status, 303);
});

test("a document that was prepared before the service stopped is prepared again", async () => {
  const code = await begun("acknowledgment");
  // Simulates that the service stopped between storing the document and storing the sheet.
  await running.db.query(sql`DELETE FROM notary_sheets WHERE ended_at IS NULL AND head_position = 0`);
  assert.equal((await post(desk(code, "/sheet"), { act: "acknowledgment", pin })).status, 303);
  await toRead(code);
});

test("an impossible act in person is refused: its fields and kinds are named", async () => {
  const code = await claimed();
  const beginning = async (typed: Record<string, string>) => alertIn(await post(desk(code, "/sheet"), typed));
  assert.match(await beginning({}), /act is required.*pin is required, because you have no passkey/);
  assert.match(await beginning({ act: "jurat", pin: "12345" }), /pin must have 6 to 12 digits/);
  assert.match(await beginning({ act: "copy", pin }), /act must be one that is offered in OH/);
});

test("a refusal ends the act, and signatures on the device no longer count", async () => {
  const code = await begun("acknowledgment");
  await toRead(code);
  assert.equal((await post(desk(code, "/refuse"), { reason: "doubts", words: "Not sure." })).status, 303);
  assert.equal(await statusOf(code), "NotarizationFailed");
  const [sheet] = await running.db.query<{ outcome: string }>(
    sql`SELECT outcome FROM notary_sheets ORDER BY opened_at DESC LIMIT 1`,
  );
  assert.equal(sheet?.outcome, "refused");
});

test("a signer on the device tells the notary about other wishes in person; the device's pages can't decline or propose anything", async () => {
  const code = await begun("acknowledgment");
  await toRead(code);
  const path = await handedOver(code);
  const [, text = "", rest = ""] =
    /<div class="consent-text">(.*?)<\/div>(.*)/s.exec(await (await get(path, "")).text()) ?? [];
  const named = [...text.matchAll(/<strong>(.*?)<\/strong>/g)].map(([, control]) => control);
  assert.deepEqual(named, ["I agree"], "the text names no control that the page lacks");
  assert.match(rest, /<button[^>]*>I agree<\/button>/);
  const other = { version: "4", language: "en", can_read: "on" };
  assert.equal((await post(`${path}/consent`, other, "")).status, 409, "the text of a mailed link");
  assert.equal((await post(`${path}/decline`, { kind: "declined", reason: "" }, "")).status, 409);
  const proposal = { other_name: "Eve", other_email: "eve@example.com" };
  assert.equal((await post(`${path}/propose`, proposal, "")).status, 409);
  assert.equal(await statusOf(code), "NotarizationPending");
});

const witness = {
  principal_1_witness_name: "Wanda Wise",
  principal_1_witness_address: "2 Side Street",
  principal_1_type: "Passport",
  principal_1_issuer: "US",
  principal_1_issued: "2020-01-01",
  principal_1_expires: "2040-01-01",
};
const vouches = (code: string, part: string, typed: Record<string, string> = witness) =>
  post(desk(code, "/sheet/witness"), { signer: "1", part, ...typed });
const sworn = { oath: "affirmation", knows: "Neighbors since 2011" };

test("a credible witness is identified, swears how and how long they know the signer, then counts; the journal has all of it", async () => {
  const code = await begun("acknowledgment");
  assert.equal((await vouches(code, "identified")).status, 409);
  await marked([code, "open", null], [code, "appear"]);
  const byWitness = { ...identity(), principal_1_basis: "credible_witness" };
  const early = await mark(code, "identify", 1, { ...byWitness, ...witness });
  assert.equal(early.status, 409);
  assert.match(await alertIn(early), /credible witness is not identified yet/);
  assert.match(await alertIn(await vouches(code, "sworn", sworn)), /identified before they swear/);
  for (const name of ["DOE, Jane", "nora ames"])
    assert.match(
      await alertIn(await vouches(code, "identified", { ...witness, principal_1_witness_name: name })),
      /neither signs nor notarizes/,
    );
  const expired = { ...witness, principal_1_expires: "2025-01-01" };
  assert.match(await alertIn(await vouches(code, "identified", expired)), /principal_1_expires must not be past/);
  assert.match(await alertIn(await vouches(code, "identified", {})), /witness_name is required.*type is required/);
  assert.equal((await vouches(code, "identified")).status, 303);
  assert.match(await alertIn(await mark(code, "identify", 1, byWitness)), /Wanda Wise has not sworn who Jane Doe is/);
  assert.match(await alertIn(await vouches(code, "sworn", { oath: "shrug" })), /oath must be one of oath, affirmation/);
  assert.equal((await vouches(code, "sworn", sworn)).status, 303);
  // The new witness has not sworn yet.
  assert.equal((await vouches(code, "identified", { ...witness, principal_1_witness_name: "Will Wise" })).status, 303);
  assert.equal((await mark(code, "identify", 1, byWitness)).status, 409);
  assert.equal((await vouches(code, "identified")).status, 303);
  assert.equal((await vouches(code, "sworn", sworn)).status, 303);
  await marked([code, "identify", 1, byWitness], ...asked(code));
  assert.equal((await vouches(code, "sworn", sworn)).status, 409);
  const path = await handedOver(code);
  await consents(path);
  await signs(path);
  await back();
  await marked([code, "acknowledge"]);
  await noted(code, { principal_1_witness_knows: "For a day" });
  const key = await openPkcs12(p12, password);
  const other = await post(desk(code, "/sign/prepare"), { certificate: base64(key.certificate.der) });
  assert.match(JSON.stringify(await other.json()), /The identity of Jane Doe is another one than you marked/);
  await noted(code, { principal_1_witness_knows: sworn.knows });
  await notarySigns(code);
  const [entry] = await running.db.query<{ entry: string }>(
    sql`SELECT record AS entry FROM notary_journal ORDER BY position DESC LIMIT 1`,
  );
  for (const words of ["credible_witness", "Wanda Wise", "Passport", "affirmation", "Neighbors since 2011"])
    assert.match(entry?.entry ?? "", new RegExp(words));
});

test("turns and hand-overs that were altered in the database give no access", async () => {
  const code = await begun("jurat");
  await toRead(code);
  const path = await handedOver(code);
  await running.db.query(sql`UPDATE signer_rooms SET may_sign = true WHERE closed_at IS NULL AND NOT may_sign`);
  assert.equal((await get(path, "")).status, 503);
  await running.db.query(sql`UPDATE notary_hand_overs SET failures = 0 WHERE returned_at IS NULL`);
  await running.db.query(sql`UPDATE notary_hand_overs SET signer = 2 WHERE returned_at IS NULL`);
  assert.equal((await get("/handed-over")).status, 503);
});

test("the sheet has the words in Spanish, too, for a signer who speaks it, and asks whether the signer is alone", async () => {
  const signers = JSON.stringify([{ name: "Jane Doe", email: "spanish@example.com", language: "es" }]);
  const code = await begun("oath", { signers });
  const words = async () => (await get(desk(code, "/sheet"))).text();
  assert.match(
    await words(),
    /here in Franklin, OH\. It is .*<p class="spoken" lang="es">Soy Nora Ames, notario público/,
  );
  await marked([code, "open", null], [code, "appear"], [code, "identify", 1, identity()]);
  assert.match(await words(), /Does anybody press you, .*¿Alguien le presiona/);
  assert.match(await alertIn(await mark(code, "alone")), /choice must be one of alone, with_others/);
  await marked([code, "alone", 1, { choice: "with_others" }]);
  const english = await begun("oath");
  assert.doesNotMatch(await (await get(desk(english, "/sheet"))).text(), /lang="es"/);
});
