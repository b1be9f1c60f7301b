import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { formatNoteKey, logSignedText, parseCheckpoint, parseNote } from "@signsealship/evidence/log";
import { writeDetached } from "@signsealship/evidence/ots";
import { buildTimeStampReq, parseTimeStampResp } from "@signsealship/evidence/rfc3161";
import { openTsaWorkshop } from "@signsealship/testing/doubles/tsa-tokens";
import { testsNeeding } from "@signsealship/testing/tools/tools";
import { rootOf, sampleLog, sampleWitness } from "../../evidence/test/log/sample-tree.ts";
import { UsageError } from "../src/errors.ts";
import { type MonitorOptions, monitorAnswer } from "../src/monitor/monitor.ts";
import { entriesUpTo, key, leavesOf, log, newFolder, origin, write, writeLog } from "./log-folder.ts";

const { test } = testsNeeding("openssl");

/** A log at a URL, which serves the files of a folder. */
function publish(lines: readonly string[], name = "live") {
  const folder = newFolder();
  const prefix = `https://log.example.com/log/${name}/`;
  writeLog(folder, lines);
  return {
    folder,
    from: prefix.slice(0, -1),
    fetch: async (url: string) => {
      try {
        return new Response(readFileSync(join(folder, url.startsWith(prefix) ? url.slice(prefix.length) : "none")));
      } catch {
        return new Response(null, { status: 404 });
      }
    },
    grow: (more: readonly string[]) => writeLog(folder, more),
  };
}
type Published = ReturnType<typeof publish>;

type Reported = { findings: string[]; missing: string[]; fork: string | null };
async function watch({ from, fetch }: Published, more: Partial<MonitorOptions> & { at?: string } = {}) {
  const { at = "2026-11-27T10:15:00Z", ...options } = more;
  const { json, text, exitCode } = await monitorAnswer(from, {
    key: null,
    state: null,
    with: [],
    isFull: false,
    policy: null,
    quorumWait: { seconds: 0 },
    fetch: fetch as typeof globalThis.fetch,
    now: () => new Date(at),
    ...options,
  });
  return { ...(json as Reported), text, exitCode };
}

const first = sampleWitness("first.example.com/w", 21);
const second = sampleWitness("second.example.org/w", 22);
const policyText = (logs = "", quorum = "both") =>
  `${logs}witness first ${first.key}\nwitness second ${second.key}\ngroup both all first second\nquorum ${quorum}\n`;
const policyFile = (text = policyText()) => write(join(newFolder(), "policy"), text);
const checkpointOf = ({ folder }: Published) => readFileSync(join(folder, "checkpoint"), "utf8");
const cosign = (one: Published, ...witnesses: (typeof first)[]) => {
  const note = checkpointOf(one);
  write(
    join(one.folder, "checkpoint"),
    note + witnesses.map(({ cosigned }) => cosigned(note, 1_795_000_000n)).join(""),
  );
};

test("accepts a state with the quorum of the reader's policy", async () => {
  const one = publish(entriesUpTo(300));
  cosign(one, first, second);
  const { exitCode, text } = await watch(one, { policy: policyFile() });
  assert.equal(exitCode, 0);
  assert.match(text, /2 of 2 witnesses cosigned the state of example\.com\/log\/live, the last one at 2026-/);
  assert.match(text, /The log names no policy of its own\./);
});

test("waits for the witnesses of a new state, and accepts a later state that has the quorum", async () => {
  for (const grown of [300, 310]) {
    const one = publish(entriesUpTo(300));
    cosign(one, first);
    let waits = 0;
    const sleep = async () => {
      waits += 1;
      if (waits !== 3) return;
      one.grow(entriesUpTo(grown));
      cosign(one, first, second);
    };
    const { exitCode } = await watch(one, { policy: policyFile(), quorumWait: { seconds: 120, sleep } });
    assert.deepEqual([exitCode, waits], [0, 3]);
  }
});

test("reports a later state with the quorum that has another history", async () => {
  const one = publish(entriesUpTo(300));
  const sleep = async () => {
    one.grow(entriesUpTo(310, 5));
    cosign(one, first, second);
  };
  const state = newFolder();
  const found = await watch(one, { policy: policyFile(), state, quorumWait: { seconds: 30, sleep } });
  assert.deepEqual(found.findings, [
    "The log does not begin with the 300 entries of the first checkpoint of this run: it has two histories.",
  ]);
  assert.deepEqual([found.exitCode, found.fork], [1, join(state, "fork-300.txt")]);
});

