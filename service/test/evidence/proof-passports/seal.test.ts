import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { databaseOf } from "@signsealship/testing/database";
import { type CalendarDouble, startCalendar } from "@signsealship/testing/doubles/calendar";
import { startTsa, type TsaDouble } from "@signsealship/testing/doubles/tsa";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { zooBytes } from "@signsealship/testing/inputs/zoo";
import { newPartner, type Service, startService, temporaryFolder } from "@signsealship/testing/service";
import { needs, testsNeeding } from "@signsealship/testing/tools/tools";
import { until } from "@signsealship/testing/until";
import { openBlobs } from "../../../src/kernel/platform/blobs/blobs.ts";
import { folderBackend } from "../../../src/kernel/platform/blobs/folder.ts";
import { sweepOrphans } from "../../../src/kernel/platform/blobs/orphans.ts";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { openSecretsKey } from "../../../src/kernel/platform/secrets.ts";
import { blobTables } from "../../../src/upkeep/protected-data.ts";
import { bytesOf, type Caller, type SealAnswer, seal } from "./seal-document.ts";

const { after, before, test } = testsNeeding("openssl");

const folder = temporaryFolder();
const document = makePdf({ bytes: 60_000, text: "Deed of trust" });
const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
let tsa: TsaDouble;
let calendars: CalendarDouble[];
let service: Service;
let live: Caller;
let sealed: SealAnswer;
let file: Buffer;

before(async () => {
  tsa = await startTsa();
  calendars = [await startCalendar(), await startCalendar()];
  service = await startService({
    DATA_DIR: folder.path,
    RATE_LIMITS: "off",
    BASE_URL: "https://seals.example.com",
    TSA_URLS: tsa.url,
    OTS_CALENDARS: calendars.map(({ url }) => url).join(","),
  });
  live = { ...(await newPartner(service, { live: true })), baseUrl: service.baseUrl };
  sealed = await seal(live, document);
  file = await bytesOf(await fetch(verify("/document")));
});
after(async () => {
  await service?.stop();
  await Promise.all([tsa, ...calendars].map((double) => double.close()));
  folder.remove();
});

const verify = (more = "", code = sealed.verifyCode) => `${service.baseUrl}/api/passport/verify/${code}${more}`;
const folderFor = (name: string): string => {
  const path = join(folder.path, "scratch", name);
  mkdirSync(path, { recursive: true });
  return path;
};

