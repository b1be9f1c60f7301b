import assert from "node:assert/strict";
import { test } from "node:test";
import { formatNoteKey, parseCheckpoint, parseNoteKey, verifyNote } from "../../src/log/log.ts";
import { parseNote } from "../../src/log/note.ts";
import { rootOf, sampleLog } from "./sample-tree.ts";

/** The example in the documentation of Go's package `note`. */
const goKey = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
const goNote = `If you think cryptography is the answer to your problem,
then you don't know what your problem is.

\u2014 PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=
`;

test("verifies the example of Go's package note", async () => {
  const key = await parseNoteKey(goKey);
  assert.equal(formatNoteKey(key), goKey);
  assert.equal(await verifyNote(parseNote(goNote), key), "signed");
  assert.equal(await verifyNote(parseNote(goNote.replace("cryptography", "Cryptography")), key), "wrong");
  assert.equal(await verifyNote(parseNote(goNote.replace(/x08go/, "x08gp")), key), "absent");
});

test("refuses a key with a wrong id, of another kind, or without a name", async () => {
  const wrong = [
    goKey.replace("c74f20a3", "c74f20a4"),
    goKey.replace("+ARpc", "+AhpC"),
    goKey.replace("PeterNeumann", ""),
    goKey.replace("PeterNeumann", "Peter Neumann"),
    goKey.slice(0, -4),
    `${goKey}=`,
    "PeterNeumann",
  ];
  for (const text of wrong) await assert.rejects(parseNoteKey(text), { name: "EvidenceError" }, text);
});

test("refuses a note that another reader could read differently", () => {
  const line = goNote.split("\n").at(-2) ?? "";
  const wrong = {
    "no blank line": goNote.replace("\n\n", "\n"),
    "no final line feed": goNote.slice(0, -1),
    "carriage returns": goNote.replaceAll("\n", "\r\n"),
    "a control character": goNote.replace("answer", "an\x01swer"),
    "a key that signed twice": `${goNote}${line}\n`,
    "a hyphen for the dash": goNote.replace("\u2014", "-"),
    "base64 without padding": goNote.replace("AM=", "AM"),
    "base64 with stray bits": goNote.replace("AM=", "AN="),
    "a second space": goNote.replace("\u2014 Peter", "\u2014  Peter"),
    "a signature of three bytes": goNote.replace(/x08go.*/, "x08g"),
    "33 signatures": `${goNote + Array.from({ length: 32 }, (_, i) => line.replace("Peter", `P${i}`)).join("\n")}\n`,
    "no signature": goNote.slice(0, goNote.indexOf("\u2014")),
    "no text": `\n\n${line}\n`,
  };
  for (const [name, note] of Object.entries(wrong)) {
    assert.throws(() => parseNote(note), { name: "EvidenceError" }, name);
  }
});

test("reads a checkpoint, and ignores the signatures of keys that it does not know", async () => {
  const { key, signed } = await sampleLog("example.com/log/live", 7);
  const note = signed(0, rootOf([]));
  const other = await sampleLog("witness.example", 8);
  const cosigned = `${note + other.signed(0, rootOf([])).split("\n").at(-2)}\n`;
  const checkpoint = parseCheckpoint(cosigned);
  assert.equal(checkpoint.origin, "example.com/log/live");
  assert.equal(checkpoint.size, 0);
  assert.equal(await verifyNote(checkpoint.note, key), "signed");
  assert.equal(await verifyNote(checkpoint.note, other.key), "wrong");
});

test("refuses a checkpoint whose size or root has the wrong form", async () => {
  const { signed } = await sampleLog("example.com/log/live", 7);
  const note = signed(12, rootOf([]));
  for (const size of ["012", "+12", "-1", "1e1", "9007199254740992", "12 ", ""]) {
    assert.throws(() => parseCheckpoint(note.replace("\n12\n", `\n${size}\n`)), { name: "EvidenceError" }, size);
  }
  const root = note.split("\n")[2] ?? "";
  for (const text of [root.slice(0, -1), `${root}=`, root.slice(4), `${root} `, ""])
    assert.throws(() => parseCheckpoint(note.replace(`\n${root}\n`, `\n${text}\n`)), { name: "EvidenceError" }, text);
});
