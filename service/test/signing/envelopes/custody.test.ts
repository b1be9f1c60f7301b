import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { parseEnvelope, readCustodyCertificate, verifyCustody } from "@signsealship/evidence/envelope";
import { sealEntry, verifyLogProof } from "@signsealship/evidence/log";
import { parseCertificatesPem } from "@signsealship/evidence/x509";
import { readBlob, wholeFile } from "@signsealship/testing/blobs";
import { forTests } from "@signsealship/testing/for-tests";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { printedScripts } from "@signsealship/testing/inputs/printed-commands";
import { changeOrder } from "@signsealship/testing/row-mac";
import { needs } from "@signsealship/testing/tools/tools";
import { brokenRules } from "@signsealship/testing/tools/verapdf";
import { until } from "@signsealship/testing/until";
import { createNodeCrypto } from "@signsealship/verifier/node-crypto";
import type { Tx } from "../../../src/kernel/platform/database/database.ts";
import { isSealed, sql } from "../../../src/kernel/platform/database/sql.ts";
import { deleteDue } from "../../../src/kernel/retention/delete-due.ts";
import { documentUse } from "../../../src/orders/order/order.ts";
import { render } from "../../../src/pages/ui/render.ts";
import { checkFiles } from "../../../src/pages/verify/browser/check.ts";
import type { VerifyConfig } from "../../../src/pages/verify/browser/config.ts";
import { outcomesView } from "../../../src/pages/verify/browser/outcome-view.ts";
import { actsOf, agreedTexts } from "../../../src/signing/envelopes/custody/content.ts";
import type { EnvelopeVerification } from "../../../src/signing/envelopes/public/schemas.ts";
import { lockEnvelope } from "../../../src/signing/envelopes/records/envelope.ts";
import { appendToTrail } from "../../../src/signing/envelopes/records/trail.ts";
import { retained } from "../../../src/upkeep/protected-data.ts";
import { sealFingerprint } from "../../closing/closing-passports/seal-room.ts";
import { newMember } from "../../firms/members/signed-in-member.ts";
import { sealer } from "../../pages/ui/samples.ts";
import { browser, openCeremonyService, signBy } from "./ceremony/ceremony-service.ts";

const documentsOf = async (order: string, kind: string) => {
  const rows = await running.db.query<{ sha256: string; blobKey: string }>(sql`
    SELECT d.sha256, d.blob_key AS "blobKey" FROM documents d JOIN orders o ON o.id = d.order_id
    WHERE ${isSealed(sql`o.code`, "order", order)} AND d.kind = ${kind}`);
  return Promise.all(
    rows.map(async ({ sha256, blobKey }) => {
      const bytes =
        (await readBlob(running.deps.blobs, blobKey, documentUse(sha256))) ?? assert.fail(`the ${kind} is gone`);
      assert.equal(createHash("sha256").update(bytes).digest("hex"), sha256);
      return bytes;
    }),
  );
};
const documentOf = async (kind: string) => (await documentsOf(code, kind))[0] ?? assert.fail(`there is no ${kind}`);

after(() => rmSync(folder, { recursive: true, force: true }));
const running = await forTests(openCeremonyService());
const [jane, juan] = [
  { name: "Jane Doe", email: "jane@example.com" },
  { name: "Juan Peña 売主", email: "juan@example.com", routing: 2 },
] as const;
const code = await running.order([jane, juan], { external_reference: "FILE-2207" }, makePdf({ pages: 2 }), {
  fileName: "Warranty deed.pdf",
});
await signBy(running.ceremony, await running.linkOf(jane.email), "Jane Doe");
const done = await signBy(running.ceremony, await running.linkOf(juan.email), "Juan");
assert.deepEqual(done, { outcome: "signed", completed: true });
const sealed = await documentOf("sealed");
const certificate = await documentOf("custody_certificate");
const folder = mkdtempSync(join(tmpdir(), "custody-"));
writeFileSync(join(folder, "sealed.pdf"), sealed);
writeFileSync(join(folder, "certificate.pdf"), certificate);

const shell = (command: string) => execFileSync("sh", ["-c", command], { cwd: folder, encoding: "utf8" }).trim();

const pemIn = (name: string) =>
  parseCertificatesPem(readFileSync(join(running.service.dataDir, `keys/${name}-certificate.pem`), "utf8"));
const trust = () => ({
  sealAnchors: pemIn("test-seal").slice(0, 1),
  signerAnchors: pemIn("test-signer-ca").slice(-1),
  tsaAnchors: [],
});
const verify = (document: Buffer | null, file = certificate) =>
  verifyCustody(file, document, { trust: trust(), at: Date.now(), crypto: createNodeCrypto() });
const failing = (claims: readonly { name: string; state: string }[]) =>
  claims.filter(({ state }) => state === "fails").map(({ name }) => name);

test("anyone with the verify code gets the log's proof of the sealed document and of the certificate", async () => {
  const verifyCode = await codeOf();
  const base = `${running.deps.baseUrl}/api/verify/envelope/${verifyCode}`;
  for (const [path, bytes] of [
    ["tlog-proof", sealed],
    ["custody/tlog-proof", certificate],
  ] as const) {
    await until(async () => (await fetch(`${base}/${path}`)).status === 200);
    const proof = new Uint8Array(await (await fetch(`${base}/${path}`)).arrayBuffer());
    const entry = sealEntry(createHash("sha256").update(bytes).digest("hex"));
    const claims = await verifyLogProof({ proof, entry, environment: "live", logs: [] });
    assert.equal(claims.find(({ name }) => name === "log_inclusion")?.state, "holds");
  }
  for (const path of ["tlog-proof", "custody/tlog-proof"]) {
    const unknown = await fetch(`${running.service.baseUrl}/api/verify/envelope/${"a".repeat(26)}/${path}`);
    assert.equal(unknown.status, 404);
  }
});

