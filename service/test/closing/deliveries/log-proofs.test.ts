import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { test } from "node:test";
import { sealEntry, verifyLogProof } from "@signsealship/evidence/log";
import { parseDetached } from "@signsealship/evidence/ots";
import { newClient } from "@signsealship/testing/client";
import { startCalendar } from "@signsealship/testing/doubles/calendar";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { newPartner } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { unzipSync } from "fflate";
import { waitForLock } from "../../../src/evidence/transparency-log/store.ts";
import { isSealed, sql } from "../../../src/kernel/platform/database/sql.ts";
import { render } from "../../../src/pages/ui/render.ts";
import { checkFiles } from "../../../src/pages/verify/browser/check.ts";
import type { VerifyConfig } from "../../../src/pages/verify/browser/config.ts";
import { outcomesView } from "../../../src/pages/verify/browser/outcome-view.ts";
import { anchorLogs } from "../../evidence/transparency-log/anchor-logs.ts";
import { mailsTo, newMember, postForm } from "../../firms/members/signed-in-member.ts";
import { settled } from "../../upkeep/own-log/findings.ts";

const calendar = await forTests(startCalendar());
calendar.order("server-error");
const running = await forTests(openHarness({ OTS_CALENDARS: calendar.url, LOG_ROOT_INTERVAL: "86400" }));
const { baseUrl } = running.service;
const partner = await newPartner(running.service, { name: "Acme Title" });
const acme = newClient(baseUrl, partner.key);
const agent = (await newMember(running.service, "agent@acme.example", partner.key)).headers;
const other = (await newMember(running.service, "other@other.example", (await newPartner(running.service)).key))
  .headers;

const place = async (fields: Record<string, string> = {}) => {
  const form = orderForm({ ...minimal, svc_sign: "true", ...fields });
  return (await acme.post<{ orderCode: string }>("/api/partner/orders", form)).orderCode;
};
const finish = async (code: string) => {
  await acme.post(`/api/partner/sandbox/orders/${code}/checkout`);
  for (let status = ""; status !== "Completed"; )
    ({ status } = await acme.post<{ status: string }>(`/api/partner/sandbox/orders/${code}/advance`));
};

const { roomCode } = await acme.post<{ roomCode: string }>("/api/rooms", { name: "Ortega", reference: "2026-1187" });
const email = "client@buyer.example";
const deed = await place({ email });
await acme.post(`/api/rooms/${roomCode}/orders`, { orderCode: deed });
await finish(deed);
await acme.post(`/api/rooms/${roomCode}/passport`);

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(baseUrl + path, { redirect: "manual", headers: { "Accept-Language": "en", Accept: "text/html", ...headers } });
const textOf = async (path: string, headers: Record<string, string> = {}) => (await get(path, headers)).text();

type Zip = { files: Record<string, Uint8Array>; names: string[]; readme: string; listed: Listed[] };
type Listed = { path: string; kind: string; sha256: string; of?: string };

/** The files of a zip by their paths below its top folder. */
function openZip(bytes: ArrayBuffer): Zip {
  const all = Object.entries(unzipSync(new Uint8Array(bytes)));
  const files = Object.fromEntries(all.map(([name, content]) => [name.slice(name.indexOf("/") + 1), content]));
  const text = (name: string) => Buffer.from(files[name] ?? []).toString();
  const { files: listed } = JSON.parse(text("contents.json")) as { files: Listed[] };
  return { files, names: Object.keys(files), readme: text("README.txt").replaceAll("\r", ""), listed };
}
async function zipAt(path: string): Promise<Zip> {
  const answer = await get(path, agent);
  assert.equal(answer.status, 200);
  return openZip(await answer.arrayBuffer());
}
const roomZip = () => zipAt(`/dashboard/rooms/${roomCode}/zip`);
const proofsIn = ({ names }: Zip, form: string) => names.filter((name) => name.endsWith(`.pdf.${form}`));

const roomZipWith = (form: "tlog-proof" | "ots", count: number, act: () => Promise<void> = async () => {}) =>
  until(async () => {
    await act();
    const zip = await roomZip();
    return proofsIn(zip, form).length === count ? zip : null;
  });