test("the seal response has the contract's fields, with both timestamps", () => {
  const { passportId, verifyCode, verifyUrl, timestamps, ...rest } = sealed;
  assert.match(passportId, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  assert.match(verifyCode, /^[a-z2-7]{26}$/);
  assert.equal(verifyUrl, `https://seals.example.com/api/passport/verify/${verifyCode}`);
  assert.deepEqual(rest, {
    docSha256: sha256(document),
    sealedSha256: sha256(file),
    status: "sealed",
    environment: "live",
    log: { origin: "seals.example.com/log/live", state: "queued" },
  });
  assert.equal(`${timestamps.rfc3161?.authority}/`, tsa.url);
  assert.ok(Math.abs(Date.parse(timestamps.rfc3161?.timestampedAtUtc ?? "") - Date.now()) < 300_000);
  assert.equal(timestamps.openTimestamps?.calendar, calendars[0]?.url);
  assert.equal(timestamps.openTimestamps?.status, "pending");
  for (const { submitted } of calendars) assert.deepEqual(submitted, [sealed.sealedSha256]);
});

test(
  "the sealed file is the document with a tail, and pdfsig reports that all of it is signed",
  needs("poppler", "qpdf"),
  () => {
    assert.deepEqual(file.subarray(0, document.length), document);
    const path = join(folderFor("pdfsig"), "sealed.pdf");
    writeFileSync(path, file);
    const output = execFileSync("pdfsig", ["-nocert", path], { encoding: "utf8" });
    assert.match(output, /Signature is Valid/);
    assert.match(output, /Total document signed/);
    assert.match(output, /ETSI\.CAdES\.detached/);
    execFileSync("qpdf", ["--check", path]);
  },
);

test("its owner fetches it: the same fields without time stamps, and the time of creation", async () => {
  const response = await fetch(`${service.baseUrl}/api/passport/${sealed.passportId}`, { headers: live.headers });
  const { createdAt, requestId, ...same } = (await response.json()) as { createdAt: string; requestId: string };
  assert.equal(requestId, response.headers.get("request-id"));
  const { timestamps: _, log: __, ...expected } = sealed;
  assert.deepEqual(same, expected);
  assert.equal(new Date(createdAt).toISOString(), createdAt);
});

test("anybody verifies it without a key, and learns nothing about the partner", async () => {
  const response = await fetch(verify());
  assert.equal(response.headers.get("cache-control"), "no-store");
  const { sealedAtUtc, ...body } = (await response.json()) as { sealedAtUtc: string };
  assert.deepEqual(body, {
    verdict: "verified",
    verifyCode: sealed.verifyCode,
    sealedSha256: sealed.sealedSha256,
    docSha256: sealed.docSha256,
    source: "proof_passport_api",
    certificateAvailable: true,
    environment: "live",
  });
  assert.ok(Date.parse(sealedAtUtc) <= Date.now());
});

test("a test key's passport is reported as verified_test", async () => {
  const partner = { ...(await newPartner(service)), baseUrl: service.baseUrl };
  const { verifyCode, environment } = await seal(partner, document);
  assert.equal(environment, "test");
  const body = (await (await fetch(verify("", verifyCode))).json()) as { verdict: string; environment: string };
  assert.deepEqual([body.verdict, body.environment], ["verified_test", "test"]);
});

test("two seals of one document are two passports with different codes", async () => {
  const again = await seal(live, document);
  assert.equal(again.docSha256, sealed.docSha256);
  assert.notEqual(again.verifyCode, sealed.verifyCode);
  assert.notEqual(again.passportId, sealed.passportId);
});

test("the evidence is a zip whose README contains commands that work", needs("unzip", "poppler"), async () => {
  await until(async () => (await fetch(verify("/tlog-proof"))).status === 200);
  const response = await fetch(verify("/evidence"));
  assert.equal(response.headers.get("content-type"), "application/zip");
  const zip = await bytesOf(response);
  assert.equal(String(zip.length), response.headers.get("content-length"));
  assert.deepEqual(await bytesOf(await fetch(verify("/evidence"))), zip);
  const path = folderFor("evidence");
  writeFileSync(join(path, "evidence.zip"), zip);
  execFileSync("unzip", ["-q", "evidence.zip"], { cwd: path });
  const names = [
    "README.txt",
    "evidence.zip",
    "passport.json",
    "seal-certificates.pem",
    "sealed.pdf",
    "sealed.pdf.ots",
    "sealed.pdf.tlog-proof",
    "timestamp.tst",
  ];
  assert.deepEqual(readdirSync(path).sort(), names);
  assert.deepEqual(readFileSync(join(path, "sealed.pdf")), file);
  writeFileSync(join(path, "tsa.pem"), tsa.caPem);
  const readme = readFileSync(join(path, "README.txt"), "utf8");
  const commands = readme.split("\n").filter((line) => /^ {2}/.test(line) && !/^ {2}ots /.test(line));
  assert.ok(commands.length >= 8, readme);
  // Without `pipefail`, because `head` may exit before `tail` has written everything.
  const shown = execFileSync("bash", ["-eu", "-c", commands.join("\n")], {
    cwd: path,
    encoding: "utf8",
    stdio: "pipe",
  });
  assert.match(shown, new RegExp(`${sealed.sealedSha256} +sealed.pdf`));
  assert.match(shown, new RegExp(`${sealed.docSha256} +-`));
  assert.match(shown, /Verification: OK/);
  const record = JSON.parse(readFileSync(join(path, "passport.json"), "utf8"));
  assert.deepEqual([record.format, record.docSha256], [1, sealed.docSha256]);
  assert.deepEqual(record.timestamps, sealed.timestamps);
});

test("the certificate of the seal is public, and is the one in the evidence", async () => {
  const response = await fetch(`${service.baseUrl}/seal/certificate.pem`);
  assert.equal(response.status, 200);
  const pem = await response.text();
  const path = folderFor("certificate");
  writeFileSync(join(path, "certificate.pem"), pem);
  assert.match(
    execFileSync("openssl", ["x509", "-in", join(path, "certificate.pem"), "-noout", "-text"], { encoding: "utf8" }),
    /seals\.example\.com/,
  );
  assert.ok(pem.startsWith(readFileSync(join(folder.path, "scratch/evidence/seal-certificates.pem"), "utf8")));
});

test("an earlier signature stays valid after the seal", needs("poppler"), async () => {
  const { verifyCode } = await seal(live, zooBytes("signed-once.pdf"));
  const path = join(folderFor("signed"), "sealed.pdf");
  writeFileSync(path, await bytesOf(await fetch(verify("/document", verifyCode))));
  const output = execFileSync("pdfsig", ["-nocert", path], { encoding: "utf8" });
  assert.equal(output.match(/Signature is Valid/g)?.length, 2);
});

test("34 MB are sealed and returned byte for byte", async () => {
  const large = makePdf({ bytes: 34_000_000 });
  const answer = await seal(live, large);
  assert.equal(answer.docSha256, sha256(large));
  const back = await bytesOf(await fetch(verify("/document", answer.verifyCode)));
  assert.equal(sha256(back), answer.sealedSha256);
});

test("passport, audit line and event exist, and the uploaded bytes are stored nowhere", async () => {
  const db = await databaseOf(folder.path);
  try {
    const events = await db.query(sql`
      SELECT topic, event_id, subject, environment FROM events WHERE event_id = ${sealed.passportId}`);
    const { passportId } = sealed;
    assert.deepEqual(events, [
      { topic: "passport.sealed", event_id: passportId, subject: passportId, environment: "live" },
    ]);
    const audit = await db.query(sql`SELECT action FROM audit_log WHERE detail->>'passportId' = ${passportId}`);
    assert.deepEqual(audit, [{ action: "passport.sealed" }]);
    const [counts] = await db.query<{ passports: number; blobs: number }>(sql`
      SELECT count(*) AS passports, count(DISTINCT blob_key) AS blobs FROM passports`);
    const files = readdirSync(join(folder.path, "blobs"), { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    );
    assert.equal(files.length, counts?.blobs);
    assert.equal(counts?.passports, counts?.blobs);
  } finally {
    await db.close();
  }
});

test("the sweep of orphaned blobs keeps the blobs that a passport refers to, and removes unreferenced ones", async () => {
  const db = await databaseOf(folder.path);
  try {
    const secrets = await openSecretsKey(`file:${join(folder.path, "keys/secrets")}`);
    const blobs = openBlobs(folderBackend(join(folder.path, "blobs")), secrets, () => new Date());
    // Creates the state that a crash leaves after the blob was stored and before its row was written.
    await blobs.put(Buffer.from("nobody's"), { kind: "document", owner: "", sha256: "" });
    assert.equal(
      await sweepOrphans(
        { db, blobs, blobTables, markedAmong: async () => new Set() },
        new Date(Date.now() + 2 * 3_600_000),
      ),
      1,
    );
    assert.deepEqual(await bytesOf(await fetch(verify("/document"))), file);
  } finally {
    await db.close();
  }
});
