import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { formatLogProof, formatNoteKey, sealEntry } from "@signsealship/evidence/log";
import { makeZip } from "@signsealship/testing/inputs/zip-maker";
import { inclusionOf, rootOf, sampleLog } from "../../evidence/test/log/sample-tree.ts";
import { UsageError } from "../src/errors.ts";
import { type MonitorOptions, monitorAnswer } from "../src/monitor/monitor.ts";
import { entriesUpTo, key, leavesOf, log, newFolder, origin, write, writeLog } from "./log-folder.ts";

const offline = () => Promise.reject(new Error("no network"));
const alone = { key: null, state: null, with: [], isFull: false, policy: null, quorumWait: { seconds: 0 } };
const watch = (from: string, more: Partial<MonitorOptions> = {}) =>
  monitorAnswer(from, { ...alone, fetch: offline, now: () => new Date(), ...more });
const findingsOf = async (...args: Parameters<typeof watch>) =>
  ((await watch(...args)).json as { findings: string[] }).findings;

test("finds nothing wrong with an honest log, and reads only what is new", async () => {
  const [folder, state] = [newFolder(), newFolder()];
  const first = await watch(writeLog(folder, entriesUpTo(300)), { state });
  assert.deepEqual(
    [first.exitCode, first.text],
    [0, `${origin}: 300 entries, 300 of them read now\nNothing is wrong.`],
  );
  const second = await watch(writeLog(folder, entriesUpTo(777)), { state });
  assert.equal(second.text, `${origin}: 777 entries, 477 of them read now\nNothing is wrong.`);
  const third = await watch(folder, { state, isFull: true });
  assert.equal(third.text, `${origin}: 777 entries, 777 of them read now\nNothing is wrong.`);
});

test("watches a log without entries", async () => {
  assert.equal((await watch(writeLog(newFolder(), []), { isFull: true })).exitCode, 0);
});

test("reports a log that changed its history, with a proof that convinces others who have its key", async () => {
  const [folder, state] = [newFolder(), newFolder()];
  await watch(writeLog(folder, entriesUpTo(300)), { state });
  const rewritten = entriesUpTo(700).with(17, sealEntry("ab".repeat(32)));
  const answer = await watch(writeLog(newFolder(), rewritten), { state });
  assert.equal(answer.exitCode, 0, "another address has a state of its own");
  writeLog(folder, rewritten);
  const found = await watch(folder, { state });
  assert.equal(found.exitCode, 1);
  const { findings, fork } = found.json as { findings: string[]; fork: string };
  assert.deepEqual(findings, ["The log does not begin with the 300 entries of the earlier run: it has two histories."]);
  assert.equal(fork, join(state, "fork-300.txt"));
  assert.deepEqual((await watch(fork, { key })).exitCode, 1);
  assert.equal((await watch(folder, { state })).exitCode, 1, "the last good state is kept");
});

test("accepts only a real proof of a fork", async () => {
  const [folder, state] = [newFolder(), newFolder()];
  await watch(writeLog(folder, entriesUpTo(300)), { state });
  const older = readFileSync(join(folder, "checkpoint"), "utf8");
  writeLog(folder, entriesUpTo(700).with(17, sealEntry("ab".repeat(32))));
  const { fork } = (await watch(folder, { state })).json as { fork: string };
  const text = readFileSync(fork, "utf8");
  const stranger = await sampleLog(origin, 8);
  const honest = log.signed(
    300,
    rootOf(
      leavesOf(
        entriesUpTo(700)
          .with(17, sealEntry("ab".repeat(32)))
          .slice(0, 300),
      ),
    ),
  );
  const refused = {
    "another key": { text, key: formatNoteKey(stranger.key) },
    "an older checkpoint that the newer tree begins with": { text: text.replace(older, honest), key },
    "a proof that is cut": { text: text.replace(/[A-Za-z0-9+/=]+\n-----END PROOF/, "-----END PROOF"), key },
    "an older checkpoint of a stranger": { text: text.replace(older, stranger.signed(300, rootOf([]))), key },
  };
  for (const [name, given] of Object.entries(refused)) {
    assert.notEqual(given.key === key ? given.text : "", text, name);
    assert.equal((await watch(write(join(newFolder(), "f"), given.text), { key: given.key })).exitCode, 0, name);
  }
  await assert.rejects(watch(write(join(newFolder(), "f"), text.slice(0, 300)), { key }), UsageError);
  await assert.rejects(watch(fork), /--key/);
});

test("reports two checkpoints of one size", async () => {
  const folder = writeLog(newFolder(), entriesUpTo(10));
  const other = write(join(newFolder(), "checkpoint"), log.signed(10, rootOf(leavesOf(entriesUpTo(10, 5)))));
  const state = newFolder();
  const { exitCode } = await watch(folder, { with: [other], state });
  assert.deepEqual([exitCode, (await watch(join(state, "fork-10.txt"), { key })).exitCode], [1, 1]);
});