const anchored = () => {
  calendar.order("proper");
  return roomZipWith("ots", 2, () => anchorLogs(running, calendar.url));
};

test("a zip has the log proof of each sealed file, and says which OpenTimestamps proofs will come, and when", async () => {
  const zip = await roomZipWith("tlog-proof", 2);
  assert.deepEqual(
    proofsIn(zip, "tlog-proof").map((name) => name.replace(/2026-1187 .*, /, "")),
    ["Evidence/01 signed.pdf.tlog-proof", "Evidence/Closing certificate.pdf.tlog-proof"],
  );
  assert.deepEqual(proofsIn(zip, "ots"), []);
  assert.match(
    zip.readme,
    /Evidence: NAME\.pdf\.tlog-proof proves that the seal of NAME\.pdf is an entry of a public log/,
  );
  assert.doesNotMatch(zip.readme, /Not here yet: the log proof/);
  const [, waiting = ""] =
    /Not here yet: the OpenTimestamps proof .* within a day after the seal.*\n((?: {4}.*\n)+)/.exec(zip.readme) ?? [];
  assert.match(waiting, /^ {4}Documents\/01 .*, signed\.pdf\n {4}Certificates\/Closing certificate\.pdf\n$/);
  for (const { path, of, sha256 } of zip.listed) {
    assert.equal(hash("sha256", zip.files[path] ?? new Uint8Array()), sha256, path);
    if (of !== undefined) assert.ok(zip.names.includes(of), of);
  }
  for (const path of proofsIn(zip, "tlog-proof")) {
    const sealed = zip.files[zip.listed.find((one) => one.path === path)?.of ?? ""] ?? assert.fail(path);
    if (path.includes("Closing")) continue;
    const entry = sealEntry(hash("sha256", sealed));
    const proof = zip.files[path] ?? new Uint8Array();
    const claims = await verifyLogProof({ proof, entry, environment: "test", logs: [] });
    assert.equal(claims.find(({ name }) => name === "log_inclusion")?.state, "holds", path);
  }
});

test("the room's page says when the proofs come, before somebody sends the zip", async () => {
  assert.match(
    await textOf(`/dashboard/rooms/${roomCode}`, agent),
    /follow within a minute, and those by OpenTimestamps/,
  );
});

test("a zip has the .ots of each sealed file once the calendars have a root, and its checker accepts all of it", async () => {
  const zip = await anchored();
  assert.doesNotMatch(zip.readme, /Not here yet/);
  assert.match(zip.readme, /NAME\.pdf\.ots \(OpenTimestamps\) proves since when/);
  for (const path of proofsIn(zip, "ots")) {
    const { digest } = parseDetached(zip.files[path] ?? new Uint8Array());
    const of = zip.listed.find((one) => one.path === path)?.of ?? "";
    assert.equal(Buffer.from(digest).toString("hex"), hash("sha256", zip.files[of] ?? new Uint8Array()), path);
  }
  const checker = Buffer.from(zip.files["verify.html"] ?? []).toString();
  const config = JSON.parse(/id="verify-config">([^<]+)</.exec(checker)?.[1] ?? "") as VerifyConfig;
  const check = (files: { name: string; bytes: Uint8Array }[]) =>
    checkFiles({ files, config, trust: { seal: "", timeStamping: "" }, at: Date.now(), subtle: crypto.subtle });
  const dropped = zip.names
    .filter((name) => /\.(pdf|tlog-proof|ots)$/.test(name))
    .map((name) => ({ name: name.slice(name.lastIndexOf("/") + 1), bytes: zip.files[name] ?? new Uint8Array() }));
  const others = dropped.filter(({ name }) => !name.startsWith("Closing"));
  const included = (outcomes: Awaited<ReturnType<typeof check>>) =>
    outcomes
      .flatMap((outcome) => (outcome.kind === "proof" ? outcome.claims : []))
      .find(({ name }) => name === "log_inclusion")?.state;
  for (const files of [dropped, others]) {
    const outcomes = await check(files);
    assert.equal(included(outcomes), "holds");
    for (const outcome of outcomes)
      assert.equal(outcome.kind === "failed" ? outcome.why : outcome.verdict, "verified", JSON.stringify(outcome));
  }
  await assertClosingProven(check, dropped);
  // Checks two documents at once. Each document is verified with the proofs named after it, even if such a proof is for
  // another file.
  const deedPdf = others.find(({ name }) => name.endsWith(".pdf")) ?? assert.fail();
  const second = { name: "other.pdf", bytes: Buffer.concat([deedPdf.bytes, Buffer.from("\n")]) };
  assert.equal(included(await check([...others, second])), "holds");
  const [wrong] = dropped.filter(({ name }) => name === "Closing certificate.pdf.tlog-proof");
  assert.ok(wrong);
  const renamed = { ...wrong, name: `${deedPdf.name}.tlog-proof` };
  assert.equal(included(await check([deedPdf, second, renamed])), "fails");
  const nameless = await check([deedPdf, second, { ...wrong, name: "x.tlog-proof" }]);
  assert.ok(
    nameless.some((outcome) => outcome.kind === "failed" && /the one PDF that it belongs to/.test(outcome.why)),
  );
});