test("the certificate is sealed for its purpose, and all of it is valid for the sealed document", async () => {
  const { envelope, purpose } = await readCustodyCertificate(certificate);
  assert.deepEqual(purpose, { kind: "custody", environment: "test" });
  assert.ok(envelope);
  const { claims, document } = await verify(sealed);
  assert.deepEqual(
    claims.filter(({ state }) => state !== "holds"),
    [],
  );
  assert.equal(document?.sealedSha256, parseEnvelope(envelope).document.sealedSha256);
  const alone = await verify(null);
  assert.deepEqual(failing(alone.claims), []);
  assert.equal(alone.claims.find(({ name }) => name === "document_hash")?.state, "unchecked");
});

test("a consent text that is not attached is not claimed to be", async () => {
  const { envelope: bytes } = await readCustodyCertificate(certificate);
  const envelope = parseEnvelope(bytes ?? assert.fail("nothing is attached"));
  const shown = (consents: { name: string; bytes: Uint8Array }[]) =>
    actsOf({ envelope, consents }).map(({ consent }) => consent);
  const [{ name } = assert.fail("nobody consented")] = agreedTexts(envelope);
  assert.ok(
    shown([{ name, bytes: Buffer.from("") }]).some((words) =>
      words.endsWith(`the consent text is attached as ${name}`),
    ),
  );
  for (const words of shown([])) assert.match(words, /the consent text has the SHA-256 shown below$/);
});

