import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { hash } from "node:crypto";
import { cpSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after } from "node:test";
import { parseTimeStampResp } from "@signsealship/evidence/rfc3161";
import { parseCertificate } from "@signsealship/evidence/x509";
import { blobsOf, wholeFile } from "@signsealship/testing/blobs";
import { startTsa } from "@signsealship/testing/doubles/tsa";
import { openTsaWorkshop, type TsaWorkshop } from "@signsealship/testing/doubles/tsa-tokens";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import { enginePids, startEngine } from "@signsealship/testing/media";
import { openPeer } from "@signsealship/testing/media-peer";
import { newPartner, temporaryFolder } from "@signsealship/testing/service";
import { testsNeeding } from "@signsealship/testing/tools/tools";
import { until } from "@signsealship/testing/until";
import { assembleCms, verifySignedAttributes } from "../../../../src/evidence/seals/seals.ts";
import { openLog } from "../../../../src/kernel/platform/logs.ts";
import { systemRandom } from "../../../../src/kernel/platform/random.ts";
import { openRowMac } from "../../../../src/kernel/platform/row-mac.ts";
import { openSecretsKey } from "../../../../src/kernel/platform/secrets.ts";
import { openPkcs12 } from "../../../../src/pages/operator/browser/pkcs12.ts";
import { saveAct } from "../../../../src/signing/notaries/claims/orders.ts";
import {
  addNotary,
  eligibilityReader,
  exportOf,
  exportRecording,
  loadNotaryRules,
  openExport,
  Recordings,
} from "../../../../src/signing/notaries/notaries.ts";
import { postForm } from "../../../firms/members/signed-in-member.ts";
import { newOperator } from "../../../firms/operators/console-people.ts";
import { certificateFiles, password } from "../certificate-files.ts";
import { ohioCommission, ordersToNotarize } from "../orders-to-notarize.ts";

const { test } = testsNeeding("jq", "openssl", "unzip");

const folder = await forTests(temporaryFolder());
const tsa = await forTests(startTsa());
const foreign = openTsaWorkshop();
after(() => foreign.close());
writeFileSync(join(folder.path, "tsa.pem"), tsa.caPem);
const running = await forTests(openHarness({ TSA_URLS: tsa.url, TSA_TRUST: join(folder.path, "tsa.pem") }));
const media = await forTests(startEngine());
const { db } = running;
const { dataDir } = running.service;
const clock = () => new Date();
const root = join(import.meta.dirname, "../../../../..");
const shipped = loadNotaryRules(join(root, "service/data/notarization-rules.yaml"));
const deps = {
  db,
  clock,
  random: systemRandom,
  log: openLog("silent"),
  media,
  blobs: await blobsOf(dataDir),
  secrets: await openSecretsKey(`file:${join(dataDir, "keys/secrets")}`),
  readEligibility: eligibilityReader({ shipped, clock, notarizationBlocked: () => false }),
};
const recordings = new Recordings(deps);
const partner = await newPartner(running.service);
const nora = await newOperator(running, { roles: ["notary"], environment: "test", passkey: false });
const { pem, p12 } = certificateFiles(folder.path)("Nora Ames", { key: "p256" });
const notaryId = await addNotary({ db, clock }, nora.id, { ...ohioCommission, certificate: pem }, "operator");

const orders = ordersToNotarize(running, partner);
const at = (path: string) => running.service.baseUrl + path;
const desk = (code: string, rest: string) => at(`/operator/notary/orders/${code}${rest}`);
const post = (address: string, fields: Record<string, string> = {}) =>
  postForm(address, fields, { cookie: nora.cookie });

/** An order that the notary has claimed, with its ids. */
async function claimed() {
  const code = await orders.place();
  const task = await orders.claim(code, nora.cookie);
  return { code, ...task };
}

/** The id of the recorded session. It has no row in `live_sessions`. */
const sessionId = "7d6a3a0e-5a43-4b0e-9d0e-6f1c2b3a4d5e";

const act = {
  act: "acknowledgment",
  mode: "ron",
  document: "Deed",
  venue: { state: "OH", county: "Franklin" },
  startedAt: "2026-01-15T14:05:00.000Z",
  endedAt: "2026-01-15T14:35:00.000Z",
  witnesses: [],
  feeCents: 1000,
  session: { tool: "SignSealShip", id: sessionId },
  notes: null,
  principals: [
    {
      name: "Jané Doe",
      address: "1 Main",
      basis: "personal_knowledge",
      credential: null,
      witness: null,
      place: { city: "Columbus", region: "Ohio", country: "US" },
    },
  ],
};