type Check = (files: { name: string; bytes: Uint8Array }[]) => ReturnType<typeof checkFiles>;

/**
 * Asserts that the closing certificate's proofs hold among all other files, with the certificate alone, and under any
 * file name. A log proof of another file fails, and so does a truncated one.
 */
async function assertClosingProven(check: Check, dropped: { name: string; bytes: Uint8Array }[]) {
  const ofClosing = dropped.filter(({ name }) => name.startsWith("Closing"));
  assert.equal(ofClosing.length, 3);
  const [certificate, logProof, ots] = [".pdf", ".tlog-proof", ".ots"].map(
    (end) => ofClosing.find(({ name }) => name.endsWith(end)) ?? assert.fail(end),
  );
  assert.ok(certificate && logProof && ots);
  const renamed = [certificate, { ...logProof, name: "proof.txt" }, { ...ots, name: "calendar" }];
  for (const files of [dropped, ofClosing, renamed]) {
    const closing = (await check(files)).find((outcome) => outcome.kind === "closing");
    assert.equal(closing?.verdict, "verified");
    const state = (name: string) => closing?.claims.find((claim) => claim.name === `certificate.v1.${name}`)?.state;
    assert.deepEqual(["log_inclusion", "log_checkpoint_signed", "log_carried", "anchored_in_block"].map(state), [
      "holds",
      "holds",
      "holds",
      "unchecked",
    ]);
    assert.deepEqual(closing?.anchoring.find(({ name }) => name === "ots.digest")?.state, "holds");
    const page = render(outcomesView(closing ? [closing] : []));
    assert.match(page, /Version 1: The transparency log has this seal/);
    assert.match(page, /The OpenTimestamps proof, step by step/);
  }
  const alone = (await check([certificate])).find((outcome) => outcome.kind === "closing");
  assert.ok(alone && !alone.claims.some(({ name }) => name.includes("log_")));
  const deedProof = dropped.find(({ name }) => name.endsWith(".tlog-proof") && name !== logProof.name) ?? assert.fail();
  const cut = { ...logProof, bytes: logProof.bytes.subarray(0, -20) };
  for (const wrong of [deedProof, cut]) {
    const [refused] = await check([certificate, { ...wrong, name: logProof.name }]);
    assert.equal(refused?.kind === "closing" && refused.verdict, "not_verified");
    assert.match(JSON.stringify(refused), /"name":"certificate\.v1\.log_inclusion","state":"fails"/);
  }
  const twice = await check([certificate, logProof, { ...logProof, name: "second.tlog-proof" }]);
  assert.ok(twice.some((outcome) => outcome.kind === "failed" && /Another file of this kind/.test(outcome.why)));
  const [one] = twice;
  assert.equal(one?.kind === "closing" && one.verdict, "verified");
}