test("compares with the checkpoint of a proof that somebody else received", async () => {
  const folder = writeLog(newFolder(), entriesUpTo(10));
  const proofOf = (lines: readonly string[]) =>
    write(
      join(newFolder(), "sealed.pdf.tlog-proof"),
      formatLogProof({
        extra: null,
        index: 1,
        hashes: inclusionOf(leavesOf(lines), 1),
        checkpoint: log.signed(lines.length, rootOf(leavesOf(lines))),
      }),
    );
  assert.deepEqual(await findingsOf(folder, { with: [proofOf(entriesUpTo(7))] }), []);
  const foreign = proofOf(entriesUpTo(7, 90));
  assert.match((await findingsOf(folder, { with: [foreign], state: newFolder() }))[0] ?? "", /two histories/);
  const zip = makeZip([{ name: "Closing/Evidence/01 Deed.pdf.tlog-proof", bytes: readFileSync(foreign) }]);
  const closing = join(newFolder(), "closing.zip");
  writeFileSync(closing, zip);
  assert.match((await findingsOf(folder, { with: [closing], state: newFolder() }))[0] ?? "", /01 Deed.*two histories/);
  const ahead = proofOf(entriesUpTo(12));
  assert.deepEqual(await findingsOf(folder, { with: [ahead] }), [
    `The log shows 10 entries, and ${ahead} is signed for 12.`,
  ]);
});

test("reads the checkpoint in the header of a stored mail or webhook", async () => {
  const folder = writeLog(newFolder(), entriesUpTo(10));
  const mailOf = (lines: readonly string[], lineEnd: string) => {
    const note = Buffer.from(log.signed(lines.length, rootOf(leavesOf(lines)))).toString("base64");
    const folded = (note.match(/.{1,60}/g) ?? []).join(`${lineEnd} `);
    const head = ["Subject: Your documents", `Service-Log-Checkpoint: ${folded}`, "To: dana@example.com"];
    return write(join(newFolder(), "mail.eml"), [...head, "", "Hello,"].join(lineEnd));
  };
  assert.deepEqual(await findingsOf(folder, { with: [mailOf(entriesUpTo(7), "\r\n")] }), []);
  const foreign = mailOf(entriesUpTo(7, 90), "\n");
  assert.match((await findingsOf(folder, { with: [foreign], state: newFolder() }))[0] ?? "", /two histories/);
});

test("refuses the checkpoint of another log, and reports that a checkpoint without the key's signature proves nothing", async () => {
  const folder = writeLog(newFolder(), entriesUpTo(10));
  const [other, stranger] = [await sampleLog("example.org/log/live", 7), await sampleLog(origin, 8)];
  const noteOf = (signer: typeof log) => write(join(newFolder(), "note"), signer.signed(3, rootOf([])));
  await assert.rejects(watch(folder, { with: [noteOf(other)] }), /is of the log example\.org/);
  const foreign = await watch(folder, { with: [noteOf(stranger)] });
  assert.match(
    foreign.text,
    /did not sign the checkpoint of .*: it proves nothing about the log\.\nNothing is wrong\./,
  );
  assert.equal(foreign.exitCode, 2);
  await assert.rejects(watch(folder, { with: [write(join(newFolder(), "x"), "text")] }), UsageError);
  await assert.rejects(watch(folder, { with: [join(folder, "none")] }), UsageError);
});

test("reports where the log has a sealed file, that the file was retracted, or that the log lacks it", async () => {
  const pdf = write(join(newFolder(), "sealed.pdf"), "%PDF-1.7 sealed");
  const missing = write(join(newFolder(), "other.pdf"), "%PDF-1.7 other");
  const sha256 = createHash("sha256").update("%PDF-1.7 sealed").digest("hex");
  const lines = [...entriesUpTo(5), sealEntry(sha256), ...entriesUpTo(5, 5)];
  const { text } = await watch(writeLog(newFolder(), lines), { with: [pdf] });
  assert.match(text, /sealed\.pdf: entry 5\nNothing is wrong\./);
  const retracted = writeLog(newFolder(), [...lines, `retract/v1 ${sha256} superseded\n`]);
  assert.match((await watch(retracted, { with: [pdf] })).text, /sealed\.pdf: entry 5, retracted \(superseded\)/);
  const state = newFolder();
  const unknown = await watch(retracted, { with: [pdf, missing], state });
  assert.match(unknown.text, /other\.pdf is not in this log, or not yet\.\nNothing is wrong\./);
  assert.equal(unknown.exitCode, 2);
  assert.match((await watch(retracted, { state })).text, / 0 of them read now/);
});

