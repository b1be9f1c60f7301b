import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { blobsOf } from "@signsealship/testing/blobs";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import { startEngine } from "@signsealship/testing/media";
import { openPeer } from "@signsealship/testing/media-peer";
import { ownProcess, temporaryFolder } from "@signsealship/testing/service";
import { testsNeeding } from "@signsealship/testing/tools/tools";
import { until } from "@signsealship/testing/until";
import { sql } from "../../../../src/kernel/platform/database/sql.ts";
import { openLog } from "../../../../src/kernel/platform/logs.ts";
import { systemRandom } from "../../../../src/kernel/platform/random.ts";
import { openSecretsKey } from "../../../../src/kernel/platform/secrets.ts";
import {
  addNotary,
  eligibilityReader,
  listExports,
  loadNotaryRules,
  Recordings,
  sweepExports,
} from "../../../../src/signing/notaries/notaries.ts";
import { mailsTo, postForm } from "../../../firms/members/signed-in-member.ts";
import { newOperator } from "../../../firms/operators/console-people.ts";
import { ohioCommission } from "../orders-to-notarize.ts";

const { test } = testsNeeding("unzip");

const folder = await forTests(temporaryFolder());
const running = await forTests(openHarness(ownProcess));
const { db } = running;
const person = (role: "notary" | "auditor") =>
  newOperator(running, { roles: [role], environment: "test", passkey: false });
const [nora, auditor] = [await person("notary"), await person("auditor")];
const notaryId = await addNotary({ db, clock: () => new Date() }, nora.id, ohioCommission, "operator");
const pages = "/operator/notary/recordings";
const at = (path: string) => running.service.baseUrl + path;
const headersOf = ({ cookie }: typeof nora) => ({ cookie, Accept: "text/html" });

/** Records sessions of the notary. @returns their ids */
async function record(sessions: readonly string[]): Promise<string[]> {
  const media = startEngine();
  const { dataDir } = running.service;
  const clock = () => new Date();
  const shipped = loadNotaryRules(join(import.meta.dirname, "../../../../data/notarization-rules.yaml"));
  const recordings = new Recordings({
    db,
    clock,
    random: systemRandom,
    log: openLog("silent"),
    media,
    blobs: await blobsOf(dataDir),
    secrets: await openSecretsKey(`file:${join(dataDir, "keys/secrets")}`),
    readEligibility: eligibilityReader({ shipped, clock, notarizationBlocked: () => false }),
  });
  const ids: string[] = [];
  for (const session of sessions) {
    const people = [{ person: "n", role: "notary", name: "Nora Ames" }];
    const input = { session, notaryId, orderId: null, environment: "test" as const, people };
    ids.push(await recordings.begin({ ...input, requireHeld: async () => {} }));
    const peer = await openPeer({ engine: media.engine, session, person: "n" });
    await until(() => (recordings.headOf(session)?.seq ?? 0) > 3);
    await recordings.end(session, []);
    await peer.close();
  }
  recordings.stop();
  await media.stop();
  return ids;
}

const [first = "", second = ""] = await record(["first", "second"]);

/** Makes an export. @returns the path of its zip */
async function exported(path: string, by = nora): Promise<string> {
  const made = await postForm(at(`${pages}${path}/export`), { reason: "A copy", notary: notaryId }, headersOf(by));
  assert.equal(made.status, 303, await made.clone().text());
  return made.headers.get("location") ?? "";
}

const get = (zip: string, headers: Record<string, string> = {}, by = nora) =>
  fetch(at(zip), { headers: { ...headersOf(by), ...headers } });
const bytesOf = async (answer: Response) => Buffer.from(await answer.arrayBuffer());

/** Reads a download up to this many bytes, and cuts the connection. */
async function cutAt(zip: string, length: number): Promise<{ bytes: Buffer; etag: string }> {
  const cut = new AbortController();
  const answer = await fetch(at(zip), { headers: headersOf(nora), signal: cut.signal });
  const pieces: Buffer[] = [];
  for await (const piece of answer.body ?? []) {
    pieces.push(Buffer.from(piece));
    if (Buffer.concat(pieces).length >= length) break;
  }
  cut.abort();
  return { bytes: Buffer.concat(pieces).subarray(0, length), etag: answer.headers.get("etag") ?? "" };
}

function unpacked(name: string, bytes: Buffer): string {
  const path = join(folder.path, name);
  writeFileSync(`${path}.zip`, bytes);
  execFileSync("unzip", ["-q", `${path}.zip`, "-d", path]);
  return path;
}

/** The recordings that an unpacked export names, each with its state. */
function statesIn(path: string): [string, string][] {
  const contents = JSON.parse(readFileSync(join(path, "contents.json"), "utf8"));
  return contents.recordings.map(({ recording, state }: { recording: string; state: string }) => [recording, state]);
}

const linesOf = (action: string) =>
  db.query<{ detail: { range?: string; export: string; recording?: string } }>(
    sql`SELECT detail FROM audit_log WHERE action = ${action} ORDER BY id`,
  );

