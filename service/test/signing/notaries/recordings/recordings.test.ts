import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { hash, randomBytes, randomUUID } from "node:crypto";
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { wholeFile } from "@signsealship/testing/blobs";
import { newDatabase } from "@signsealship/testing/database";
import { forTests } from "@signsealship/testing/for-tests";
import { enginePids, startEngine, testMedia } from "@signsealship/testing/media";
import { openPeer } from "@signsealship/testing/media-peer";
import { temporaryFolder } from "@signsealship/testing/temporary-folder";
import { testsNeeding } from "@signsealship/testing/tools/tools";
import { until } from "@signsealship/testing/until";
import pg from "pg";
import { openBlobs } from "../../../../src/kernel/platform/blobs/blobs.ts";
import { folderBackend } from "../../../../src/kernel/platform/blobs/folder.ts";
import type { Tx } from "../../../../src/kernel/platform/database/database.ts";
import { sql } from "../../../../src/kernel/platform/database/sql.ts";
import { BusyError, ServiceError } from "../../../../src/kernel/platform/errors.ts";
import { openLog } from "../../../../src/kernel/platform/logs.ts";
import { systemRandom } from "../../../../src/kernel/platform/random.ts";
import { openRowMac } from "../../../../src/kernel/platform/row-mac.ts";
import { secretBytes } from "../../../../src/kernel/platform/secrets.ts";
import type { MediaEvent } from "../../../../src/providers/media/media.ts";
import { openMediaEngine } from "../../../../src/providers/providers.ts";
import {
  addNotary,
  checkRecording,
  eligibilityReader,
  exportEverything,
  exportOf,
  exportRecording,
  holdRecording,
  loadNotaryRules,
  openExport,
  openRecording,
  playTake,
  Recordings,
  recordingById,
  sweepRecordings,
} from "../../../../src/signing/notaries/notaries.ts";
import { faultOf } from "../../../../src/signing/notaries/recordings/everything.ts";
import { nextRun } from "../../../../src/signing/notaries/recordings/store.ts";

const { test } = testsNeeding("jq", "openssl", "unzip", "ffmpeg");

const media = await forTests(startEngine());
const db = await forTests(newDatabase());
const folder = await forTests(temporaryFolder());
const secrets = secretBytes(randomBytes(32));
let ahead = 0;
const clock = () => new Date(Date.now() + ahead);
const blobsFolder = join(folder.path, "blobs");
const blobs = openBlobs(folderBackend(blobsFolder), secrets, clock);
const log = openLog("silent");
const shipped = loadNotaryRules(join(import.meta.dirname, "../../../../data/notarization-rules.yaml"));
const deps = {
  db,
  clock,
  random: systemRandom,
  secrets,
  blobs,
  log,
  media,
  readEligibility: eligibilityReader({ shipped, clock, notarizationBlocked: () => false }),
};
const recordings = await forTests(new Recordings(deps));

async function newNotary(state: string): Promise<string> {
  const id = randomUUID();
  await db.query(sql`INSERT INTO users (id, email, created_at) VALUES (${id}, ${`${id}@desk.example`}, now())`);
  await db.query(
    sql`INSERT INTO operators (user_id, name, roles, added_at) VALUES (${id}, ${state}, '{notary}', now())`,
  );
  const commission = {
    commissionName: "Nora Ames",
    state,
    county: "Dade",
    commissionNumber: "1",
    commissionExpires: "2040-01-31",
    status: "active",
  };
  return addNotary({ db, clock }, id, commission, "operator");
}
// By the shipped rules, recordings are kept for five years in Texas. For Florida, the rules have no number of years.
const notaryId = await newNotary("TX");
const inFlorida = await newNotary("FL");

const people = [
  { person: "n", role: "notary", name: "Nora Ames" },
  { person: "s", role: "signer", name: "Sam Cole" },
];
/** Always accepts, as if the node had the session. */
const held = async () => {};
const begin = (session: string, notary = notaryId) =>
  recordings.begin({ session, notaryId: notary, orderId: null, environment: "test", people, requireHeld: held });
const own = { actor: `notary:${notaryId}`, reason: "To read back the oath" };
const auditor = { actor: "operator:auditor", reason: "A complaint of the client" };
const lines = (action: string) =>
  db.query<{ detail: { recording: string; reason?: string; export?: string } }>(
    sql`SELECT detail FROM audit_log WHERE action = ${action}`,
  );
const mails = () =>
  db.query<{ how: string }>(
    sql`SELECT payload ->> 'how' AS how FROM jobs WHERE queue = 'notary-recording-mail' ORDER BY id`,
  );

const all = { ...deps, rowMac: openRowMac(secrets) };

/** The zip of an export, as its maker downloads it. */
async function downloaded(id: string, { actor }: { actor: string }): Promise<Buffer> {
  const { file } = await openExport(all, await exportOf(all, id, actor), null);
  return wholeFile(file);
}

let exported = "";