test("a client who does not sign downloads all documents by the link in the mail, and none by the code alone", async () => {
  const url = (path: string) => running.service.baseUrl + path;
  const ask = async (path: string) => {
    const answer = await fetch(url(path), { headers: { Accept: "text/html" } });
    return { status: answer.status, headers: answer.headers, bytes: Buffer.from(await answer.arrayBuffer()) };
  };
  const mailed = () =>
    running.mailsTo("signer@example.com").flatMap((mail) => mail.match(/\/orders\/\S+\/documents\/[0-9a-f]{40}/) ?? []);
  await until(() => mailed().length > 0);
  const [path = ""] = mailed();
  assert.ok(path.startsWith(`/orders/${code}/documents/`));
  const page = await ask(path);
  assert.deepEqual([page.status, page.headers.get("referrer-policy")], [200, "no-referrer"]);
  const saved = [...page.bytes.toString().matchAll(/href="(\/orders\/[^"]+\/documents\/[^"]+)" download/g)];
  const links = saved.map(([, href = ""]) => href).filter((href) => !/\/(?:tlog-proof|ots)$/.test(href));
  const files = await Promise.all(links.map(async (link) => (await ask(link)).bytes));
  assert.equal(files.length, 3);
  assert.ok(files[0]?.equals(sealed) && files[1]?.equals(certificate), "what came of it first");
  assert.ok(files[2]?.equals(sealed.subarray(0, files[2].length)), "the original, which the signed one begins with");

  const byCode = await ask(`/orders/${code}`);
  assert.doesNotMatch(byCode.bytes.toString(), /\/documents\//);
  const another = await running.order([{ name: "Ann", email: "ann@example.com" }]);
  const token = path.slice(-40);
  const last = token.endsWith("0") ? "1" : "0";
  const inOther = links.map((link) => link.replace(code, another));
  for (const other of [
    ...inOther,
    `/orders/${another}/documents/${token}`,
    path.slice(0, -1) + last,
    path.slice(0, -1),
    `/orders/${code}/documents/${"0".repeat(40)}`,
    `/orders/${"0".repeat(40)}/documents/${token}`,
    `${path}/original-${"0".repeat(64)}`,
    `${path}/sealed`,
    `/orders/${code}/documents/${code}`,
  ])
    assert.equal((await ask(other)).status, 404, other);
});

test("replies to mails go to the firm's contact address, once it has one", async () => {
  const [{ partnerId } = { partnerId: "" }] = await running.db.query<{ partnerId: string }>(
    sql`SELECT partner_id AS "partnerId" FROM orders WHERE ${isSealed(sql`code`, "order", code)}`,
  );
  const set = (address: string) => running.service.cli("partner", "set", partnerId, "--contact-email", address);
  for (const mail of running.mailsTo("jane@example.com")) assert.doesNotMatch(mail, /^Reply-To:/im);
  for (const address of [
    "acme",
    "a@b",
    "a@b.example\r\nBcc: c@d.example",
    "a@b.example, c@d.example",
    "A <a@b.example>",
  ])
    await assert.rejects(set(address), /contact-email must be an email address/, address);
  await set("closings@acme.example");
  const max = "max@example.com";
  const order = await running.order([{ name: "Max", email: max }], { email: "client@example.com" });
  const link = await running.linkOf(max);
  const replyTo = (email: string) => running.mailsTo(email).map((mail) => /^Reply-To: (.*)\r$/m.exec(mail)?.[1]);
  assert.deepEqual(replyTo(max), ["closings@acme.example"]);
  assert.equal((await running.ceremony.view(link)).partnerContact, "closings@acme.example");
  await signBy(running.ceremony, link, "Max");
  await until(() => running.mailsTo("client@example.com").some((mail) => mail.includes(`/orders/${order}/documents/`)));
  assert.deepEqual(new Set(replyTo("client@example.com")), new Set(["closings@acme.example"]));
  await set("");
  assert.equal((await running.ceremony.view(link)).partnerContact, null);
});

test("answers of signers go to an owner of a firm without a contact address, as their consent says", async () => {
  const owner = "owner@acme.example";
  await newMember(running.service, owner, running.headers.Authorization.replace("Bearer ", ""));
  const zoe = "zoe.ito@example.com";
  await running.order([{ name: "Zoe Ito", email: zoe }]);
  const link = await running.linkOf(zoe);
  const [mail = ""] = running.mailsTo(zoe);
  assert.equal(/^Reply-To: (.*)\r$/m.exec(mail)?.[1], owner);
  assert.match(mail, /You can reply to this email\./);
  assert.equal((await running.ceremony.view(link)).partnerContact, null, "pages don't show the owner's address");
});

test("another document, and a changed one, do not count as the signed one", async () => {
  const changed = Buffer.from(sealed);
  changed[200] = (changed[200] ?? 0) ^ 1;
  assert.ok(failing((await verify(changed)).claims).includes("document_revisions"));
  assert.ok(failing((await verify(certificate)).claims).includes("document_hash"));
});

test("a notarized document continues the signed one; one with another ending is another document", async () => {
  const resealed = async (reason: "Notarized (test)" | "Proof passport (test environment)", bytes = sealed) =>
    (await running.deps.sealDocument({ bytes, reason })).bytes;
  const notarized = await resealed("Notarized (test)");
  const { claims } = await verify(notarized);
  assert.deepEqual(failing(claims), []);
  assert.equal(claims.find(({ name }) => name === "document_continues")?.state, "holds");
  for (const other of [
    await resealed("Proof passport (test environment)"),
    await resealed("Proof passport (test environment)", notarized),
    Buffer.concat([notarized, Buffer.from("\n% painted over\n")]),
    Buffer.concat([sealed, notarized.subarray(sealed.length, notarized.length - 1)]),
  ]) {
    const judged = await verify(other);
    assert.ok(failing(judged.claims).includes("document_hash"));
    assert.ok(!judged.claims.some(({ name }) => name === "document_continues"));
  }
});

test("a stranger's document with an envelope.json is not a custody certificate", async () => {
  const { bytes } = await running.deps.sealDocument({ bytes: certificate, reason: "Signed (test)" });
  assert.deepEqual(failing((await verify(null, bytes)).claims), ["custody_purpose"]);
});

const [printedCommands = ""] = printedScripts("20.5");

test(
  "the commands that the format prints, run by coreutils, poppler and jq, show the same results",
  needs("poppler", "jq"),
  () => {
    const said = shell(printedCommands);
    shell("pdfdetach -save 2 -o consent.md certificate.pdf");
    const [consentSha256 = ""] = shell("sha256sum consent.md").split(" ");
    assert.ok(readFileSync(join(folder, "envelope.json"), "utf8").includes(`"textSha256":"${consentSha256}"`));
    const envelope = parseEnvelope(readFileSync(join(folder, "envelope.json")));
    assert.doesNotMatch(said, /another revision/);
    const previous = envelope.trail[1]?.previousSha256;
    assert.ok(previous && said.includes(`${previous}  -\n${previous}\n`), said);
    for (const [index, { previousSha256 }] of envelope.trail.entries()) {
      if (index === 0) continue;
      const hash = shell(`jq -Sca '.trail[${index - 1}]' envelope.json | tr -d '\\n' | sha256sum`);
      assert.equal(hash, `${previousSha256}  -`);
    }
    const act = shell(`jq -r '.trail[] | select(.event == "signed") | .actSha256' envelope.json | head -1`);
    assert.ok(said.includes(`${act}  -\n`), said);
    assert.match(said, new RegExp(`^SSSActSha256 *<${act}>$`, "m"));
    assert.equal(said.match(/Signature is Valid/g)?.length, envelope.signers.length + 2);
    writeFileSync(join(folder, "another.pdf"), Buffer.from(sealed).fill(0, 200, 201));
    assert.match(shell(printedCommands.replaceAll("sealed.pdf", "another.pdf")), /another revision of \d+ bytes/);
  },
);

test("it is PDF/A-3a and PDF/UA-1, also when sealed", needs("verapdf"), () => {
  assert.deepEqual(brokenRules({ certificate }), []);
});

test("it states who signed when and how, and its limits", needs("poppler"), () => {
  const text = shell("pdftotext -layout certificate.pdf -").replaceAll(/\s+/g, " ");
  for (const words of [
    "Document Warranty deed",
    "File number FILE-2207",
    "Jane Doe",
    "jane@example.com",
    "Juan Peña 売主",
    "Test environment",
  ])
    assert.ok(text.includes(words), words);
  assert.match(shell("pdfinfo certificate.pdf"), /^Title: +Custody certificate: Warranty deed$/m);
  assert.match(text, /Identified by\s+link mailed to the address/);
  assert.match(text, /They are not qualified electronic signatures under European Union law/);
  assert.match(text, /certifies the following\. The 2 signers named below signed the document “Warranty deed”\./);
  assert.match(
    text,
    /If a row shows 1,000 bytes, the first 1,000 bytes of the signed file have the SHA-256 in that row\./,
  );
  assert.match(text, new RegExp(`${running.deps.baseUrl}/v/envelope/[a-z2-7]{26}`));
});

test("the command that it prints for the first record gives the hash in the second", needs("poppler", "jq"), () => {
  shell("pdfdetach -saveall certificate.pdf");
  const text = shell("pdftotext -layout certificate.pdf -");
  const [command = ""] = /jq -Sca \S+ envelope\.json.*?sha256sum/.exec(text) ?? [];
  const { trail } = parseEnvelope(readFileSync(join(folder, "envelope.json")));
  assert.equal(shell(command).split(" ")[0], trail[1]?.previousSha256);
});

test("it names the certificate of its seal by the published fingerprint", needs("poppler"), async () => {
  const { baseUrl } = running.service;
  const text = shell("pdftotext -layout certificate.pdf -").replaceAll(/\s+/g, " ");
  assert.ok(text.includes(`Certificate: CN=SignSealShip TEST seal `), text);
  assert.ok(text.includes(`Issuer SignSealShip, ${baseUrl} Seal certificate CN=SignSealShip TEST seal `), text);
  assert.ok(text.includes(`Certificate, SHA-256 ${await sealFingerprint(baseUrl)} Verify code `), text);
});

const trustList = async () => (await fetch(`${running.service.baseUrl}/seal/trust.json`)).text();
const command = (...args: string[]) =>
  spawnSync(join(import.meta.dirname, "../../../../bin/signsealship"), ["verify", ...args], { encoding: "utf8" });

test("bin/signsealship verify judges it alone, and together with the document", async () => {
  const list = join(folder, "trust.json");
  writeFileSync(list, await trustList());
  const run = (...more: string[]) => {
    const { status, stdout } = command(join(folder, "certificate.pdf"), "--trust", list, "--json", ...more);
    const { verdict, kind, checks, facts } = JSON.parse(stdout) as Answer;
    assert.deepEqual(facts.signers, ["Jane Doe", "Juan Peña 売主"]);
    stated = Object.fromEntries(checks.map(({ claim, result }) => [claim, result]));
    return {
      status,
      verdict,
      kind,
      fails: checks.filter(({ result }) => result === "fails").map(({ claim }) => claim),
    };
  };
  type Answer = {
    verdict: string;
    kind: string;
    checks: { claim: string; result: string }[];
    facts: { signers: string[] };
  };
  let stated: Record<string, string> = {};
  const good = { status: 0, verdict: "verified_test", kind: "custody_certificate", fails: [] };
  assert.deepEqual(run(), good);
  assert.deepEqual(run("--with", join(folder, "sealed.pdf")), good);
  for (const claim of ["act_certificate", "act_place", "act_time_stamp"]) assert.equal(stated[claim], "holds", claim);
  writeFileSync(join(folder, "changed.pdf"), sealed.with(200, 0));
  const bad = run("--with", join(folder, "changed.pdf"));
  assert.deepEqual([bad.status, bad.verdict], [1, "not_verified"]);
  assert.deepEqual(bad.fails, [
    "document_hash",
    "document_revisions",
    "act_certificate",
    "document_seal",
    "document_signatures",
  ]);
  const lines = command(join(folder, "certificate.pdf"), "--trust", list).stdout;
  assert.match(lines, /signers:\n {4}1\. Jane Doe\n {4}2\. Juan Peña 売主\n/);
});

test("bin/signsealship verify reports that a document cut after its first act is not completely signed", async () => {
  const { envelope } = await readCustodyCertificate(certificate);
  const first = parseEnvelope(envelope ?? assert.fail()).revisions.find(({ kind }) => kind === "signed");
  const cut = sealed.subarray(0, first?.bytes);
  const resealed = await running.deps.sealDocument({ bytes: cut, reason: "Proof passport (test environment)" });
  const judged = (name: string, bytes: Buffer) => {
    writeFileSync(join(folder, name), bytes);
    const key = join(running.service.dataDir, "keys/test-seal-certificate.pem");
    const text = command(join(folder, name), "--trust", key).stdout;
    const { verdict, checks, facts } = JSON.parse(
      command(join(folder, name), "--trust", key, "--json").stdout,
    ) as Judged;
    const state = checks.find(({ claim }) => claim === "signing_complete")?.result;
    return { verdict, state, fact: facts["signing"], isTold: /not completed in this file\.\s*$/.test(text) };
  };
  type Judged = { verdict: string; checks: { claim: string; result: string }[]; facts: Record<string, string> };
  const told = { state: "fails", fact: "not completed in this file", isTold: true };
  assert.deepEqual(judged("cut.pdf", Buffer.from(cut)), { verdict: "not_verified", ...told });
  assert.deepEqual(judged("cut-proof.pdf", resealed.bytes), { verdict: "verified_test", ...told });
  const whole = { verdict: "verified_test", state: "holds", fact: undefined, isTold: false };
  assert.deepEqual(judged("whole.pdf", sealed), whole);
  const again = await running.deps.sealDocument({ bytes: sealed, reason: "Proof passport (test environment)" });
  assert.deepEqual(judged("whole-proof.pdf", again.bytes), whole);
  const known = { ...withoutRecord, sealCertificates: await trustList() };
  const shown = await drop(known, { name: "cut.pdf", bytes: resealed.bytes });
  assert.match(words(shown), /the signing is not complete.*Part of a signing that was not completed in this file\./);
  assert.doesNotMatch(words(await drop(known, { name: "whole.pdf", bytes: sealed })), /not complete/);
});

const codeOf = () => parseEnvelopeIn(certificate).then(({ verifyCode }) => verifyCode);
async function parseEnvelopeIn(file: Buffer) {
  const { envelope } = await readCustodyCertificate(file);
  assert.ok(envelope);
  return parseEnvelope(envelope);
}
type Public = EnvelopeVerification;
async function publicOf(verifyCode: string): Promise<Public> {
  const answer = await fetch(`${running.deps.baseUrl}/api/verify/envelope/${verifyCode}`);
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get("cache-control"), "no-store");
  return (await answer.json()) as Public;
}
const states = ({ claims }: Public) => Object.fromEntries(claims.map(({ name, state }) => [name, state]));