for (const [what, path] of [
  ["one recording", `/${first}`],
  ["everything of a notary", ""],
] as const)
  test(`the export of ${what} is continued where the connection was cut, also after kill -9`, async () => {
    const zip = await exported(path);
    const whole = await bytesOf(await get(zip));
    assert.equal(
      whole.length,
      Number((await get(zip, { Range: "bytes=0-0" })).headers.get("content-range")?.split("/")[1]),
    );
    // One of the cuts is directly after the first file, whose checksum may not be stored yet.
    for (const length of [3_000, Math.floor(whole.length / 2)]) {
      const again = await exported(path);
      const { bytes, etag } = await cutAt(again, length);
      await running.service.kill();
      running.service = await running.service.restart();
      const rest = await get(again, { Range: `bytes=${length}-`, "If-Range": etag });
      assert.equal(rest.status, 206);
      const joined = Buffer.concat([bytes, await bytesOf(rest)]);
      const all = await get(again);
      assert.equal(all.headers.get("etag"), etag);
      assert.ok(joined.equals(await bytesOf(all)), `cut at ${length}`);
      unpacked(`${path.slice(1)}-${length}`, joined);
    }
    assert.ok((await linesOf("recording_export.downloaded")).some(({ detail }) => detail.range === "bytes=3000-"));
  });

test("a part that is away from the store ends a download of everything, and changes nothing", async () => {
  const zip = await exported("");
  const etag = (await get(zip, { Range: "bytes=0-0" })).headers.get("etag");
  const [part] = await db.query<{ blobKey: string }>(
    sql`SELECT blob_key AS "blobKey" FROM recording_parts WHERE recording_id = ${first}`,
  );
  const blob = join(running.service.dataDir, "blobs", part?.blobKey ?? "");
  renameSync(blob, `${blob}.away`);
  await assert.rejects(async () => bytesOf(await get(zip)));
  const check = await postForm(at(`${pages}/${first}/check`), {}, headersOf(nora));
  const checked = await check.text();
  assert.match(checked, /Not all of it could be compared/);
  assert.match(checked, /Part 1 \(lines \d+ to \d+\) can’t be read now\./);
  assert.doesNotMatch(
    checked,
    /were changed|not what was recorded/,
    "a check calls nothing altered that it can't read",
  );
  renameSync(`${blob}.away`, blob);
  const whole = await get(zip);
  assert.equal(whole.headers.get("etag"), etag);
  assert.deepEqual(statesIn(unpacked("back", await bytesOf(whole))), [
    [first, "exported"],
    [second, "exported"],
  ]);
});

test("a range is made without reading the files before it, once these were read whole", async () => {
  const zip = await exported("");
  const whole = await bytesOf(await get(zip));
  await db.query(sql`UPDATE recording_parts SET blob_key = NULL WHERE recording_id = ${first}`);
  const tail = await get(zip, { Range: "bytes=-400" });
  assert.equal(tail.status, 206);
  assert.ok((await bytesOf(tail)).equals(whole.subarray(-400)));
});

test("an export whose recording can't be read any more is another file, and names the recording", async () => {
  const zip = await exported("");
  // The previous test removed the first recording's parts.
  const before = await get(zip, { Range: "bytes=0-9" });
  await assert.rejects(async () => bytesOf(await get(zip)));
  const after = await get(zip, { Range: "bytes=10-", "If-Range": before.headers.get("etag") ?? "" });
  assert.equal(after.status, 200, "not a part of another file");
  assert.notEqual(after.headers.get("etag"), before.headers.get("etag"));
  assert.deepEqual(statesIn(unpacked("faulty", await bytesOf(after))), [
    [first, "faulty"],
    [second, "exported"],
  ]);
});

test("the Recordings page lists the exports that its reader can still download", async () => {
  const made = [await exported(`/${second}`), await exported(""), await exported("", auditor)];
  const [one = "", everything = "", ofAuditor = ""] = made;
  const listed = async (by = nora) => {
    const page = await (await get(pages, {}, by)).text();
    return made.filter((zip) => page.includes(`href="${zip}"`));
  };
  assert.deepEqual([await listed(), await listed(auditor)], [[one, everything], [ofAuditor]]);
  const mine = { actor: `operator:${nora.id}`, environment: "test" as const, now: new Date() };
  assert.ok((await listExports(db, mine)).length >= 2);
  assert.deepEqual(await listExports(db, { ...mine, environment: "live" }), []);
  assert.deepEqual(await listExports(db, { ...mine, now: new Date(Date.now() + 3 * 86_400_000) }), []);
  const id = everything.split("/").at(-1) ?? "";
  await db.query(
    sql`UPDATE recording_exports SET contents = jsonb_set(contents, '{from}', '"2026-01-01"') WHERE id = ${id}`,
  );
  assert.deepEqual(await listed(), [one], "not a row that somebody altered");
});

test("only the operator who made an export can download it, for three days, and its notary is mailed once", async () => {
  const mails = () => mailsTo(running.service, nora.email).filter((mail) => /were exported/.test(mail));
  const before = mails().length;
  const zip = await exported("", auditor);
  assert.equal((await get(zip, {}, nora)).status, 404);
  assert.equal((await get(zip, { Range: "bytes=0-99" }, auditor)).status, 206);
  assert.equal((await get(zip, { Range: "bytes=100-199" }, auditor)).status, 206);
  await until(() => mails().length === before + 1);
  assert.equal((await get(`${pages}/exports/${first}`)).status, 404);
  await db.query(
    sql`UPDATE recording_exports SET actor = ${`operator:${nora.id}`} WHERE actor = ${`operator:${auditor.id}`}`,
  );
  assert.equal((await get(zip, {}, nora)).status, 503, "an altered row");
  await sweepExports({ db, clock: () => new Date(Date.now() + 3 * 86_400_000) });
  assert.deepEqual(await db.query(sql`SELECT FROM recording_export_files`), []);
  assert.equal((await get(zip, {}, auditor)).status, 404);
});