test("reports a state that still lacks its quorum after the wait, and stores the state of the run", async () => {
  const stranger = sampleWitness("second.example.org/w", 23);
  const [one, state] = [publish(entriesUpTo(300)), newFolder()];
  cosign(one, first, stranger);
  let waits = 0;
  const sleep = async () => {
    waits += 1;
  };
  const options = { policy: policyFile(), state, quorumWait: { seconds: 120, sleep } };
  const found = await watch(one, options);
  assert.equal(found.exitCode, 1);
  assert.deepEqual([found.findings, waits], [[], 24]);
  assert.deepEqual(found.missing, [
    `The state of 300 entries still lacks its quorum after 120 s: 1 of 2 witnesses cosigned the state of ${origin}, which is less than the quorum both.`,
  ]);
  assert.match(found.text, /MISSING: The state of 300 entries/);
  assert.doesNotMatch(found.text, /Nothing is wrong/);
  assert.equal((await watch(one, { ...options, policy: policyFile(policyText("", "first")) })).exitCode, 0);
  assert.match((await watch(one, options)).text, / 0 of them read now/);
});

test("reports a false cosignature of a witness, even where the others are enough", async () => {
  const one = publish(entriesUpTo(3));
  const note = checkpointOf(one);
  const other = log.signed(4, rootOf([]));
  write(join(one.folder, "checkpoint"), note + first.cosigned(note, 1n) + second.cosigned(other, 1n));
  const { missing } = await watch(one, { policy: policyFile(policyText("", "first")) });
  assert.match(missing[0] ?? "", /The cosignature of second\.example\.org\/w is not valid\./);
});

test("takes the log's key from the policy, and refuses a policy that is not of this log", async () => {
  const one = publish(entriesUpTo(3));
  rmSync(join(one.folder, "vkey"));
  cosign(one, first, second);
  const named = policyFile(policyText(`log ${key} https://log.example.com/log/live\n`));
  assert.equal((await watch(one, { policy: named })).exitCode, 0);
  const [stranger, elsewhere] = [await sampleLog(origin, 8), await sampleLog("example.com/log/test", 9)];
  const ofStranger = policyFile(policyText(`log ${formatNoteKey(stranger.key)}\n`));
  assert.match((await watch(one, { policy: ofStranger })).findings[0] ?? "", /did not sign the newest/);
  const refused: [RegExp, Partial<MonitorOptions>][] = [
    [/does not name this log/, { policy: policyFile(policyText(`log ${formatNoteKey(elsewhere.key)}\n`)) }],
    [/does not name this log/, { policy: ofStranger, key }],
    [/several such logs/, { policy: policyFile(policyText(`log ${key}\nlog ${formatNoteKey(stranger.key)}\n`)) }],
    [/line 1 of the policy/, { policy: policyFile("witnesses\n") }],
    [/cannot be read/, { policy: join(newFolder(), "none") }],
  ];
  for (const [why, options] of refused)
    await assert.rejects(watch(one, options), (error) => error instanceof UsageError && why.test(error.message));
});

test("says whether the log names the reader's policy", async () => {
  const policy = policyFile();
  const line = (text: string) => `policy/v1 ${createHash("sha256").update(text).digest("hex")}\n`;
  const state = newFolder();
  const one = publish([...entriesUpTo(3), line("old\n"), line(policyText())]);
  cosign(one, first, second);
  assert.match((await watch(one, { policy, state })).text, /The log names this policy in entry 4\./);
  assert.match((await watch(one, { policy, state })).text, /The log names this policy in entry 4\./);
  one.grow([...entriesUpTo(3), line("old\n"), line(policyText()), line("new\n")]);
  cosign(one, first, second);
  assert.match(
    (await watch(one, { policy, state })).text,
    /another policy in entry 5: compare it, at policy\/[0-9a-f]{64}\./,
  );
});

const head = (day: string, n = 1) => `audit/v1 ${day} ${String(n).padStart(64, "0")}\n`;
const missingOf = async (...args: Parameters<typeof watch>) => (await watch(...args)).missing;