test("anyone with the code sees the stored facts, recomputed, with masked names", async () => {
  const verifyCode = await codeOf();
  const answer = await publicOf(verifyCode);
  assert.deepEqual([answer.status, answer.environment, answer.chainOk], ["Completed", "test", true]);
  assert.deepEqual([...new Set(Object.values(states(answer)))], ["holds"]);
  assert.deepEqual(
    answer.signers.map(({ name, email }) => [name, email]),
    [
      ["J*** D***", "j***@example.com"],
      ["J*** P*** 売***", "j***@example.com"],
    ],
  );
  assert.deepEqual(answer.revisions, (await parseEnvelopeIn(certificate)).revisions);
  assert.equal(answer.custodyCertSha256, createHash("sha256").update(certificate).digest("hex"));
  assert.doesNotMatch(JSON.stringify(answer), /Jane|Juan|203\.0\.113/);
});

test("a person who returns for a copy, by a code or in another language, changes nothing in the certified record", async () => {
  const ann = { name: "Amy", email: "amy@example.com", auth: "mail_code" };
  const order = await running.order([ann]);
  const link = await running.linkOf(ann.email);
  const { ceremony } = running;
  const codeOf = () => /^\d{6}$/m.exec(running.mailsTo(ann.email).at(-1) ?? "")?.[0];
  await ceremony.sendCode(link, browser);
  const session = await ceremony.identify(link, await until(codeOf), browser);
  await signBy(ceremony, { ...link, session: session?.session ?? null }, "Ann");
  const verifyCode = (await ceremony.view({ ...link, session: session?.session ?? null })).verifyCode;
  const verified = async () =>
    (await (await fetch(`${running.service.baseUrl}/api/verify/envelope/${verifyCode}`)).json()) as {
      chainOk: boolean;
    };
  assert.equal((await verified()).chainOk, true);
  const tomorrow = (days: number) => running.openAt(() => new Date(Date.now() + days * 25 * 3600_000));
  await tomorrow(1).sendCode(link, browser);
  for (let n = 0; n < 5; n++) assert.equal(await tomorrow(1).identify(link, "x", browser), null);
  await assert.rejects(tomorrow(1).identify(link, "x", browser), { code: "rate_limited" });
  assert.equal(await tomorrow(3).identify(link, "x", browser), null, "a day later one may try again");
  await ceremony.setLanguage(link, "es");
  assert.equal((await verified()).chainOk, true);
  assert.equal((await documentsOf(order, "custody_certificate")).length, 1);
});