test("reports faults that no honest log has: two histories of a closing, a wrong count, a line outside the grammar", async () => {
  const closing = (sha256: string) => `closing/v1 ${sha256.repeat(32)} ${"ef".repeat(32)}\n`;
  const lines = [...entriesUpTo(3), closing("aa"), "import/v1 3\n", closing("bb"), "seal/v1 AB\n"];
  assert.deepEqual(await findingsOf(writeLog(newFolder(), lines), {}), [
    "Entry 4 says that 3 entries stand before it.",
    "Entries 3 and 5 have one link: a closing has two histories.",
    "Entry 6 is not of the log's grammar: sealedSha256 of seal/v1 is a SHA-256 in lowercase hex.",
  ]);
  const state = newFolder();
  const folder = writeLog(newFolder(), [...entriesUpTo(3), closing("aa")]);
  await watch(folder, { state });
  writeLog(folder, [...entriesUpTo(3), closing("aa"), closing("bb")]);
  assert.match((await findingsOf(folder, { state }))[0] ?? "", /Entries 3 and 4/);
});

test("shows nothing of a log that could control a terminal, and at most a hundred faults of its entries", async () => {
  const evil = await sampleLog("example.com/\u009b2Jlog/\u202elive", 7);
  const folder = writeLog(newFolder(), Array(300).fill("\u001b[1A\u001b[2K"), evil);
  const own = { key: formatNoteKey(evil.key), checkpointUpTo: async () => null, onEntry: () => {} };
  const findings = () => ["Entry 0, \u001b[2K, is of no row of the database."];
  const { text, json, exitCode } = await watch(folder, { key: own.key, own: async () => ({ ...own, findings }) });
  assert.equal(exitCode, 1);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be printed
  assert.doesNotMatch(text, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
  assert.match(text, /WRONG: Entry 0, \ufffd\[2K, is of no row/);
  const { findings: sentences } = json as { findings: string[] };
  assert.equal(sentences.filter((sentence) => sentence.includes("grammar")).length, 100);
  assert.ok(sentences.includes("There are more such entries."));
  const elsewhere = write(join(newFolder(), "note"), evil.signed(3, rootOf([])));
  await assert.rejects(watch(writeLog(newFolder(), entriesUpTo(10)), { with: [elsewhere] }), (error: Error) => {
    assert.match(error.message, /is of the log example\.com\/\ufffd2Jlog/);
    return error instanceof UsageError;
  });
});

test("reports a changed byte in each file of a log", async () => {
  const lines = entriesUpTo(300);
  for (const path of [
    "checkpoint",
    "tile/0/000",
    "tile/0/001.p/44",
    "tile/1/000.p/1",
    "tile/entries/000",
    "tile/entries/001.p/44",
  ]) {
    const folder = writeLog(newFolder(), lines);
    const bytes = readFileSync(join(folder, path));
    const at = path === "checkpoint" ? bytes.indexOf("300") : bytes.length - 2;
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    writeFileSync(join(folder, path), bytes);
    assert.equal((await watch(folder, { isFull: true })).exitCode, 1, path);
    writeFileSync(join(folder, path), bytes.subarray(0, -3));
    assert.equal((await watch(folder, { isFull: true })).exitCode, 1, `${path}, cut`);
  }
});

test("accepts only the key of the earlier runs, and only an unchanged state", async () => {
  const [folder, state] = [writeLog(newFolder(), entriesUpTo(3)), newFolder()];
  await watch(folder, { state });
  const stranger = formatNoteKey((await sampleLog(origin, 8)).key);
  await assert.rejects(watch(folder, { state, key: stranger }), /--key is not the key/);
  write(join(folder, "vkey"), `${stranger}\n`);
  assert.equal((await watch(folder, { state })).exitCode, 0, "the key of the first run is kept");
  assert.match((await findingsOf(folder, { key: stranger }))[0] ?? "", /did not sign the newest/);
  const [file = ""] = readdirSync(state);
  const text = readFileSync(join(state, file), "utf8");
  for (const changed of [text.replace(/"edge":\[\[\d/, '"edge":[[5'), "{}", "x", text.slice(0, -20)]) {
    writeFileSync(join(state, file), changed);
    await assert.rejects(watch(folder, { state }), /is damaged/, changed);
  }
});

test("reads over HTTP, waits for a busy server, and makes no claim about one that does not answer", async () => {
  const folder = writeLog(newFolder(), entriesUpTo(300));
  let asked = 0;
  const server = createServer((request, response) => {
    asked += 1;
    if (asked === 2) {
      response.writeHead(429, { "Retry-After": "0" }).end();
      return;
    }
    try {
      response.end(readFileSync(join(folder, request.url ?? "")));
    } catch {
      response.writeHead(404).end();
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  assert.ok(address !== null && typeof address === "object");
  const from = `http://127.0.0.1:${address.port}`;
  assert.equal((await watch(from, { fetch })).exitCode, 0);
  server.close();
  assert.equal((await watch(from, { fetch })).exitCode, 2);
  assert.equal((await watch(newFolder(), { key })).exitCode, 2);
  await assert.rejects(watch(newFolder()), /publishes no key/);
});