test("names days between others that lack the operator's records, once where it keeps a state", async () => {
  const lines = ["2026-11-19", "2026-11-21", "2026-11-20", "2026-11-23", "2026-11-26"].map((day) => head(day));
  const [one, state] = [publish(lines), newFolder()];
  const gaps = [
    "The log has no entry for the operator's records of 2026-11-22.",
    "The log has no entry for the operator's records of 2026-11-24 to 2026-11-25.",
  ];
  const found = await watch(one, { state });
  assert.deepEqual([found.missing, found.findings, found.exitCode], [gaps, [], 1]);
  assert.deepEqual(await missingOf(one, { state }), []);
  const proof = write(join(newFolder(), "sealed.pdf"), "%PDF-1.7");
  assert.deepEqual(await missingOf(one, { state, with: [proof] }), []);
  assert.deepEqual(await missingOf(one, { state, isFull: true }), gaps);
  one.grow([...lines, head("2026-11-28")]);
  const days = ["The log has no entry for the operator's records of 2026-11-27."];
  assert.deepEqual(await missingOf(one, { state, at: "2026-11-29T03:00:00Z" }), days);
});

test("names the days up to now that lack the operator's records, six hours after their end", async () => {
  const lines = [...entriesUpTo(3), head("2026-11-24")];
  const one = publish(lines);
  assert.deepEqual(await missingOf(one, { at: "2026-11-26T05:59:59Z" }), []);
  const days = (text: string) => [`The log has no entry for the operator's records of ${text}.`];
  assert.deepEqual(await missingOf(one, { at: "2026-11-26T06:00:00Z" }), days("2026-11-25"));
  assert.deepEqual(await missingOf(one, { at: "2026-11-28T12:00:00Z" }), days("2026-11-25 to 2026-11-27"));
  const [silent, state] = [publish(entriesUpTo(3)), newFolder()];
  assert.deepEqual(await missingOf(silent, { state, at: "2026-11-24T10:00:00Z" }), []);
  assert.deepEqual(await missingOf(silent, { state, at: "2026-11-26T10:00:00Z" }), days("2026-11-24 to 2026-11-25"));
});

test("expects no records of a log of test seals, and none of today of a copy in a folder", async () => {
  const at = "2026-11-28T12:00:00Z";
  assert.deepEqual(await missingOf(publish([head("2026-11-24")], "test"), { at }), []);
  const { folder, fetch } = publish([head("2026-11-22"), head("2026-11-24")]);
  assert.deepEqual(await missingOf({ ...publish([]), from: folder, fetch }, { at }), [
    "The log has no entry for the operator's records of 2026-11-23.",
  ]);
});

type Root = { size: number; chosenAtUtc: string; isAnchored: boolean };
const chosen = (size: number, at: string, isAnchored = true): Root => ({
  size,
  chosenAtUtc: `2026-11-27T${at}:00.000Z`,
  isAnchored,
});
const listRoots = ({ folder }: Published, roots: readonly Root[], intervalSeconds = 3_600) =>
  write(join(folder, "anchors.json"), JSON.stringify({ intervalSeconds, roots }));

/** Serves both the file `anchors` and the folder `anchors/`. A file system can't have both under one name. */
const withAnchors = (one: Published): Published => ({
  ...one,
  fetch: (url) => one.fetch(url.replace(/\/anchors$/, "/anchors.json")),
});

const ots = (digest: Uint8Array) =>
  Buffer.from(
    writeDetached({
      fileHashOp: "sha256",
      digest,
      timestamp: [{ attestation: { kind: "pending", uri: "https://calendar.example.com" } }],
    }),
  ).toString("base64");

/**
 * Writes the file of an anchored state: its checkpoint, and a proof that a calendar issued at the given time of day.
 */
function anchor(
  { folder }: Published,
  lines: readonly string[],
  at: string,
  more: { proof?: string; source?: string; signer?: typeof log } = {},
) {
  const root = rootOf(leavesOf(lines));
  const { proof = ots(root), source = "opentimestamps", signer = log } = more;
  const anchors = [{ source, anchoredAtUtc: `2026-11-27T${at}:00.000Z`, proof }];
  const found = { size: lines.length, checkpoint: signer.signed(lines.length, root), anchors };
  write(join(folder, "anchors", String(lines.length)), JSON.stringify(found));
}