test("a document that was finished here is refused as the document of another order to sign, with the reason", async () => {
  await assert.rejects(
    running.order([{ name: "Zoe", email: "zoe@example.com" }], {}, sealed),
    /document can't be signed: .*it is finished: a seal of this service closed it/,
  );
});

test("unknown and malformed codes get the same 404, for the answer and for the page", async () => {
  for (const unknown of ["a".repeat(26), "short", "A".repeat(26), "a/b"]) {
    const answer = await fetch(`${running.deps.baseUrl}/api/verify/envelope/${unknown}`);
    assert.deepEqual([answer.status, await answer.json()], [404, { verdict: "unknown" }]);
  }
  const page = await fetch(`${running.deps.baseUrl}/v/envelope/${"a".repeat(26)}`, {
    headers: { accept: "text/html" },
  });
  assert.equal(page.status, 404);
});

test("an envelope that waits for a signer is shown as such", async () => {
  const waiting = await running.order([{ name: "Ann Lee", email: "ann-lee@example.com" }]);
  await running.linkOf("ann-lee@example.com");
  const [row] = await running.db.query<{ code: string }>(sql`
    SELECT e.verify_code AS "code@envelope" FROM envelopes e JOIN orders o ON o.id = e.order_id WHERE ${isSealed(sql`o.code`, "order", waiting)}`);
  const answer = await publicOf(row?.code ?? "");
  assert.deepEqual([answer.status, answer.document, answer.revisions, answer.chainOk], ["Open", null, [], true]);
  assert.deepEqual(states(answer), { trail_rows: "holds", trail_chain: "holds" });
});

type Dropped = { name: string; bytes: Uint8Array };
const withoutRecord: VerifyConfig = { sealCertificates: "", firm: null, proof: null, closing: null };
const drop = (config: VerifyConfig, ...files: Dropped[]) =>
  checkFiles({ files, config, trust: { seal: "", timeStamping: "" }, at: Date.now(), subtle: crypto.subtle });
const words = (outcomes: Awaited<ReturnType<typeof drop>>) =>
  render(outcomesView(outcomes))
    .replace(/<[^>]*>/g, "")
    .replace(/\s+/g, " ");
const configIn = (page: string) => JSON.parse(/id="verify-config">([^<]+)</.exec(page)?.[1] ?? "") as VerifyConfig;
const pageOf = async (path: string) =>
  (await fetch(`${running.deps.baseUrl}${path}`, { headers: { accept: "text/html" } })).text();