test("a recording survives the death of the engine, and its manifest names the person of the gap", async () => {
  const id = await begin("first");
  await assert.rejects(begin("first"), { code: "conflict" });
  const n = await openPeer({ engine: media.engine, session: "first", person: "n" });
  const s = await openPeer({ engine: media.engine, session: "first", person: "s", video: false });
  for (const person of ["n", "s"]) await media.happened("chunk", ({ line }) => line.person === person && line.n === 2);
  await until(() => (recordings.headOf("first")?.seq ?? 0) > 8);
  const head = recordings.headOf("first");
  for (const pid of enginePids()) process.kill(pid, "SIGKILL");
  await media.happened("lost");
  await Promise.all([n.close(), s.close()]);
  await recordings.resume("first", held);
  const again = await openPeer({ engine: media.engine, session: "first", person: "n" });
  await media.happened("chunk", ({ line }) => line.take === 2_000_000 && line.n === 2);
  const marks = [{ at: new Date().toISOString(), kind: "act", person: "n" }];
  const { recording, manifestSha256 } = await recordings.end("first", marks);
  await again.close();
  assert.equal(recording, id);
  assert.deepEqual(await recordings.end("first", []), { recording, manifestSha256 });
  await assert.rejects(recordings.resume("first", held), { code: "conflict" });
  assert.equal(readdirSync(media.spoolDir).includes("first"), false);

  const { manifest } = await recordingById(db, id);
  const read = JSON.parse(manifest ?? "");
  assert.deepEqual(
    read.takes.map((take: { person: string; codecs: string[]; endedBy: string }) => [
      take.person,
      take.codecs,
      take.endedBy,
    ]),
    [
      ["n", ["opus", "vp8"], "stopped"],
      ["s", ["opus"], "stopped"],
      ["n", ["opus", "vp8"], "closed"],
    ],
  );
  assert.deepEqual(
    read.gaps.map(({ person, cause }: { person: string; cause: string }) => [person, cause]),
    [["n", "stopped"]],
  );
  assert.deepEqual(read.marks, marks);
  assert.ok(head && head.recording === id);

  exported = join(folder.path, "export");
  mkdirSync(exported);
  writeFileSync(join(exported, "copy.zip"), await downloaded(await exportRecording(deps, id, own), own));
  execFileSync("unzip", ["-q", "copy.zip"], { cwd: exported });
  const said = checkByHand({ SEQ: String(head.seq), HEAD: head.headSha256 });
  assert.match(said, /chain\.jsonl: OK\nThe chain holds\.\ntakes\/1000000\.webm: OK/);
  assert.match(said, /\nOK\n$/);
  assert.doesNotMatch(said, /is another/);
});

/** Runs the commands of docs/notary-recording.md on an unpacked export. */
function checkByHand(env: Record<string, string>, cwd = exported): string {
  const page = readFileSync(new URL("../../../../../docs/notary-recording.md", import.meta.url), "utf8");
  const [alone = ""] = page.split("## From the notary");
  const commands = [...alone.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block]) => block).join("\n");
  assert.ok(commands.includes("openssl"));
  const all = { ...process.env, ...env };
  const { stdout, stderr } = spawnSync("bash", ["-c", commands], { cwd, encoding: "utf8", env: all });
  assert.doesNotMatch(stderr, /No such file/, "of the files that an export may lack");
  return stdout;
}

test("the manual check finds a changed byte, a dropped line, a swapped line and another head", () => {
  const change = (name: string, to: (before: Buffer) => Buffer | string): string => {
    const path = join(exported, name);
    const before = readFileSync(path);
    writeFileSync(path, to(before));
    const said = checkByHand({ SEQ: "1", HEAD: "0".repeat(64) });
    writeFileSync(path, before);
    return said;
  };
  const flipped = change("takes/1000000.webm", (bytes) => {
    const other = Buffer.from(bytes);
    other[other.length - 5] = (other.at(-5) ?? 0) ^ 1;
    return other;
  });
  assert.match(flipped, /takes\/1000000\.webm: FAILED/);
  assert.match(flipped, /Take 1000000: a chunk of \d+ bytes is another\./);
  assert.doesNotMatch(flipped, /\nOK\n/);
  const rows = (bytes: Buffer) => bytes.toString().split("\n");
  const dropped = change("chain.jsonl", (bytes) => rows(bytes).toSpliced(2, 1).join("\n"));
  const swapped = change("chain.jsonl", (bytes) => {
    const [a = "", b = "", ...rest] = rows(bytes);
    return [b, a, ...rest].join("\n");
  });
  for (const said of [dropped, swapped]) {
    assert.match(said, /chain\.jsonl: FAILED/);
    assert.doesNotMatch(said, /The chain holds/);
  }
});