test("names the hour whose entries nobody anchored in time, and says when they were anchored", async () => {
  const [published, state] = [publish([...entriesUpTo(300)]), newFolder()];
  const one = withAnchors(published);
  anchor(one, entriesUpTo(250), "09:58");
  listRoots(one, [chosen(250, "09:57")]);
  assert.deepEqual(await missingOf(one, { state, at: "2026-11-27T10:15:00Z" }), []);
  one.grow(entriesUpTo(320));
  assert.deepEqual(await missingOf(one, { state, at: "2026-11-27T12:15:00Z" }), []);
  const hour = "The hour from 2026-11-27 10:00 UTC has no anchor:";
  const late = await watch(one, { state, at: "2026-11-27T12:15:01Z" });
  assert.deepEqual(late.missing, [`${hour} no anchored state has the 300 entries of then.`]);
  assert.deepEqual([late.exitCode, late.findings], [1, []]);
  one.grow(entriesUpTo(330));
  anchor(one, entriesUpTo(325), "13:00");
  listRoots(one, [chosen(325, "12:50"), chosen(250, "09:57")]);
  assert.deepEqual(await missingOf(one, { state, at: "2026-11-27T13:10:00Z" }), [
    `${hour} the first anchored state with the 300 entries of then is of 2026-11-27T13:00:00.000Z.`,
  ]);
  assert.deepEqual(await missingOf(one, { state, at: "2026-11-27T13:20:00Z" }), []);
});

test("names an hour whose anchored state the log's key did not sign", async () => {
  const one = withAnchors(publish(entriesUpTo(300)));
  const forger = await sampleLog(origin, 8);
  anchor(one, entriesUpTo(200), "07:40", { signer: forger });
  listRoots(one, [chosen(200, "07:30")]);
  const found = await watch(one, { at: "2026-11-27T10:00:00Z" });
  assert.deepEqual(found.missing, [
    "The hour from 2026-11-27 07:00 UTC has no anchor: no anchored state has the 200 entries of then.",
  ]);
  assert.match(found.text, /The key did not sign the checkpoint of the anchored state of 200 entries/);
});

test("names an hour in which the log chose a state to anchor, and got no proof", async () => {
  const one = withAnchors(publish(entriesUpTo(300)));
  listRoots(one, [chosen(290, "08:30", false), chosen(280, "07:45", false), chosen(200, "07:30", false)]);
  assert.deepEqual(await missingOf(one, { at: "2026-11-27T10:00:00Z" }), [
    "The hour from 2026-11-27 07:00 UTC has no anchor: no anchored state has the 200 entries of then.",
  ]);
});

test("finds nothing missing in a log that did not grow, or that anchors each hour", async () => {
  const [one, state] = [withAnchors(publish(entriesUpTo(300))), newFolder()];
  const roots: Root[] = [];
  for (const [hour, size] of [
    [10, 300],
    [11, 310],
    [12, 320],
    [16, 320],
    [20, 320],
  ] as const) {
    one.grow(entriesUpTo(size));
    if (roots[0]?.size !== size) roots.unshift(chosen(size, `${hour}:05`));
    anchor(one, entriesUpTo(size), `${Math.min(hour, 12)}:06`);
    listRoots(one, roots);
    const found = await watch(one, { state, at: `2026-11-27T${hour}:30:00Z` });
    assert.deepEqual([found.missing, found.findings, found.exitCode], [[], [], 0]);
    assert.match(found.text, /Nothing is wrong\./);
  }
});

test("says so of a log that has never been anchored, and reports anchors that vanish", async () => {
  const [one, state] = [withAnchors(publish(entriesUpTo(300))), newFolder()];
  assert.match((await watch(one)).text, /lists no anchored states[\s\S]*Nothing is wrong/);
  listRoots(one, [], 6 * 3_600);
  assert.match((await watch(one, { state })).text, /No authority and no calendar has anchored[\s\S]*Nothing is wrong/);
  anchor(one, entriesUpTo(300), "10:30");
  listRoots(one, [chosen(300, "10:29")], 6 * 3_600);
  assert.match((await watch(one, { state, at: "2026-11-27T11:00:00Z" })).text, /every 6 hours/);
  one.grow(entriesUpTo(310));
  await watch(one, { state, at: "2026-11-27T11:30:00Z" });
  rmSync(join(one.folder, "anchors.json"));
  assert.deepEqual(await missingOf(one, { state, at: "2026-11-27T14:00:00Z" }), [
    "The hour from 2026-11-27 11:00 UTC has no anchor: no anchored state has the 310 entries of then.",
  ]);
});