test("a record's page names a custody or closing certificate of another record", async () => {
  const email = "ivy@example.com";
  const order = await running.order([{ name: "Ivy Roe", email }]);
  await signBy(running.ceremony, await running.linkOf(email), "Ivy Roe");
  const [other = assert.fail()] = await documentsOf(order, "custody_certificate");
  const own = configIn(await pageOf(`/v/envelope/${await codeOf()}`));
  const stranger = { name: "certificate.pdf", bytes: other };
  const certificateOf = { name: "certificate.pdf", bytes: certificate };
  const judged = async (config: VerifyConfig, ...files: Dropped[]) => {
    const outcomes = await drop(config, ...files);
    const claims = outcomes.flatMap((outcome) => (outcome.kind === "failed" ? [] : outcome.claims));
    return {
      verdicts: outcomes.map((outcome) => (outcome.kind === "failed" ? outcome.why : outcome.verdict)),
      state: claims.find(({ name }) => name.endsWith("_of_this_record"))?.state,
      words: words(outcomes),
    };
  };
  const good = await judged(own, certificateOf);
  assert.deepEqual([good.verdicts, good.state], [["verified"], "holds"]);
  assert.match(good.words, /signed by: ?Jane Doe ?Juan Peña 売主 ?SHA-256 of the signed document/);
  assert.ok(good.words.includes(createHash("sha256").update(sealed).digest("hex")));
  const foreign = await judged(own, stranger);
  assert.deepEqual([foreign.verdicts, foreign.state], [["not_verified"], "fails"]);
  assert.match(foreign.words, /This is of another record than the one on this page/);
  assert.match(foreign.words, /is of another signing than the record on this page/);
  assert.match(foreign.words, /signed by: ?Ivy Roe/);
  const replaced = {
    ...own,
    envelope: { verifyCode: own.envelope?.verifyCode ?? "", custodyCertSha256: "0".repeat(64), notarizedSha256: null },
  };
  assert.equal((await judged(replaced, certificateOf)).state, "fails", "another file that names the same signing");
  assert.equal((await judged({ ...withoutRecord, sealCertificates: own.sealCertificates }, stranger)).state, undefined);

  const { roomCode } = await running.client.ok<{ roomCode: string }>("POST", "/api/rooms", { name: "1 Oak Street" });
  await running.client.ok("POST", `/api/rooms/${roomCode}/orders`, { orderCode: code });
  const passport = await running.client.ok<{ verifyCode: string }>("POST", `/api/rooms/${roomCode}/passport`);
  const pdf = await fetch(`${running.deps.baseUrl}/api/verify/room/${passport.verifyCode}/pdf`);
  const closing = { name: "closing.pdf", bytes: new Uint8Array(await pdf.arrayBuffer()) };
  const onEnvelope = await judged(own, closing);
  assert.deepEqual([onEnvelope.verdicts, onEnvelope.state], [["not_verified"], "fails"]);
  assert.match(onEnvelope.words, /The closing certificate is of a room, and not of the record on this page/);

  const room = configIn(await pageOf(`/v/room/${passport.verifyCode}`));
  assert.deepEqual((await judged(room, closing)).verdicts, ["verified"]);
  assert.equal((await judged(room, certificateOf)).state, "holds", "the room's manifest names it");
  assert.equal((await judged(room, stranger)).state, "fails");
  const notNamed = /The closing certificate on this page does not name this file/;
  const [strangers = assert.fail()] = await documentsOf(order, "sealed");
  assert.doesNotMatch((await judged(room, { name: "sealed.pdf", bytes: sealed })).words, notNamed);
  assert.match((await judged(room, { name: "sealed.pdf", bytes: strangers })).words, notNamed);
  const nowhere = { ...withoutRecord, sealCertificates: own.sealCertificates };
  const tied = await judged(nowhere, closing, { name: "sealed.pdf", bytes: sealed });
  assert.match(tied.words, /Document 1 of 1 of closing 1 Oak Street: the signed file\./);
  const untied = await judged(nowhere, closing, { name: "sealed.pdf", bytes: strangers });
  assert.match(untied.words, /The closing certificate that was chosen does not name this file\./);
  const resealed = async (reason: "Notarized (test)" | "Proof passport (test environment)", bytes = sealed) => ({
    name: "resealed.pdf",
    bytes: (await running.deps.sealDocument({ bytes, reason })).bytes,
  });
  const notarized = await resealed("Notarized (test)");
  const continued = await judged(nowhere, closing, notarized);
  assert.deepEqual(continued.verdicts, ["verified", "verified"]);
  assert.match(continued.words, /: the signed file\. The chosen file continues it, and was sealed as notarized/);
  const changed = await judged(nowhere, closing, await resealed("Proof passport (test environment)", notarized.bytes));
  assert.deepEqual(changed.verdicts, ["verified", "not_verified"], "anybody may have a changed file sealed");
  const forged = await (await sealer()).seal(notarized.bytes, "Notarized (test)");
  const selfMade = await judged(nowhere, closing, { name: "self-made.pdf", bytes: forged.bytes });
  assert.deepEqual(selfMade.verdicts, ["verified", "not_verified"], "a seal of somebody else's that says Notarized");
  const apart = await judged(nowhere, stranger, { name: "sealed.pdf", bytes: sealed });
  assert.deepEqual(apart.verdicts.toSorted(), ["not_verified", "verified"]);
  assert.match(apart.words, /This certificate belongs to another file/);
  const [trusted, given, theirs] = ["trust.json", "own.pdf", "theirs.pdf"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(trusted, await trustList());
  writeFileSync(given, sealed);
  writeFileSync(theirs, other);
  const printed = command(theirs, "--trust", trusted, "--with", given);
  assert.equal(printed.status, 1);
  assert.match(printed.stdout, /NOT DECIDED\. This certificate belongs to another file\. Nothing in it has changed/);
  assert.equal(
    JSON.parse(command(theirs, "--trust", trusted, "--json", "--with", given).stdout).verdict,
    "not_verified",
  );
  const painted = await judged(nowhere, stranger, await resealed("Proof passport (test environment)"));
  assert.doesNotMatch(painted.words, /belongs to another file/, "a proof seal makes it no document of another signing");
  writeFileSync(given, (await resealed("Proof passport (test environment)")).bytes);
  assert.match(command(theirs, "--trust", trusted, "--with", given).stdout, /NOT VERIFIED\. At least one check failed/);

  const proof: VerifyConfig = { ...own, proof: { sealedSha256: "1".repeat(64), docSha256: "2".repeat(64) } };
  const { envelope: _, ...ofProof } = proof;
  for (const dropped of [closing, certificateOf])
    assert.deepEqual(
      [(await judged(ofProof, dropped)).state, (await judged(ofProof, dropped)).verdicts],
      ["fails", ["not_verified"]],
    );
  const submitted = {
    ...ofProof,
    proof: { sealedSha256: "1".repeat(64), docSha256: createHash("sha256").update(closing.bytes).digest("hex") },
  };
  assert.equal((await judged(submitted, closing)).state, "holds", "a closing certificate that was sealed once more");
});

test("a custody certificate is compared with the one of several PDFs that it names", async () => {
  const config = configIn(await pageOf(`/v/envelope/${await codeOf()}`));
  const [document, custody] = [
    { name: "sealed.pdf", bytes: sealed },
    { name: "certificate.pdf", bytes: certificate },
  ];
  const third = { name: "third.pdf", bytes: sealed.subarray(0, 1000) };
  const fourth = { name: "fourth.pdf", bytes: sealed.subarray(0, 999) };
  const hashState = async (...files: Dropped[]) =>
    (await drop(config, ...files))
      .flatMap((outcome) => (outcome.kind === "proof" && outcome.custody ? outcome.claims : []))
      .find(({ name }) => name === "document_hash")?.state;
  assert.equal(await hashState(third, document, custody), "holds");
  assert.equal(await hashState(third, custody, fourth), "unchecked");
  const both = words(await drop(config, document, custody));
  assert.match(both, /Its custody certificate, which was checked with it/);
  assert.doesNotMatch(both, /Choose the custody certificate, too/);
  const { bytes } = await running.deps.sealDocument({ bytes: sealed, reason: "Notarized (test)" });
  const { envelope: _, proof: __, ...plain } = config;
  const continued = await drop({ ...plain, proof: null }, { name: "notarized.pdf", bytes }, custody);
  assert.deepEqual(
    continued.map((outcome) => (outcome.kind === "failed" ? outcome.why : outcome.verdict)),
    ["verified", "verified"],
  );
  const twice = await drop(config, document, { ...document, name: "copy.pdf" });
  assert.deepEqual(
    twice.map((outcome) => outcome.kind === "proof" && outcome.name),
    ["sealed.pdf = copy.pdf"],
  );
  const alone = words(await drop(config, document));
  assert.match(alone, /Choose the custody certificate, too/);
});

test("the page shows the same, and its script judges dropped files", async () => {
  const verifyCode = await codeOf();
  const answer = await fetch(`${running.deps.baseUrl}/v/envelope/${verifyCode}`, { headers: { accept: "text/html" } });
  const page = await answer.text();
  assert.equal(answer.status, 200);
  for (const words of ["A test signing", "J*** D***", "No record of the trail was changed"])
    assert.ok(page.includes(words));
  assert.doesNotMatch(page, /Jane|Juan/);
  const config = configIn(page);
  const document = { name: "sealed.pdf", bytes: sealed };
  const custody = { name: "certificate.pdf", bytes: certificate };
  const verdicts = async (...files: Dropped[]) =>
    (await drop(config, ...files)).map((outcome) => (outcome.kind === "failed" ? outcome.why : outcome.verdict));
  assert.deepEqual(await verdicts(document), ["verified"]);
  assert.deepEqual(await verdicts(custody), ["verified"]);
  assert.deepEqual(await verdicts(document, custody), ["verified", "verified"]);
  assert.match(
    words(await drop(config, document)),
    /Signatures ?Jane Doe, .*? UTC Intact\. ?Juan Peña 売主, .*? UTC Intact\. ?Names and times are those in the signatures/,
  );
  const changed = { name: "changed.pdf", bytes: sealed.with(200, 0) };
  assert.doesNotMatch(words(await drop(config, changed)), /Intact/);
  assert.deepEqual(await verdicts(changed, custody), ["not_verified", "not_verified"]);
});

test("a trail that grows while its certificate is drawn is certified again, once", async () => {
  const email = "late@example.com";
  const order = await running.order([{ name: "Late Lee", email }]);
  let grown = 0;
  const ceremony = running.ceremonyWith({
    async sealDocument(input) {
      if (input.reason.startsWith("Custody") && grown++ === 0) await running.db.transaction(grow);
      return running.deps.sealDocument(input);
    },
  });
  const grow = async (tx: Tx) => {
    const [row] = await tx.query<{ id: number }>(sql`
      SELECT e.id FROM envelopes e JOIN orders o ON o.id = e.order_id WHERE ${isSealed(sql`o.code`, "order", order)}`);
    const envelope = (await lockEnvelope(tx, row?.id ?? 0)) ?? assert.fail();
    await appendToTrail(tx, running.rowMac, envelope, "reminded", new Date(), { signer: 1 });
  };
  const done = await signBy(ceremony, await running.linkOf(email), "Late Lee");
  assert.deepEqual([done, grown], [{ outcome: "signed", completed: true }, 2]);
  const kept = await documentsOf(order, "custody_certificate");
  assert.equal(kept.length, 1);
  const events = (await parseEnvelopeIn(kept[0] ?? assert.fail())).trail.map(({ event }) => event);
  assert.deepEqual(events.slice(-3), ["signed", "reminded", "sealed"]);
});

test("a closing passport names the envelope and its certificate", async () => {
  const { roomCode } = await running.client.ok<{ roomCode: string }>("POST", "/api/rooms", { name: "12 Elm Street" });
  await running.client.ok("POST", `/api/rooms/${roomCode}/orders`, { orderCode: code });
  const passport = await running.client.ok<{ verifyCode: string }>("POST", `/api/rooms/${roomCode}/passport`);
  const answer = await fetch(`${running.deps.baseUrl}/api/verify/room/${passport.verifyCode}`);
  const { manifest } = (await answer.json()) as { manifest: { documents: Record<string, string>[] } };
  const [document] = manifest.documents;
  assert.equal(document?.envelopeVerifyCode, await codeOf());
  assert.equal(document?.custodyCertSha256, createHash("sha256").update(certificate).digest("hex"));
  assert.equal(document?.sealedSha256, createHash("sha256").update(sealed).digest("hex"));
});

/** The results when a signer, the client and the partner request the sealed document. */
async function downloads(): Promise<{ signer: string; client: number; partner: [number, string] }> {
  const { baseUrl } = running.service;
  const link = await running.linkOf("jane@example.com");
  const signer = await running.ceremony
    .copy(link, "sealed")
    .then(async (file) => ((await wholeFile(file)).equals(sealed) ? "it" : "another"))
    .catch(({ message }: Error) => message);
  const [path = ""] = running
    .mailsTo("signer@example.com")
    .flatMap((mail) => mail.match(/\/orders\/\S+\/documents\/[0-9a-f]{40}/) ?? []);
  const id = `sealed-${createHash("sha256").update(sealed).digest("hex")}`;
  const client = await fetch(`${baseUrl}${path}/${id}`);
  const { headers } = running;
  const partner = await fetch(`${baseUrl}/api/partner/orders/${code}/documents/${id}`, { headers });
  for (const { ok, arrayBuffer } of [client, partner].map((one) => ({
    ok: one.ok,
    arrayBuffer: () => one.clone().arrayBuffer(),
  })))
    if (ok) assert.ok(Buffer.from(await arrayBuffer()).equals(sealed));
  return { signer, client: client.status, partner: [partner.status, partner.ok ? "it" : await partner.text()] };
}

/** Changes one byte of a stored document. @returns the path of its blob, and its former bytes */
function alterBytes(blobKey: string): { path: string; stored: Buffer } {
  const path = join(running.service.dataDir, "blobs", blobKey);
  const stored = readFileSync(path);
  const altered = Buffer.from(stored);
  altered.writeUInt8((altered.at(-20) ?? 0) ^ 1, altered.length - 20);
  writeFileSync(path, altered);
  return { path, stored };
}

test("nobody gets a document whose file or row was altered, or that the store lost", async () => {
  const whole = { signer: "it", client: 200, partner: [200, "it"] };
  assert.deepEqual(await downloads(), whole);
  const [row] = await running.db.query<{ id: number; blobKey: string; mac: Buffer }>(sql`
    SELECT d.id, d.blob_key AS "blobKey", d.row_mac AS mac FROM documents d JOIN orders o ON o.id = d.order_id
    WHERE ${isSealed(sql`o.code`, "order", code)} AND d.kind = 'sealed'`);
  assert.ok(row);
  const { path, stored } = alterBytes(row.blobKey);
  const [{ signer, client, partner }] = await Promise.all([downloads(), downloads(), downloads()]);
  assert.deepEqual([client, partner[0]], [409, 409]);
  const refused =
    /The stored document \(sealed\) of order \w{6}… is not what was written, so it is not served, signed or sealed/;
  for (const words of [signer, partner[1]]) assert.match(words, refused);
  const reports = await running.db.query<{ state: string; reason: string; lines: number }>(sql`
    SELECT t.state, t.reason, (SELECT count(*) FROM audit_log a WHERE a.order_id = o.id AND a.action = 'document.altered') AS lines
    FROM tasks t JOIN orders o ON o.id = t.order_id
    WHERE t.kind = 'document_altered' AND ${isSealed(sql`o.code`, "order", code)}`);
  const [report = assert.fail("there is no task"), ...more] = reports;
  assert.deepEqual([report.state, report.lines, more], ["open", 1, []]);
  assert.match(report.reason, /\(sealed\) of order \w{6}… no longer match the recorded SHA-256 [0-9a-f]{64}/);
  writeFileSync(path, "another file");
  const { token } = await running.linkOf("jane@example.com");
  const page = await fetch(`${running.service.baseUrl}/sign/${token}/sealed.pdf?save=1`);
  assert.equal(page.status, 409);
  assert.match(await page.text(), /The stored document was altered\. It no longer matches its recorded hash/);
  rmSync(path);
  const lost = await downloads();
  assert.match(lost.signer, /can't be read now\. Try again later/);
  assert.deepEqual([lost.client, lost.partner[0]], [503, 503]);
  writeFileSync(path, stored);
  await running.db.query(sql`UPDATE documents SET row_mac = NULL WHERE id = ${row.id}`);
  const forged = await downloads();
  assert.match(forged.signer, /not what the service wrote/);
  assert.deepEqual([forged.client, forged.partner[0]], [503, 503]);
  assert.doesNotMatch(forged.partner[1], /written/, "what is wrong is in the log");
  await running.db.query(sql`UPDATE documents SET row_mac = ${row.mac} WHERE id = ${row.id}`);
  assert.deepEqual(await downloads(), whole);
});

test("the public record says that the stored certificate was altered", async () => {
  const [row] = await running.db.query<{ blobKey: string }>(sql`
    SELECT d.blob_key AS "blobKey" FROM documents d JOIN orders o ON o.id = d.order_id
    WHERE ${isSealed(sql`o.code`, "order", code)} AND d.kind = 'custody_certificate'`);
  const { path, stored } = alterBytes(row?.blobKey ?? "");
  assert.equal(states(await publicOf(await codeOf()))["custody_certificate"], "fails");
  writeFileSync(path, stored);
  assert.equal(states(await publicOf(await codeOf()))["custody_certificate"], "holds");
});

test("documents that the retention plan deleted are reported as deleted, and the rest still verifies", async () => {
  const now = new Date(Date.now() + 400 * 24 * 3600_000);
  await changeOrder(running.db, code, sql`updated_at = ${new Date(0)}`);
  const none = "none";
  await deleteDue(
    { ...running.deps, ...retained },
    {
      test: { orderDocuments: 30, proofPassports: none, closingPassports: none },
      live: {
        finishedOrders: none,
        refundedOrders: none,
        unpaidOrders: none,
        proofPassports: none,
        closingPassports: none,
      },
      webhookDeliveries: none,
    },
    now,
  );
  const answer = await publicOf(await codeOf());
  assert.equal(answer.chainOk, true);
  assert.equal(answer.certificateDeletedAtUtc, now.toISOString());
  assert.deepEqual(
    Object.entries(states(answer)).filter(([, state]) => state !== "holds"),
    [["custody_certificate", "unchecked"]],
  );
  const kept = await running.db.query(sql`
    SELECT d.kind FROM documents d JOIN orders o ON o.id = d.order_id
    WHERE ${isSealed(sql`o.code`, "order", code)} AND NOT EXISTS (SELECT FROM deleted_blobs b WHERE b.blob_key = d.blob_key)`);
  assert.deepEqual(kept, [], "revisions are deleted with the rest");
  const { signer, client, partner } = await downloads();
  assert.equal(signer, "There is no such document to keep.");
  assert.deepEqual([client, partner[0]], [404, 404]);
  assert.match(partner[1], /was deleted/);
});

test("a record with a wrong MAC is reported", async () => {
  await running.db.query(sql`
    UPDATE envelope_events SET row_mac = (SELECT row_mac FROM envelope_events ORDER BY id LIMIT 1)
    WHERE record LIKE '%"event":"signed"%'`);
  const answer = await publicOf(await codeOf());
  assert.deepEqual([answer.chainOk, states(answer).trail_rows], [false, "fails"]);
});

test(
  "after a rotation a node that was not restarted seals with the older certificate, and names it",
  needs("poppler"),
  async () => {
    const [older, anchors] = [await sealFingerprint(running.service.baseUrl), trust().sealAnchors];
    const rotated = await running.service.cli<{ previousSha256: string }>("seal", "rotate", "--test");
    assert.equal(rotated.previousSha256, older);
    const order = await running.order([{ name: "Lou", email: "lou@example.com" }]);
    await signBy(running.ceremony, await running.linkOf("lou@example.com"), "Lou");
    const [late = assert.fail("there is no certificate")] = await documentsOf(order, "custody_certificate");
    const judged = await verifyCustody(late, null, {
      trust: { sealAnchors: anchors, tsaAnchors: [] },
      at: Date.now(),
      crypto: createNodeCrypto(),
    });
    assert.deepEqual(failing(judged.claims), []);
    writeFileSync(join(folder, "late.pdf"), late);
    assert.ok(shell("pdftotext -layout late.pdf -").replaceAll(/\s+/g, " ").includes(`Certificate, SHA-256 ${older} `));
  },
);