test("a stranger follows the notary's signature to the recording, and sees which link was altered", async () => {
  const { code, id: taskId, orderId } = await claimed();
  const people = [{ person: "n", role: "notary", name: "Nora Ames" }];
  const requireHeld = async () => {};
  const input = { session: sessionId, notaryId, orderId, environment: "test" as const, people, requireHeld };
  const recording = await recordings.begin(input);
  const peer = await openPeer({ engine: media.engine, session: sessionId, person: "n" });
  await until(() => (recordings.headOf(sessionId)?.seq ?? 0) > 2);
  const head = recordings.headOf(sessionId);
  assert.ok(head);
  const { seq, at: headAt, headSha256: sha256 } = head;
  const kept = { sha256, keptAt: running.service.baseUrl, keptUntil: null, head: { recording, seq, at: headAt } };
  const noted = { ...act, recording: kept };
  await saveAct(db, taskId, notaryId, noted, clock());

  for (const pid of enginePids()) process.kill(pid, "SIGKILL");
  await media.happened("lost");
  await peer.close();
  await recordings.resume(sessionId, requireHeld);
  const feed = await fetch(at("/api/partner/events?topics=recording.interrupted"), { headers: partner.headers });
  const { events } = (await feed.json()) as { events: { id: string; payload: { data: { cause: string } } }[] };
  assert.deepEqual(
    events.map((event) => [event.id, event.payload.data.cause]),
    [[`recording.interrupted:${code}:1`, "stopped"]],
  );

  const key = await openPkcs12(p12, password);
  const certificate = Buffer.from(key.certificate.der).toString("base64");
  const prepared = (await (await post(desk(code, "/sign/prepare"), { certificate })).json()) as { signedAttrs: string };
  const signature = await key.sign(Buffer.from(prepared.signedAttrs, "base64"));
  const chain = [parseCertificate(key.certificate.der)] as const;
  const signed = { chain, signedAttrs: Buffer.from(prepared.signedAttrs, "base64"), signature };
  const signatureValue = verifySignedAttributes(signed);
  assert.ok(signatureValue);
  await post(desk(code, "/sign/complete"), { signature: Buffer.from(signature).toString("base64") });
  const report = await (await fetch(desk(code, "/signed"), { headers: { cookie: nora.cookie } })).text();
  const value = (name: string) => new RegExp(`name="${name}"[^>]*? value="([^"]*)"`).exec(report)?.[1] ?? "";
  const confirmed = { sha256: value("sha256"), actSha256: value("actSha256"), warnings: value("warnings") };
  const early = await post(desk(code, "/signed"), confirmed);
  assert.match(await early.text(), /End the session first/);
  await recordings.end(sessionId, []);
  assert.equal((await post(desk(code, "/signed"), confirmed)).status, 303);

  await until(async () => {
    const id = await exportRecording(deps, recording, { actor: "operator", reason: "Check" });
    const all = { ...deps, rowMac: openRowMac(deps.secrets) };
    const { file } = await openExport(all, await exportOf(all, id, "operator"), null);
    const zip = await wholeFile(file);
    writeFileSync(join(folder.path, "copy.zip"), zip);
    return zip.includes("recording.json.tlog-proof");
  });
  execFileSync("unzip", ["-q", "-o", "copy.zip"], { cwd: folder.path });
  writeFileSync(join(folder.path, "notarized.pdf"), await orders.notarized(code));
  const journal = await fetch(at("/operator/notary/journal.json"), { headers: { cookie: nora.cookie } });
  writeFileSync(join(folder.path, "journal.json"), await journal.text());

  const trust = await (await fetch(at("/seal/trust.json"))).text();
  writeFileSync(join(folder.path, "trust.json"), trust);
  cpSync(join(root, "testing/tools/log/check-proof.sh"), join(folder.path, "check-proof.sh"));
  const said = checkByHand(head);
  for (const words of [
    "chain.jsonl: OK",
    "The chain holds.",
    "takes/1000000.webm: OK",
    "The journal has the act that was signed.",
    "The chain has the state that was signed.",
    "The journal names this manifest.",
    "The journal names this document.",
    notarySigned,
    "The log has this manifest.",
  ])
    assert.ok(said.includes(`${words}\n`), `${words} in ${said}`);
  assert.match(said, stampHolds);
  const proof = join(folder.path, "recording.json.tlog-proof");
  renameSync(proof, `${proof}.away`);
  assert.doesNotMatch(checkByHand(head), /The log has this manifest/);
  renameSync(`${proof}.away`, proof);
  const broken = (name: string, change: (text: string) => string): string => {
    const path = join(folder.path, name);
    const before = readFileSync(path);
    writeFileSync(path, change(before.toString("latin1")), "latin1");
    const words = checkByHand(head);
    writeFileSync(path, before);
    return words;
  };
  const withoutAct = broken("journal.json", (text) => text.replace('"feeCents":1000', '"feeCents":1001'));
  assert.doesNotMatch(withoutAct, /has the act that was signed/);
  const otherHead = broken("chain.jsonl", (text) => text.replace(/"person":"n"/g, '"person":"m"'));
  assert.doesNotMatch(otherHead, /has the state that was signed|chain\.jsonl: OK|The chain holds/);
  const otherManifest = broken("recording.json", (text) => text.replace("Nora Ames", "Nora Amos"));
  assert.doesNotMatch(otherManifest, /names this manifest|The log has this manifest/);
  assert.match(otherManifest, /has the state that was signed/);
  const otherChunk = broken("takes/1000000.webm", (bytes) => bytes.slice(0, -1) + (bytes.endsWith("a") ? "b" : "a"));
  assert.match(otherChunk, /takes\/1000000\.webm: FAILED[\s\S]*Take 1000000: a chunk of \d+ bytes is another\./);
  // An attacker with all files truncates the recording, and writes a matching manifest.
  const cut = cutTail(() => checkByHand(head));
  assert.match(cut, /chain\.jsonl: OK\nThe chain holds\.\ntakes\/1000000\.webm: OK\n/);
  assert.match(cut, /Take 1000000: each chunk is the one that its line names\./);
  assert.doesNotMatch(cut, /has the state that was signed|names this manifest|The log has this manifest/);

  const otherPdf = broken("notarized.pdf", (bytes) => bytes.replace("%PDF-1.", "%PDF-2."));
  assert.doesNotMatch(otherPdf, /names this document/);
  assert.ok(!otherPdf.includes(notarySigned));
  const longerPdf = broken("notarized.pdf", (bytes) => `${bytes}% more\n`);
  assert.doesNotMatch(longerPdf, /names this document/);
  const otherAct = broken("notarized.pdf", (bytes) => bytes.replace(/(?<=SSSNotaryActSha256<)./, "g"));
  assert.ok(!otherAct.includes(notarySigned));
  const otherSigner = broken("journal.json", (text) => text.replace(/("certificateSha256":")[0-9a-f]/g, "$1x"));
  assert.ok(!otherSigner.includes(notarySigned));

  const stampedBy = (workshop: TsaWorkshop, data: Uint8Array) =>
    broken("notarized.pdf", (bytes) => withToken(bytes, signed, tokenOf(workshop, data)));
  const anotherAuthority = stampedBy(foreign, signatureValue);
  assert.ok(anotherAuthority.includes(notarySigned));
  assert.doesNotMatch(anotherAuthority, stampHolds);
  writeFileSync(join(folder.path, "tsa.pem"), foreign.caPem);
  assert.match(stampedBy(foreign, signatureValue), stampHolds);
  const anotherSignature = stampedBy(foreign, Buffer.from("another signature"));
  assert.ok(anotherSignature.includes(notarySigned));
  assert.doesNotMatch(anotherSignature, stampHolds);
});

/** Removes the last chunk from the take, the chain and the manifest while a function runs. @returns its result */
function cutTail(run: () => string): string {
  const read = (name: string) => readFileSync(join(folder.path, name));
  const lines = read("chain.jsonl").toString().trimEnd().split("\n");
  const last = JSON.parse(lines.pop() ?? "") as { take: number; bytes: number; previousSha256: string };
  const names = ["recording.json", "chain.jsonl", `takes/${last.take}.webm`] as const;
  const [manifest, chain, whole] = names.map(read);
  assert.ok(manifest && chain && whole);
  const text = `${lines.join("\n")}\n`;
  const bytes = whole.subarray(0, -last.bytes);
  const made = JSON.parse(manifest.toString());
  made.chain = { lines: lines.length, headSha256: last.previousSha256, sha256: hash("sha256", text) };
  for (const take of made.takes)
    if (take.take === last.take) Object.assign(take, { bytes: bytes.length, sha256: hash("sha256", bytes) });
  const write = (contents: readonly (string | Buffer)[]) => {
    for (const [index, name] of names.entries()) writeFileSync(join(folder.path, name), contents[index] ?? "");
  };
  write([JSON.stringify(made), text, bytes]);
  const said = run();
  write([manifest, chain, whole]);
  return said;
}

const notarySigned = "The notary signed this document and this act.";
const stampHolds = /\nThe signature, and the recording up to it, existed on .* GMT\.\n/;

/** A time stamp over the data, by an authority that the service does not trust. */
function tokenOf(workshop: TsaWorkshop, data: Uint8Array): Uint8Array {
  const query = execFileSync("openssl", ["ts", "-query", "-digest", hash("sha256", data), "-sha256", "-cert"]);
  const { token } = parseTimeStampResp(workshop.reply(query));
  assert.ok(token);
  return token;
}

type Signed = Parameters<typeof verifySignedAttributes>[0];

/** The document as latin1 text, with another time stamp in the notary's signature. */
function withToken(document: string, signed: Signed, token: Uint8Array): string {
  const cms = Buffer.from(assembleCms({ ...signed, token })).toString("hex");
  return document.replace(/(?<=SSSNotaryActSha256<[0-9a-f]{64}>\/Contents <)[0-9a-f]+/, (hex) =>
    cms.padEnd(hex.length, "0"),
  );
}

/** Runs all commands of docs/notary-recording.md, as they are printed. */
function checkByHand(head: { seq: number; headSha256: string } | null): string {
  const page = readFileSync(join(root, "docs/notary-recording.md"), "utf8");
  const commands = [...page.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block]) => block).join("\n");
  const env = { ...process.env, SEQ: String(head?.seq), HEAD: head?.headSha256 ?? "" };
  const { stdout, stderr } = spawnSync("bash", ["-c", commands], { cwd: folder.path, encoding: "utf8", env });
  assert.doesNotMatch(stderr, /No such file/, "of the files that an export may lack");
  return stdout;
}