test("neither the store nor the disk contains plain WebM", () => {
  const files = readdirSync(blobsFolder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  assert.ok(files.length > 0);
  for (const { parentPath, name } of files)
    assert.equal(readFileSync(join(parentPath, name)).includes(Buffer.from("1a45dfa3", "hex")), false);
});

test("a take plays in parts with the same bytes, and FFmpeg knows its length", async () => {
  const [{ detail }] = (await lines("recording.ended")) as [{ detail: { recording: string } }];
  const id = detail.recording;
  await openRecording(deps, id, own);
  const file = await playTake(deps, id, 1_000_000, own);
  const whole = await wholeFile(file);
  assert.equal(whole.length, file.length);
  for (const [first, last] of [
    [0, 9],
    [100, 5_000],
    [whole.length - 7, whole.length - 1],
  ] as const) {
    const pieces: Buffer[] = [];
    for await (const piece of file.pieces({ first, last })) pieces.push(piece);
    assert.ok(Buffer.concat(pieces).equals(whole.subarray(first, last + 1)), `${first}-${last}`);
  }
  const path = join(folder.path, "take.webm");
  writeFileSync(path, whole);
  const show = ["-v", "error", "-show_entries", "format=duration:stream=codec_name", "-of", "json", path];
  const { format, streams } = JSON.parse(execFileSync("ffprobe", show, { encoding: "utf8" }));
  assert.ok(Number(format.duration) > 1);
  assert.deepEqual(
    streams.map(({ codec_name }: { codec_name: string }) => codec_name),
    ["opus", "vp8"],
  );
  await assert.rejects(playTake(deps, id, 7, own), { code: "not_found" });
  await assert.rejects(playTake(deps, randomUUID(), 1_000_000, own), { code: "not_found" });
});

test("each viewing states a reason, is logged, and is mailed to the notary; it ends after an hour", async () => {
  const [{ detail }] = (await lines("recording.ended")) as [{ detail: { recording: string } }];
  const id = detail.recording;
  const mailed = (await mails()).length;
  await assert.rejects(playTake(deps, id, 1_000_000, auditor), /say why you look at it/);
  for (const reason of [" ", "x".repeat(501), "a\u0000b", "two\nlines"])
    for (const look of [openRecording, exportRecording])
      await assert.rejects(look(deps, id, { ...auditor, reason }), { code: "validation" });
  await assert.rejects(holdRecording(deps, id, true, { ...auditor, reason: "" }), { code: "validation" });
  assert.equal((await lines("recording.held")).length, 0);
  assert.equal((await mails()).length, mailed);
  await openRecording(deps, id, auditor);
  await playTake(deps, id, 1_000_000, { ...auditor, range: "bytes=0-9" });
  await exportRecording(deps, id, auditor);
  ahead = 3_601_000;
  await assert.rejects(playTake(deps, id, 1_000_000, auditor), /say why you look at it/);
  ahead = 0;
  assert.deepEqual(
    (await mails()).slice(mailed).map(({ how }) => how),
    ["opened", "exported"],
  );
  const [opened, played, copied] = await Promise.all(
    ["recording.opened", "recording.played", "recording.exported"].map(
      async (action) => (await lines(action)).at(-1)?.detail,
    ),
  );
  assert.equal(opened?.reason, auditor.reason);
  assert.deepEqual(played, { recording: id, take: 1_000_000, range: "bytes=0-9" });
  assert.equal(copied?.reason, auditor.reason);
});

test("a recording is deleted when the years of its state are over and nobody holds it, and its key is deleted first", async () => {
  const [{ detail }] = (await lines("recording.ended")) as [{ detail: { recording: string } }];
  const id = detail.recording;
  const unknown = await begin("florida", inFlorida);
  await recordings.end("florida", []);
  assert.equal((await recordingById(db, unknown)).keepUntil, null);
  const sweep = async (years: number) => {
    ahead = years * 366 * 86_400_000;
    await sweepRecordings({ ...deps, log }, new AbortController().signal);
    ahead = 0;
    return (await lines("recording.deleted")).map((line) => line.detail.recording);
  };
  assert.deepEqual(await sweep(4), []);
  await holdRecording(deps, id, true, own);
  await assert.rejects(holdRecording(deps, id, true, own), { code: "conflict" });
  assert.deepEqual(await sweep(6), []);
  await holdRecording(deps, id, false, own);
  assert.deepEqual(await sweep(6), [id]);
  assert.deepEqual(await sweep(99), [id]);
  const { manifest, deletedAt } = await recordingById(db, id);
  assert.ok(manifest && deletedAt);
  await assert.rejects(openRecording(deps, id, own), { code: "not_found" });
  await assert.rejects(playTake(deps, id, 1_000_000, own), { code: "not_found" });
  await assert.rejects(exportRecording(deps, id, own), { code: "not_found" });
  await assert.rejects(holdRecording(deps, id, true, own), { code: "conflict" });
  const [left] = await db.query<{ keys: number; lines: number }>(sql`
    SELECT (SELECT count(*)::int FROM recordings WHERE record_key IS NOT NULL) AS keys, count(lines)::int AS lines
    FROM recording_parts WHERE blob_key IS NULL`);
  assert.equal(left?.keys, 1);
  assert.ok((left?.lines ?? 0) > 0);
  assert.deepEqual(
    readdirSync(blobsFolder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()),
    [],
  );
});

test("a session that the engine refused begins again with the same recording", async () => {
  await media.engine.open("refused", null);
  await assert.rejects(begin("refused"), { code: "conflict" });
  await media.engine.close("refused");
  await begin("refused");
  await recordings.end("refused", []);
  const [row] = await db.query<{ rows: number }>(
    sql`SELECT count(*)::int AS rows FROM recordings WHERE session = 'refused' AND ended_at IS NOT NULL`,
  );
  assert.equal(row?.rows, 1);
});

test("a part that does not follow the chain is not stored, and stays on the disk", async () => {
  await begin("second");
  const n = await openPeer({ engine: media.engine, session: "second", person: "n" });
  await until(() => (recordings.headOf("second")?.seq ?? 0) > 2);
  await media.engine.close("second");
  await n.close();
  const [name = ""] = readdirSync(join(media.spoolDir, "second"));
  await until(async () => readdirSync(join(media.spoolDir, "second")).length === 0);
  assert.match(name, /^0000000001/);
  await recordings.resume("second", held);
  const again = await openPeer({ engine: media.engine, session: "second", person: "n" });
  await media.happened("chunk", ({ session, line }) => session === "second" && line.take === 2_000_000);
  // An attacker shortened the chain in the database, so the row's MAC is invalid.
  await db.query(sql`UPDATE recordings SET head_seq = 1 WHERE session = 'second'`);
  await assert.rejects(recordings.end("second", []), { code: "unavailable" });
  await again.close();
  assert.equal(readdirSync(join(media.spoolDir, "second")).length, 1);
});

test("written messages are exported with a recording, held against its manifest, and deleted with it", async () => {
  const id = await begin("written");
  const by = { at: clock(), person: "s", text: "My name is <b>S-A-M</b>" };
  const written = await db.transaction((tx) => recordings.writeMessage(tx, "written", by));
  await recordings.end("written", [{ at: written.at, kind: "message", person: "s", sha256: written.sha256 }]);
  await assert.rejects(
    db.transaction((tx) => recordings.writeMessage(tx, "written", by)),
    { code: "conflict" },
  );
  const faults = async () => (await checkRecording(deps, await recordingById(db, id))).faults;
  assert.deepEqual(await faults(), []);
  const zip = join(folder.path, "written.zip");
  writeFileSync(zip, await downloaded(await exportRecording(deps, id, own), own));
  const [line = ""] = execFileSync("unzip", ["-p", zip, "messages.jsonl"], { encoding: "utf8" }).split("\n");
  assert.equal(hash("sha256", line), written.sha256);
  assert.equal(JSON.parse(line).text, by.text);
  const rows = () => db.query<{ line: Buffer }>(sql`SELECT line FROM recording_messages WHERE recording_id = ${id}`);
  const [kept] = await rows();
  assert.ok(kept && !kept.line.includes("S-A-M"), "the store has no readable text");

  await db.query(sql`UPDATE recording_messages SET line = ${randomBytes(200)} WHERE recording_id = ${id}`);
  assert.deepEqual(await faults(), ["Message 1 of the recording is not what was written."]);
  await assert.rejects(exportRecording(deps, id, own), { code: "unavailable" });
  await db.query(sql`DELETE FROM recording_messages WHERE recording_id = ${id}`);
  assert.deepEqual(await faults(), ["Message 1 is missing, or is not the one that the manifest names."]);

  const second = await begin("written-too");
  await db.transaction((tx) => recordings.writeMessage(tx, "written-too", by));
  await recordings.end("written-too", []);
  assert.deepEqual((await checkRecording(deps, await recordingById(db, second))).faults, [
    "Message 1 is not in the manifest.",
  ]);
  ahead = 6 * 366 * 86_400_000;
  await sweepRecordings({ ...deps, log }, new AbortController().signal);
  ahead = 0;
  assert.deepEqual(await db.query(sql`SELECT FROM recording_messages WHERE recording_id = ${second}`), []);
});

/** Records a short session of a notary. @returns the recording's id */
async function recordSound(session: string, notary: string): Promise<string> {
  const recording = await begin(session, notary);
  const peer = await openPeer({ engine: media.engine, session, person: "n", video: false });
  await until(() => (recordings.headOf(session)?.seq ?? 0) > 1);
  await recordings.end(session, []);
  await peer.close();
  return recording;
}

test("everything of a notary is one zip, which names what was deleted, has not ended, or is not what was recorded", async () => {
  const id = await newNotary("TX");
  const recorded = (session: string) => recordSound(session, id);
  const [whole, gone] = [await recorded("all-whole"), await recorded("all-gone")];
  const [unreadable, altered] = [await recorded("all-unreadable"), await recorded("all-altered")];
  const open = await begin("all-open", id);
  for (const kept of [whole, unreadable, altered]) await holdRecording(deps, kept, true, own);
  ahead = 6 * 366 * 86_400_000;
  await sweepRecordings({ ...deps, log }, new AbortController().signal);
  ahead = 0;
  await db.query(sql`UPDATE recording_parts SET blob_key = NULL WHERE recording_id = ${unreadable}`);
  await db.query(sql`UPDATE recordings SET head_seq = 1 WHERE id = ${altered}`);

  const which = { notary: { id, commissionName: "Nora Ames" }, environment: "test" as const };
  const reason = "The commission ends";
  const unpacked = async (name: string, typed: Record<string, string>) => {
    const path = join(folder.path, name);
    mkdirSync(path);
    const made = await exportEverything(all, which, { reason, ...typed }, auditor.actor);
    // If a download fails at an unreadable file, the next one leaves out all unreadable files.
    const bytes = await downloaded(made, auditor).catch(() => downloaded(made, auditor));
    writeFileSync(join(path, "all.zip"), bytes);
    execFileSync("unzip", ["-q", "all.zip"], { cwd: path });
    const text = (file: string) => readFileSync(join(path, file), "utf8");
    return { path, text, contents: JSON.parse(text("contents.json")) };
  };
  const mailed = () =>
    db.query<{ to: string }>(sql`SELECT payload ->> 'notaryId' AS to FROM jobs WHERE queue = 'notary-records-mail'`);
  const { path, text, contents } = await unpacked("everything", {});
  const states = new Map<string, { state: string; fault?: string }>(
    contents.recordings.map((each: { recording: string }) => [each.recording, each]),
  );
  assert.deepEqual(
    [whole, gone, unreadable, altered, open].map((each) => states.get(each)?.state),
    ["exported", "deleted", "faulty", "faulty", "not_ended"],
  );
  assert.equal(states.size, 5);
  assert.match(states.get(unreadable)?.fault ?? "", /part of the recording can't be read/);
  assert.deepEqual([contents.notary, contents.journal], [id, { entries: 0 }]);
  assert.equal(JSON.parse(text("journal.json")).journal, id);
  assert.match(checkByHand({}, join(path, "recordings", whole)), /The chain holds\.\ntakes\/1000000\.webm: OK/);
  assert.deepEqual(readdirSync(join(path, "recordings", gone)).toSorted(), ["chain.jsonl", "recording.json"]);
  assert.equal(existsSync(join(path, "recordings", altered)), false);

  const [line] = await lines("notary.records_exported");
  assert.equal(line?.detail.reason, reason);
  const exportedNow = (await lines("recording.exported")).filter(({ detail }) => detail.export === line?.detail.export);
  assert.deepEqual(
    [...new Set(exportedNow.map(({ detail }) => detail.recording))].toSorted(),
    [whole, gone, unreadable].toSorted(),
  );
  assert.deepEqual(await mailed(), [{ to: id }]);

  const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
  const today = new Date().toISOString().slice(0, 10);
  assert.deepEqual((await unpacked("later", { from: tomorrow })).contents.recordings, []);
  assert.equal((await unpacked("until-today", { to: today })).contents.recordings.length, 5);
  for (const typed of [{ from: "2026-02-30" }, { reason: " " }, { to: "soon" }])
    await assert.rejects(exportEverything(all, which, { reason, ...typed }, auditor.actor), { code: "validation" });
  await recordings.end("all-open", []);
});

/** Exports everything of a new notary who has a recording for each of these sessions. */
async function exportOfNew(sessions: readonly string[]) {
  const id = await newNotary("TX");
  const recorded: string[] = [];
  for (const session of sessions) recorded.push(await recordSound(session, id));
  const which = { notary: { id, commissionName: "Nora Ames" }, environment: "test" as const };
  const made = await exportEverything(all, which, { reason: "The commission ends" }, auditor.actor);
  /** The recordings in the audit log for this export. */
  const logged = async () =>
    (await lines("recording.exported"))
      .filter(({ detail }) => detail.export === made)
      .map(({ detail }) => detail.recording);
  /** Unpacks a download. @returns its folder, and the recordings that it names, each with its state */
  const unpacked = async () => {
    const path = join(folder.path, made);
    mkdirSync(path);
    writeFileSync(join(path, "all.zip"), await downloaded(made, auditor));
    execFileSync("unzip", ["-q", "all.zip"], { cwd: path });
    const contents = JSON.parse(readFileSync(join(path, "contents.json"), "utf8"));
    return {
      path,
      states: contents.recordings.map(({ recording, state }: { recording: string; state: string }) => [
        recording,
        state,
      ]),
    };
  };
  return { made, recorded: recorded as [string, string, string], logged, unpacked };
}

/** Changes a byte of the first part of a recording in the store. */
async function alterPart(recording: string): Promise<void> {
  const [part] = await db.query<{ blobKey: string }>(
    sql`SELECT blob_key AS "blobKey" FROM recording_parts WHERE recording_id = ${recording} ORDER BY first_seq`,
  );
  const path = join(blobsFolder, part?.blobKey ?? "");
  const bytes = readFileSync(path);
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
  writeFileSync(path, bytes);
}

test("a recording that is deleted after it was exported is listed as deleted, and leaves out its takes", async () => {
  const { made, recorded, unpacked } = await exportOfNew(["late-whole", "late-gone"]);
  const [whole, gone] = recorded;
  const { file, etag } = await openExport(all, await exportOf(all, made, auditor.actor), null);
  await holdRecording(deps, whole, true, own);
  ahead = 6 * 366 * 86_400_000;
  await sweepRecordings({ ...deps, log }, new AbortController().signal);
  ahead = 0;
  await assert.rejects(wholeFile(file));
  assert.notEqual((await openExport(all, await exportOf(all, made, auditor.actor), null)).etag, etag);
  const { path, states } = await unpacked();
  assert.deepEqual(states, [
    [whole, "exported"],
    [gone, "deleted"],
  ]);
  assert.deepEqual(readdirSync(join(path, "recordings", gone)).toSorted(), ["chain.jsonl", "recording.json"]);
});

test("a download that meets an altered part reads each later file once, and only while somebody receives it", async () => {
  const { made, recorded, logged, unpacked } = await exportOfNew(["read-1", "read-2", "read-3"]);
  const [early, altered, late] = recorded;
  await alterPart(altered);
  const opened: string[] = [];
  const atLate = Promise.withResolvers<void>();
  const isLeft = Promise.withResolvers<void>();
  const watched: typeof blobs = {
    ...blobs,
    async open(key, use, ...more) {
      opened.push(use.owner);
      if (use.owner !== late) return blobs.open(key, use, ...more);
      atLate.resolve();
      await isLeft.promise;
      return blobs.open(key, use, ...more);
    },
  };
  const open = async () =>
    (await openExport({ ...all, blobs: watched }, await exportOf(all, made, auditor.actor), null)).file;
  const pieces = (await open()).pieces()[Symbol.asyncIterator]();
  const reading = (async () => {
    while (!(await pieces.next()).done);
  })();
  await atLate.promise;
  const left = pieces.return?.();
  isLeft.resolve();
  // The receiver has left, so the download ends before it can report the altered part.
  await Promise.all([reading, left]);
  assert.deepEqual(await logged(), [early, altered], "only those of which bytes were sent");

  await alterPart(early);
  await assert.rejects(wholeFile(await open()));
  const opensOfLate = opened.filter((each) => each === late).length;
  await db.query(sql`UPDATE recordings SET head_seq = 1 WHERE id = ${early}`);
  await assert.rejects(wholeFile(await open()));
  assert.equal(opened.filter((each) => each === late).length, opensOfLate, "its checksums are stored");
  assert.deepEqual((await unpacked()).states, [
    [early, "faulty"],
    [altered, "faulty"],
    [late, "exported"],
  ]);
  assert.ok((await logged()).includes(late));
});

test("an export reads the parts of a recording once, however many takes it has", async () => {
  const id = await begin("two-takes");
  for (const person of ["n", "s"]) {
    const peer = await openPeer({ engine: media.engine, session: "two-takes", person, video: false });
    await media.happened("chunk", ({ session, line }) => session === "two-takes" && line.person === person);
    await peer.close();
  }
  await recordings.end("two-takes", []);
  assert.equal(JSON.parse((await recordingById(db, id)).manifest ?? "").takes.length, 2);
  let reads = 0;
  const counted: typeof db = {
    ...db,
    query: (statement) => {
      if (/FROM recording_parts/.test(statement.text)) reads++;
      return db.query(statement);
    },
  };
  await exportRecording({ ...deps, db: counted }, id, own);
  assert.equal(reads, 1);
});

test("a range logs only the recordings of which it sends bytes", async () => {
  const { made, logged } = await exportOfNew(["range-1"]);
  const { file } = await openExport(all, await exportOf(all, made, auditor.actor), "bytes=-10");
  const tail = await Array.fromAsync(file.pieces({ first: file.length - 10, last: file.length - 1 }));
  assert.equal(Buffer.concat(tail).length, 10);
  assert.deepEqual(await logged(), []);
});

test("a session that is opened again twice concurrently, or while it is open, is recorded further", async () => {
  await begin("twice");
  await Promise.all([recordings.resume("twice", held), recordings.resume("twice", held)]);
  const n = await openPeer({ engine: media.engine, session: "twice", person: "n", video: false });
  await until(() => recordings.headOf("twice") !== null);
  const { recording } = await recordings.end("twice", []);
  await n.close();
  assert.equal(JSON.parse((await recordingById(db, recording)).manifest ?? "").takes.length, 1);
});

test("a part of a replaced node is set aside: it neither forks the chain nor is lost", async () => {
  const folderOf = join(media.spoolDir, "replaced");
  const files = () => readdirSync(folderOf);
  const id = await begin("replaced");
  const n = await openPeer({ engine: media.engine, session: "replaced", person: "n", video: false });
  await until(() => (recordings.headOf("replaced")?.seq ?? 0) > 2);
  const [open = ""] = files();
  const late = readFileSync(join(folderOf, open));
  // Simulates that another node takes over the recording. That node starts a new chain, because this node has stored no
  // line yet.
  await db.transaction((tx) => nextRun(tx, id, held));
  await recordings.leave("replaced");
  await n.close();
  const [aside = ""] = files();
  assert.match(aside, /^0000000001\.spool\.aside$/);
  assert.ok(readFileSync(join(folderOf, aside)).subarray(0, late.length).equals(late));
  assert.equal((await recordingById(db, id)).headSeq, 0);

  await recordings.resume("replaced", held);
  const again = await openPeer({ engine: media.engine, session: "replaced", person: "n", video: false });
  await until(() => (recordings.headOf("replaced")?.seq ?? 0) > 2);
  await media.engine.close("replaced");
  await again.close();
  await until(() => files().length === 1);
  // The file has lines whose numbers are already in the store, but with other content.
  writeFileSync(join(folderOf, "0000000001.open"), late);
  await recovered(async () => files().every((file) => file.endsWith(".aside")));
  assert.deepEqual(files().toSorted(), ["0000000001.open.aside", "0000000001.spool.aside"]);
  const { recording } = await recordings.end("replaced", []);
  assert.equal(JSON.parse((await recordingById(db, recording)).manifest ?? "").takes.length, 1);
});

const runsOf = async (id: string) => (await recordingById(db, id)).runs;
const isOpen = (session: string) =>
  media.engine.admit(session, "n", { audio: true, video: false }).then(
    () => true,
    () => false,
  );

test("a node that has lost the session while it waited does not replace the run of the node that has it", async () => {
  const id = await begin("lost");
  const refused = () => Promise.reject(new Error("another node has it"));
  await assert.rejects(recordings.resume("lost", refused), /another node has it/);
  assert.deepEqual([await runsOf(id), await isOpen("lost")], [1, false]);
  await recordings.resume("lost", held);
  assert.deepEqual([await runsOf(id), await isOpen("lost")], [2, true]);
  await recordings.end("lost", []);
  const input = { session: "never-begun", notaryId, orderId: null, environment: "test" as const, people };
  await assert.rejects(recordings.begin({ ...input, requireHeld: refused }), /another node has it/);
  assert.equal(await isOpen("never-begun"), false);
});

test("a take that is reported to have failed after the recording has ended changes nothing", async () => {
  const listeners: ((event: MediaEvent) => void)[] = [];
  const { engine, spoolDir } = media;
  const heard = Object.assign(Object.create(engine), {
    listen: (listener: (event: MediaEvent) => void) => {
      listeners.push(listener);
      return engine.listen(listener);
    },
  });
  const node = new Recordings({ ...deps, media: { engine: heard, spoolDir } });
  const input = { session: "late-end", notaryId, orderId: null, environment: "test" as const, people };
  const id = await node.begin({ ...input, requireHeld: held });
  const take = { kind: "take", session: "late-end", person: "n", take: 1_000_000, at: clock().toISOString() } as const;
  const tell = (ended: "failed" | "removed") => {
    for (const listener of listeners) listener({ ...take, ended });
  };
  tell("removed");
  await until(async () => (await recordingById(db, id)).takeEnds["1000000"]?.endedBy === "removed");
  // Another node has ended the recording meanwhile.
  await recordings.end("late-end", []);
  const before = await recordingById(db, id);
  tell("failed");
  await node.leave("late-end");
  assert.deepEqual(await recordingById(db, id), before);
  node.stop();
});

test("a session that this node leaves while it opens it again stays closed, and can be opened later", async () => {
  await begin("left");
  let letGoOn = () => {};
  const asked = Promise.withResolvers<void>();
  const slow = async () => {
    asked.resolve();
    await new Promise<void>((resolve) => {
      letGoOn = resolve;
    });
  };
  const resumed = assert.rejects(recordings.resume("left", slow), { code: "conflict" });
  await asked.promise;
  const left = recordings.leave("left");
  letGoOn();
  await Promise.all([resumed, left]);
  assert.equal(await isOpen("left"), false);
  await recordings.resume("left", held);
  assert.equal(await isOpen("left"), true);
  await recordings.end("left", []);
});

test("a run is not counted for a row that somebody altered", async () => {
  const id = await begin("altered");
  await media.engine.close("altered");
  await db.query(sql`UPDATE recordings SET head_seq = 7 WHERE id = ${id}`);
  await assert.rejects(
    db.transaction((tx) => nextRun(tx, id, held)),
    { code: "unavailable" },
  );
});

/** Starts a node with the same disk, which stores leftover parts. Waits until `isDone` returns true. */
async function recovered(isDone: () => Promise<boolean>, by = deps, isLeased = async (_: string) => false) {
  const node = new Recordings(by);
  const recovering = node.recover(isLeased);
  await until(isDone);
  node.stop();
  await recovering;
}
const isStored = (id: string) => async () => (await recordingById(db, id)).headSeq > 2;

/** A second node, which has its own folder on the same disk. */
const otherDir = join(dirname(media.spoolDir), "node.other");
const otherEngine = openMediaEngine({ settings: testMedia(), spoolDir: otherDir, clock, log });
await forTests({ stop: () => otherEngine.stop() });
const other = await forTests(new Recordings({ ...deps, media: { engine: otherEngine, spoolDir: otherDir } }));
const lineCount = (session: string) => recordings.headOf(session)?.seq ?? 0;

/**
 * Begins a session, records a few lines, and kills the media engine's process, as if the whole service had been killed.
 * @returns the recording's id
 */
async function leftOnDisk(session: string): Promise<string> {
  const id = await begin(session);
  const n = await openPeer({ engine: media.engine, session, person: "n", video: false });
  await until(() => lineCount(session) > 2);
  for (const pid of enginePids()) {
    const isOwn = readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(media.spoolDir);
    if (isOwn) process.kill(pid, "SIGKILL");
  }
  await until(() => media.events.some((event) => event.kind === "lost" && event.sessions.includes(session)));
  await n.close();
  return id;
}

test("a node that leaves late takes neither the folder nor the files of the node that has the session now", async () => {
  await begin("shared");
  const n = await openPeer({ engine: media.engine, session: "shared", person: "n", video: false });
  await until(() => lineCount("shared") > 2);
  await media.engine.close("shared");
  await n.close();
  await other.resume("shared", held);
  await until(() => existsSync(join(otherDir, "shared")));
  assert.deepEqual(readdirSync(join(otherDir, "shared")), []);
  await recordings.leave("shared");
  /** The takes that have a chunk on the disk. */
  const takes = new Set<number>();
  otherEngine.listen((event) => {
    if (event.kind === "chunk" && event.session === "shared") takes.add(event.line.take);
  });
  const peer = await openPeer({ engine: otherEngine, session: "shared", person: "n", video: false });
  await until(() => takes.size === 1);
  const [open = ""] = readdirSync(join(otherDir, "shared"));
  await otherEngine.remove("shared", "n");
  await peer.close();
  // Nobody writes to the recording at present, but `leave` does not remove the other node's open file.
  await recordings.leave("shared");
  assert.deepEqual(readdirSync(join(otherDir, "shared")), [open]);
  const again = await openPeer({ engine: otherEngine, session: "shared", person: "n", video: false });
  // The last chunk of the previous take may reach the disk only now. A take without a chunk is not in the manifest.
  await until(() => takes.size === 2);
  await again.close();
  const { recording } = await other.end("shared", []);
  const { manifest, headSeq } = await recordingById(db, recording);
  assert.equal(JSON.parse(manifest ?? "").takes.length, 3);
  assert.equal(headSeq, other.headOf("shared")?.seq ?? headSeq);
});

test("a node that takes a session over stores what the killed node left on the disk that they share", async () => {
  const id = await leftOnDisk("taken-over");
  await other.resume("taken-over", held);
  assert.ok((await recordingById(db, id)).headSeq > 2);
  await other.end("taken-over", []);
});

test("a node stores its own parts at its start although its killed process still has the lease", async () => {
  const id = await leftOnDisk("restarted");
  await recovered(isStored(id), deps, async () => true);
  await recordings.end("restarted", []);
});

test("parts of another node, and of an earlier release, wait until no node has the session, however the database fails", async () => {
  for (const [session, dir] of [
    ["by-another", join(dirname(media.spoolDir), "node.third", "by-another")],
    ["by-earlier", join(dirname(media.spoolDir), "by-earlier")],
  ] as const) {
    const id = await leftOnDisk(session);
    mkdirSync(dirname(dir), { recursive: true });
    renameSync(join(media.spoolDir, session), dir);
    const looks = [() => true, () => assert.fail("the database is down"), () => false, () => false];
    const heads: number[] = [];
    await recovered(isStored(id), deps, async (of) => {
      if (of !== session) return false;
      heads.push((await recordingById(db, id)).headSeq);
      return looks.shift()?.() ?? false;
    });
    assert.deepEqual(heads, [0, 0, 0, 0]);
    await recordings.end(session, []);
  }
});

test("a part of another node that takes the session again meanwhile is left alone", async () => {
  const id = await leftOnDisk("again");
  const dir = join(otherDir, "again");
  renameSync(join(media.spoolDir, "again"), dir);
  const looks = [false, true];
  const asked: number[] = [];
  await recovered(
    async () => asked.length === 3,
    deps,
    async (session) => {
      if (session !== "again") return false;
      asked.push((await recordingById(db, id)).headSeq);
      return looks.shift() ?? true;
    },
  );
  assert.deepEqual(asked, [0, 0, 0]);
  assert.equal(readdirSync(dir).length, 1);
  await recordings.resume("again", held);
  assert.ok((await recordingById(db, id)).headSeq > 2);
  await recordings.end("again", []);
});

test("a part that can't be stored at the start is stored later", async () => {
  const id = await leftOnDisk("retried");
  let failures = 0;
  const failing = {
    ...blobs,
    put: async (...args: Parameters<typeof blobs.put>) => {
      if (failures++ === 0) throw new Error("the store is down");
      return blobs.put(...args);
    },
  };
  await recovered(isStored(id), { ...deps, blobs: failing });
  await recordings.end("retried", []);
});

test("a node leaves a session although its slow store still has the session's last part", async () => {
  const slow = {
    ...blobs,
    async put(...args: Parameters<typeof blobs.put>) {
      await sleep(2_500);
      return blobs.put(...args);
    },
  };
  const node = new Recordings({ ...deps, blobs: slow });
  const input = { session: "slow-store", notaryId, orderId: null, environment: "test" as const, people };
  const id = await node.begin({ ...input, requireHeld: held });
  const n = await openPeer({ engine: media.engine, session: "slow-store", person: "n", video: false });
  await until(() => (node.headOf("slow-store")?.seq ?? 0) > 2);
  await node.leave("slow-store");
  await n.close();
  node.stop();
  assert.ok(await isStored(id)());
  assert.equal(existsSync(join(media.spoolDir, "slow-store")), false);
  await recordings.end("slow-store", []);
});

/**
 * Simulates another process that shares this node's disk. When it wants to store a part that it has read, it waits
 * until the test calls `release`.
 */
function waitingNode() {
  const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const waiting = {
    ...blobs,
    async put(...args: Parameters<typeof blobs.put>) {
      reached.resolve();
      await released.promise;
      return blobs.put(...args);
    },
  };
  const node = new Recordings({ ...deps, blobs: waiting });
  return { node, reached: reached.promise, release: released.resolve };
}

/** A node with a disk of its own. */
const elsewhere = (changes = {}) =>
  new Recordings({
    ...deps,
    ...changes,
    media: { engine: otherEngine, spoolDir: join(folder.path, "far", "node.far") },
  });
const linesInManifest = async (id: string): Promise<number> =>
  JSON.parse((await recordingById(db, id)).manifest ?? "").chain.lines;

test("two processes that store the same part store it once, and neither fails", async () => {
  const id = await leftOnDisk("both");
  const { node, reached, release } = waitingNode();
  const left = node.leave("both");
  await reached;
  await recovered(isStored(id));
  release();
  await left;
  node.stop();
  assert.equal((await db.query(sql`SELECT FROM recording_parts WHERE recording_id = ${id}`)).length, 1);
  await recordings.end("both", []);
  assert.equal(await linesInManifest(id), (await recordingById(db, id)).headSeq);
});

test("a part is set aside when another node ends the recording while the part is stored", async () => {
  const id = await leftOnDisk("ended-elsewhere");
  const [file] = readdirSync(join(media.spoolDir, "ended-elsewhere"));
  const { node, reached, release } = waitingNode();
  const left = node.leave("ended-elsewhere");
  await reached;
  const far = elsewhere();
  await far.end("ended-elsewhere", []);
  far.stop();
  release();
  await left;
  node.stop();
  assert.deepEqual([await linesInManifest(id), (await recordingById(db, id)).headSeq], [0, 0]);
  assert.deepEqual(readdirSync(join(media.spoolDir, "ended-elsewhere")), [`${file}.aside`]);
});

test("a manifest includes a part that was stored while the manifest was made", async () => {
  const id = await leftOnDisk("manifest");
  let isFirst = true;
  const between = Object.assign(Object.create(db), {
    async transaction<T>(work: (tx: Tx) => Promise<T>) {
      if (isFirst) {
        isFirst = false;
        await recovered(isStored(id));
      }
      return db.transaction(work);
    },
  });
  const far = elsewhere({ db: between });
  await far.end("manifest", []);
  far.stop();
  const { headSeq } = await recordingById(db, id);
  assert.ok(headSeq > 2);
  assert.equal(await linesInManifest(id), headSeq);
  assert.deepEqual(await checkRecording(deps, await recordingById(db, id)), { faults: [], unread: [] });
  const away = new ServiceError("unavailable", "Documents can't be read now.", { cause: new Error("no answer") });
  const refused = (code: string) => Object.assign(new pg.DatabaseError(`state ${code}`, 1, "error"), { code });
  // PostgreSQL's codes of errors after which a retry may help: a deadlock, a full disk, no memory, a missing privilege,
  // a missing file, a server bug and a damaged index (appendix A).
  const passing = ["40P01", "53100", "53200", "42501", "58P01", "XX000", "XX002"].map(refused);
  for (const error of [away, new BusyError("Too many documents are being read right now."), ...passing]) {
    const failing = { ...deps, blobs: { ...deps.blobs, open: () => Promise.reject(error) } };
    const checked = checkRecording(failing, await recordingById(db, id));
    await assert.rejects(checked, error, "an error that says nothing about the recording ends the check");
    assert.throws(() => faultOf(error), error, "and an export does not store it as a fault");
  }
  // Damaged data, and a value of the wrong type: a retry never helps.
  for (const error of [refused("XX001"), refused("22P02")]) {
    const failing = { ...deps, blobs: { ...deps.blobs, open: () => Promise.reject(error) } };
    const { faults } = await checkRecording(failing, await recordingById(db, id));
    assert.match(faults[0] ?? "", /: the database can’t read chunk 0 of take /);
    assert.equal(faultOf(error), error.message);
  }
  assert.equal(
    faultOf(new Error("a stored document is not what was written")),
    "a stored document is not what was written",
  );
});

test("recovery sets a part of an unknown session aside, and leaves alone what is not a session", async () => {
  const errors: string[] = [];
  const noting = Object.assign(Object.create(log), {
    error: ({ session }: { session?: string }) => void errors.push(session ?? ""),
  });
  const name = "0000000001.spool";
  const unknown = join(media.spoolDir, randomUUID());
  const disk = dirname(media.spoolDir);
  for (const dir of [unknown, join(disk, "lost+found")]) {
    mkdirSync(dir);
    writeFileSync(join(dir, name), "a part");
  }
  writeFileSync(join(unknown, `${name}.aside`), "an earlier part");
  for (const dir of [media.spoolDir, disk]) writeFileSync(join(dir, "notes"), "");
  const aside = [`${name}.2.aside`, `${name}.aside`];
  await recovered(async () => readdirSync(unknown).length === 2 && !existsSync(join(unknown, name)), {
    ...deps,
    log: noting,
  });
  assert.deepEqual(readdirSync(unknown).toSorted(), aside);
  assert.equal(readFileSync(join(unknown, `${name}.2.aside`), "utf8"), "a part");
  assert.deepEqual(readdirSync(join(disk, "lost+found")), [name]);
  assert.deepEqual(
    errors.filter((session) => session === "lost+found" || session === "notes"),
    [],
  );
});

test("recovery asks again whether a node has a session while its part grows, and ends when the service stops", async () => {
  const dirs = [join(otherDir, "growing"), join(media.spoolDir, "growing-own")];
  const grow = () => {
    for (const dir of dirs) appendFileSync(join(dir, "0000000001.open"), "more");
  };
  for (const dir of dirs) mkdirSync(dir, { recursive: true });
  grow();
  const timer = setInterval(grow, 50);
  let asked = 0;
  await recovered(
    async () => asked >= 3,
    deps,
    async (session) => {
      if (session === "growing") asked++;
      return false;
    },
  );
  clearInterval(timer);
  for (const dir of dirs) assert.deepEqual(readdirSync(dir), ["0000000001.open"]);
});

test("a service that died soon after the start finds on the disk the parts that are not in the store", async () => {
  await begin("early");
  const n = await openPeer({ engine: media.engine, session: "early", person: "n", video: false });
  await until(() => (recordings.headOf("early")?.seq ?? 0) > 1);
  recordings.stop();
  for (const pid of enginePids()) process.kill(pid, "SIGKILL");
  await until(() => media.events.some((event) => event.kind === "lost" && event.sessions.includes("early")));
  await n.close();
  const next = new Recordings(deps);
  const input = { session: "early", notaryId, orderId: null, environment: "test" as const, people, requireHeld: held };
  await assert.rejects(next.begin(input), { code: "conflict" });
  await next.resume("early", held);
  const { recording } = await next.end("early", []);
  next.stop();
  const { manifest } = await recordingById(db, recording);
  assert.equal(JSON.parse(manifest ?? "").takes.length, 1);
});