test("checks the tokens of authorities over an anchored state", async () => {
  const workshop = openTsaWorkshop();
  try {
    const [one, lines] = [withAnchors(publish(entriesUpTo(300))), entriesUpTo(250)];
    const tokenOf = (note: string) => {
      const imprint = createHash("sha256")
        .update(logSignedText(parseNote(note)))
        .digest();
      const reply = workshop.reply(buildTimeStampReq({ imprint, nonce: Uint8Array.of(1) }));
      return Buffer.from(parseTimeStampResp(reply).token ?? assert.fail()).toString("base64");
    };
    const source = "https://tsa.example.com";
    const at = new Date(Date.now() + 60_000).toISOString();
    const chosenAtUtc = new Date().toISOString();
    listRoots(one, [{ size: 250, isAnchored: true, chosenAtUtc }]);
    anchor(one, lines, "10:00", { source, proof: tokenOf(log.signed(250, rootOf(leavesOf(lines)))) });
    assert.equal((await watch(one, { at })).exitCode, 0);
    anchor(one, lines, "10:00", { source, proof: tokenOf(log.signed(250, rootOf([]))) });
    const finding = `The proof of ${source} is not over the state of 250 entries.`;
    assert.deepEqual((await watch(one, { at })).findings, [finding]);
    anchor(one, lines, "10:00", { source, proof: "AAAA" });
    assert.deepEqual((await watch(one, { at })).findings, [finding]);
  } finally {
    workshop.close();
  }
});

test("reports a proof of another state, an anchored state of another history, and an unreadable list", async () => {
  const one = withAnchors(publish(entriesUpTo(300)));
  listRoots(one, [chosen(250, "09:57")]);
  assert.deepEqual((await watch(one)).findings, ["anchors/250 is missing"]);
  anchor(one, entriesUpTo(250), "09:58", { proof: ots(rootOf([])) });
  assert.deepEqual((await watch(one)).findings, ["The proof of opentimestamps is not over the state of 250 entries."]);
  anchor(one, entriesUpTo(250, 7), "09:58");
  const { findings } = await watch(one, { state: newFolder() });
  assert.match(
    findings[0] ?? "",
    /begin with the 250 entries of the anchored state of 250 entries: it has two histories/,
  );
  anchor(one, entriesUpTo(249), "09:58");
  write(join(one.folder, "anchors", "250"), readFileSync(join(one.folder, "anchors", "249")));
  assert.deepEqual((await watch(one)).findings, ["anchors/250 can't be read"]);
  for (const text of ["", "{}", '{"intervalSeconds":-1,"roots":[]}', '{"intervalSeconds":1,"roots":[{"size":1}]}']) {
    write(join(one.folder, "anchors.json"), text);
    assert.deepEqual((await watch(one)).findings, ["anchors can't be read"], text);
  }
});

test("judges neither the quorum nor the anchors of a log that has ended, but of the one that follows", async () => {
  const next = await sampleLog("example.com/log/live-2", 12);
  const lines = [...entriesUpTo(3), head("2026-11-20"), `logkey/v1 ${formatNoteKey(next.key)} next\n`];
  const old = publish(lines);
  const { size, root } = parseCheckpoint(checkpointOf(old));
  const folder = newFolder();
  const hex = Buffer.from(root).toString("hex");
  writeLog(folder, [`logkey/v1 ${key} end\n`, `end/v1 ${origin} ${size} ${hex} rotation\n`, head("2026-11-23")], next);
  const fetch = async (url: string) => {
    const path = /\/log\/live-2\/(.*)$/.exec(url)?.[1];
    if (path === undefined) return old.fetch(url);
    try {
      return new Response(readFileSync(join(folder, path)));
    } catch {
      return new Response(null, { status: 404 });
    }
  };
  const answer = await watch({ ...old, fetch }, { policy: policyFile(), at: "2026-11-24T10:00:00Z" });
  const { missing, followedBy } = answer as typeof answer & { followedBy: Reported[] };
  assert.deepEqual(missing, []);
  assert.deepEqual(followedBy[0]?.missing.length, 2);
  assert.match(followedBy[0]?.missing[0] ?? "", /records of 2026-11-21 to 2026-11-22/);
  assert.match(followedBy[0]?.missing[1] ?? "", /0 of 2 witnesses/);
});