/** Downloads each proof that a page links to, and compares the `.ots` with the hash in its URL. */
async function assertProofsOf(page: string, headers: Record<string, string> = {}): Promise<string[]> {
  const links = [...page.matchAll(/href="([^"]+-[0-9a-f]{64}\/(?:tlog-proof|ots))"/g)].map(([, link = ""]) => link);
  for (const link of links) {
    const answer = await get(link, headers);
    assert.equal(answer.status, 200, link);
    const [, sha256 = "", form = ""] = /-([0-9a-f]{64})\/(.*)$/.exec(link) ?? [];
    assert.ok((answer.headers.get("content-disposition") ?? "").includes(`.pdf.${form}`), link);
    const bytes = new Uint8Array(await answer.arrayBuffer());
    assert.equal(
      answer.headers.get("content-type")?.split(";")[0],
      form === "ots" ? "application/octet-stream" : "text/plain",
    );
    if (form === "ots") assert.equal(Buffer.from(parseDetached(bytes).digest).toString("hex"), sha256);
    else assert.match(Buffer.from(bytes).toString(), /^c2sp\.org\/tlog-proof@v1\n/);
  }
  return links;
}

test("the firm's page of an order has the proofs of its sealed documents, and no other firm gets them", async () => {
  await anchored();
  const page = await textOf(`/dashboard/orders/${deed}`, agent);
  const links = await assertProofsOf(page, agent);
  assert.equal(links.length, 2);
  assert.match(page, /Public log proof<span class="visually-hidden">: Signed and sealed/);
  for (const link of links) assert.equal((await get(link, other)).status, 404);
  const [first = ""] = links;
  assert.equal((await get(first.replace(/[0-9a-f]{64}/, "0".repeat(64)), agent)).status, 404);
  const [, original = ""] = /href="([^"]+\/original-[0-9a-f]{64})"/.exec(page) ?? [];
  assert.equal((await get(`${original}/ots`, agent)).status, 404, "it was not sealed here");
});

test("the client's link to the documents has their proofs, in the client's language", async () => {
  await anchored();
  const path = await until(
    () =>
      mailsTo(running.service, email).flatMap(
        (mail) => /\/orders\/[0-9a-f]{40}\/documents\/[0-9a-f]{40}/.exec(mail)?.[0] ?? [],
      )[0],
  );
  assert.equal((await assertProofsOf(await textOf(path))).length, 2);
  assert.match(await textOf(`${path}?lang=es`), /Prueba del registro público/);
  const [, link = ""] = /href="([^"]+\/ots)"/.exec(await textOf(path)) ?? [];
  assert.equal((await get(link.replace(/\/documents\/[0-9a-f]{40}/, `/documents/${"0".repeat(40)}`))).status, 404);
});

test("a delivery has the proofs of its files in its zip and on its page, and asks for its code before", async () => {
  await anchored();
  const send = async (to: string, more: Record<string, string> = {}) => {
    const fields = { name: "Lena Lender", email: to, days: "14", [`send-${deed}`]: "on", submission: to, ...more };
    assert.equal((await postForm(`${baseUrl}/dashboard/rooms/${roomCode}/deliveries`, fields, agent)).status, 303);
    return until(
      () =>
        mailsTo(running.service, to).flatMap(
          (mail) => /\/deliveries\/[0-9a-f-]{36}\/[0-9a-f]{40}/.exec(mail)?.[0] ?? [],
        )[0],
    );
  };
  const path = await send("lena@lender.example");
  const links = await assertProofsOf(await textOf(path));
  assert.equal(links.length, 2);
  const zip = openZip(await (await fetch(baseUrl + path, { method: "POST" })).arrayBuffer());
  assert.deepEqual([proofsIn(zip, "tlog-proof").length, proofsIn(zip, "ots").length], [1, 1]);
  assert.match(await textOf(`/dashboard/rooms/${roomCode}`, agent), /Download begun/);
  const [first = ""] = links;
  const unknown = [
    first.replace(/[0-9a-f]{64}\//, `${"0".repeat(64)}/`),
    first.replace(path, `${path.slice(0, -40)}${"0".repeat(40)}`),
  ];
  for (const wrong of unknown) assert.equal((await get(wrong)).status, 404, wrong);
  const locked = await send("code@lender.example", { code: "on" });
  const early = await get(first.replace(path, locked));
  assert.deepEqual([early.status, early.headers.get("location")], [303, locked]);
  const closing = (await zipAt(`/dashboard/rooms/${roomCode}/zip`)).listed.find(
    ({ kind }) => kind === "closing_certificate",
  );
  const withCertificate = await assertProofsOf(await textOf(await send("all@lender.example", { certificate: "1" })));
  const ofClosing = withCertificate.filter((link) => link.includes(`/closing_certificate-${closing?.sha256}/`));
  assert.deepEqual([withCertificate.length, ofClosing.length], [4, 2]);
  const notSent = `${path}/closing_certificate-${closing?.sha256}/tlog-proof`;
  assert.equal((await get(notSent)).status, 404, "this delivery has no certificate");
});

test("while the log lacks a seal, the zip has no proof and says so, and pages refuse it without an error of their own", async () => {
  const code = await place();
  await running.db.transaction(async (tx) => {
    await waitForLock(tx, "test");
    await finish(code);
    const zip = await zipAt(`/dashboard/orders/${code}/zip`);
    assert.deepEqual([proofsIn(zip, "tlog-proof"), proofsIn(zip, "ots")], [[], []]);
    assert.match(zip.readme, /Not here yet: the log proof \(\.tlog-proof\) of these files\. It exists within a minute/);
    assert.match(zip.readme, /Not here yet: the OpenTimestamps proof/);
    const page = await textOf(`/dashboard/orders/${code}`, agent);
    const [, sealed = ""] = /href="([^"]+\/sealed-[0-9a-f]{64})"/.exec(page) ?? [];
    assert.doesNotMatch(page, /tlog-proof"|\/ots"/);
    assert.equal((await get(`${sealed}/tlog-proof`, agent)).status, 503);
    assert.equal((await get(`${sealed}/ots`, agent)).status, 409);
  });
  await until(async () => proofsIn(await zipAt(`/dashboard/orders/${code}/zip`), "tlog-proof").length === 1);
});

test("a damaged tile of the log prevents no download: the zip leaves the proof out", async () => {
  const code = await place();
  await finish(code);
  await settled(running.db);
  const flip = () =>
    running.db.transaction(async (tx) => {
      await tx.script("SET LOCAL session_replication_role = replica");
      await tx.query(sql`
        UPDATE log_tiles SET hashes = set_byte(hashes, 0, 255 - get_byte(hashes, 0)) WHERE log = 'test' AND level = 0`);
    });
  await running.db.transaction(async (tx) => {
    // Holds the log's lock, because a batch that reads the damaged tile would halt the log.
    await waitForLock(tx, "test");
    await flip();
    try {
      const zip = await zipAt(`/dashboard/orders/${code}/zip`);
      assert.deepEqual(proofsIn(zip, "tlog-proof"), []);
      assert.match(zip.readme, /Not here yet: the log proof/);
      assert.ok(zip.names.some((name) => name.startsWith("Documents/")));
    } finally {
      await flip();
    }
  });
  assert.equal(proofsIn(await zipAt(`/dashboard/orders/${code}/zip`), "tlog-proof").length, 1);
});

test("the room's zip says that its certificate is missing once its record was altered", async () => {
  assert.doesNotMatch((await roomZip()).readme, /Not here: the closing certificate/);
  await running.db.transaction(async (tx) => {
    await tx.script("SET LOCAL session_replication_role = replica");
    await tx.query(sql`
      UPDATE closing_passports SET sealed_sha256 = ${"0".repeat(64)}
      WHERE room_id = (SELECT id FROM rooms WHERE ${isSealed(sql`code`, "room", roomCode)})`);
  });
  const { readme, names } = await roomZip();
  assert.match(readme, /Not here: the closing certificate\. It is missing at the service, or was altered there\./);
  assert.ok(!names.some((name) => name.startsWith("Certificates/Closing")));
});
