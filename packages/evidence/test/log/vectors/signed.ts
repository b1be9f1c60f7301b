import { createHash } from "node:crypto";
import { formatLogProof, formatNoteKey, type LogEnd, sealEntry } from "../../../src/log/log.ts";
import { toBase64 } from "../../../src/log/note.ts";
import type { LogVector } from "../log-vectors.ts";
import { inclusionOf, sampleLog } from "../sample-tree.ts";
import { entry, hex, key, leaves, lines, live, note, origin, proof, root, stranger } from "./sample.ts";

const elsewhere = await sampleLog("example.org/log/live", 7);
const trusted = [{ environment: "live", key }] as const;

/** Test vectors of keys, checkpoints and log proofs. */
export const signedVectors: LogVector[] = [];

// Adds a vector for a text that is, or is not, a key of a log.
const keyCase = (name: string, text: string, expect: LogVector["expect"]) =>
  signedVectors.push({ name: `key: ${name}`, kind: "key", text, expect });
/** A key whose id matches its bytes. */
const keyOf = (name: string, bytes: Uint8Array): string => {
  const id = createHash("sha256").update(`${name}\n`).update(bytes).digest("hex").slice(0, 8);
  return `${name}+${id}+${toBase64(bytes)}`;
};
const keyBytes = Buffer.from(key.slice(key.indexOf("+", origin.length + 1) + 1), "base64");
keyCase("as it was made", key, "accepted");
keyCase(
  "with another ID",
  key.replace(/\+([0-9a-f])/, (_, digit) => `+${digit === "0" ? "1" : "0"}`),
  "refused",
);
const otherKind = toBase64(Buffer.concat([Buffer.of(4), keyBytes.subarray(1)]));
keyCase("of another kind of signature", keyOf(origin, Buffer.from(otherKind, "base64")), "refused");
keyCase("of another kind, with the ID of this one", key.replace(toBase64(keyBytes), otherKind), "refused");
keyCase("of 31 bytes", keyOf(origin, keyBytes.subarray(0, -1)), "refused");
keyCase("of 33 bytes", keyOf(origin, Buffer.concat([keyBytes, Buffer.of(0)])), "refused");
keyCase("whose name has a space", keyOf("example com", keyBytes), "refused");
keyCase("without a name", keyOf("", keyBytes), "refused");
keyCase(
  "with stray bits in its base64",
  key.replace(/.=*$/, (end) => (end.includes("=") ? end : `${end}=`)),
  "refused",
);

// Adds a vector for a checkpoint.
const checkpointCase = (name: string, text: string, expect: LogVector["expect"], again?: LogVector["again"]) =>
  signedVectors.push({ name: `checkpoint: ${name}`, kind: "checkpoint", text, ...(again && { again }), expect });
const signature = note.split("\n").at(-2) ?? "";
const rootLine = toBase64(root);
const withText = (text: string): string => `${text}\n${signature}\n`;
checkpointCase("as it was signed", note, "accepted");
checkpointCase(
  "with a signature of another key",
  `${note}${stranger.signed(11, root).split("\n").at(-2)}\n`,
  "accepted",
);
checkpointCase("with a further line", withText(`${origin}\n11\n${rootLine}\nmore\n`), "accepted");
checkpointCase("with an empty line behind the root", withText(`${origin}\n11\n${rootLine}\n\nmore\n`), "refused");
checkpointCase("without an origin", withText(`\n11\n${rootLine}\n`), "refused");
for (const size of ["011", "+11", "-1", "1e1", "0x1", "11 ", "", "9007199254740992", "11111111111111111"])
  checkpointCase(`of the size "${size}"`, withText(`${origin}\n${size}\n${rootLine}\n`), "refused");
checkpointCase("whose root has 31 bytes", withText(`${origin}\n11\n${toBase64(root.subarray(1))}\n`), "refused");
checkpointCase("whose root is not base64", withText(`${origin}\n11\n${rootLine.slice(0, -2)}*=\n`), "refused");
checkpointCase("whose root has stray bits", withText(`${origin}\n11\n${rootLine.slice(0, -2)}F=\n`), "refused");
checkpointCase("without a blank line", note.replace("\n\n", "\n"), "refused");
checkpointCase("without its last line feed", note.slice(0, -1), "refused");
checkpointCase("with a letter for its last line feed", `${note.slice(0, -1)}x`, "refused");
checkpointCase("with a control character", note.replace("example", "exa\u0001mple"), "refused");
checkpointCase("with carriage returns", note.replaceAll("\n", "\r\n"), "refused");
checkpointCase("with a replacement character", note.replace("example", "exa\ufffdmple"), "refused");
checkpointCase("without text", `\n\n${signature}\n`, "refused");
checkpointCase("signed twice by one key", `${note}${signature}\n`, "refused");
checkpointCase("with a signature of four bytes", note.replace(signature, `\u2014 ${origin} AAAAAA==`), "refused");
checkpointCase("whose signer has a plus sign", note.replace(`\u2014 ${origin}`, "\u2014 a+b"), "refused");
checkpointCase("with a hyphen for the dash", note.replace("\u2014", "-"), "refused");
const moreSignatures = (count: number): string =>
  Array.from({ length: count }, (_, i) => `${signature.replace("example", `e${i}`)}\n`).join("");
checkpointCase("with 32 signatures", note + moreSignatures(31), "accepted");
checkpointCase("with 33 signatures", note + moreSignatures(32), "refused");
checkpointCase("of more than 64 KiB", withText(`${origin}\n11\n${rootLine}\n`), "refused", {
  at: origin.length + rootLine.length + 5,
  times: 5_000,
  of: "a further line\n",
});

// The optional members of a vector for a log proof.
type ProofMore = Partial<Pick<LogVector, "entry" | "environment" | "logs" | "again" | "claims" | "hex">>;
const both = { log_inclusion: "holds", log_checkpoint_signed: "holds" } as const;
const unreadable = { log_inclusion: "fails" } as const;
const proofCase = (name: string, text: string, claims: NonNullable<LogVector["claims"]>, more: ProofMore = {}) => {
  const given = { entry, environment: "live", logs: trusted, ...more } as const;
  const bytes = more.hex === undefined ? { text } : {};
  const holds = Object.values(claims).every((state) => state === "holds");
  signedVectors.push({
    name: `proof: ${name}`,
    kind: "proof",
    ...bytes,
    ...given,
    claims,
    expect: holds ? "accepted" : "refused",
  });
};
proofCase("as it was made", proof, both);
proofCase("with extra bytes", proof.replace("\nindex", "\nextra QUJD\nindex"), both);
proofCase("of a log for any environment", proof, both, { logs: [{ environment: null, key }] });
proofCase("of a seal that names no environment", proof, both, { environment: null });
proofCase("of a log with two keys", proof, both, {
  logs: [{ environment: "live", key: formatNoteKey(stranger.key) }, ...trusted],
});
proofCase("without trusted logs", proof, { ...both, log_checkpoint_signed: "unchecked" }, { logs: [] });
proofCase("for another line", proof, { ...both, log_inclusion: "fails" }, { entry: sealEntry("40".repeat(32)) });
const last = formatLogProof({ extra: null, index: 10, hashes: inclusionOf(leaves, 10), checkpoint: note });
proofCase("of the last line", last, both, { entry: lines[10] ?? "" });
const behind = { ...both, log_inclusion: "fails" } as const;
proofCase("of the last line, for the place behind it", last.replace("index 10", "index 11"), behind, {
  entry: lines[10] ?? "",
});
proofCase("with a hash more", proof.replace("\n\n", `\n${rootLine}\n\n`), behind);
proofCase("with a hash less", proof.replace(/\n[^\n]*\n\n/, "\n\n"), behind);
proofCase("for another place", proof.replace("index 5", "index 4"), { ...both, log_inclusion: "fails" });
const two = [{ environment: "live", key: formatNoteKey(stranger.key) }, ...trusted] as const;
const badLine = stranger.signed(12, root).split("\n").at(-2) ?? "";
const unsigned = { ...both, log_checkpoint_signed: "fails" } as const;
proofCase("with a wrong signature of a second trusted key", `${proof}${badLine}\n`, unsigned, { logs: two });
proofCase("signed by a stranger", proof.replace(note, stranger.signed(11, root)), unsigned);
// The inclusion path is the same in trees of 11 and of 12 entries. So only the checkpoint's signature can reveal the
// changed size.
proofCase("of a checkpoint that nobody signed", proof.replace("\n11\n", "\n12\n"), unsigned);
proofCase("whose signature is one byte short", proof.replace(signature, shortened(signature)), unsigned);
proofCase("of a log of the other environment", proof, unsigned, { environment: "test" });
proofCase("of a log that is trusted for tests", proof, unsigned, { logs: [{ environment: "test", key }] });
proofCase("of a log that is not trusted", proof, unsigned, {
  logs: [{ environment: "live", key: formatNoteKey(elsewhere.key) }],
});
proofCase("of a log whose trusted key cannot be read", proof, unsigned, {
  logs: [{ environment: "live", key: `${key.slice(0, -4)}AAAA` }],
});
proofCase("signed in another name", proof.replace(`\u2014 ${origin}`, "\u2014 example.net/log/live"), unsigned);
proofCase("of another version", proof.replace("@v1", "@v2"), unreadable);
proofCase("without an index", proof.replace("index 5\n", ""), unreadable);
proofCase("whose index has another name", proof.replace("index 5", "place 5"), unreadable);
for (const other of ["05", "-5", "+5", "5.0", "9007199254740992"])
  proofCase(`with the index ${other}`, proof.replace("index 5", `index ${other}`), unreadable);
proofCase("without a blank line", proof.replace("\n\n", "\n"), unreadable);
proofCase("with a hash of 31 bytes", proof.replace(/\n(.*)\n\n/, `\n${toBase64(root.subarray(1))}\n\n`), unreadable);
proofCase("with stray bits in a hash", proof.replace(/(.)=\n\n/, "*=\n\n"), unreadable);
proofCase("with 64 hashes", proof, unreadable, {
  again: { at: proof.indexOf("index 5\n") + 8, times: 60, of: `${rootLine}\n` },
});
const withExtra = proof.replace("\nindex", "\nextra QUJD\nindex");
proofCase("of more than 64 KiB", withExtra, unreadable, {
  again: { at: withExtra.indexOf("QUJD"), times: 20_000, of: "QUJD" },
});
proofCase("that is not UTF-8", "", unreadable, { hex: hex(Buffer.concat([Buffer.from(proof), Buffer.of(0xff)])) });
const inner = formatLogProof({ extra: null, index: 0, hashes: [], checkpoint: live.signed(1, root) });
proofCase("of an inner node as a leaf", inner, { ...both, log_inclusion: "fails" });

// Adds a vector for the proof of a log that has ended.
const endCase = (name: string, end: Partial<LogEnd>, state: string) => {
  const whole = { size: leaves.length, root: hex(root), reason: "rotation", ...end } as const;
  const logs = [{ environment: "live", key, end: whole }] as const;
  proofCase(`of a log that ended, ${name}`, proof, { ...both, log_checkpoint_signed: state }, { logs });
};
const otherRoot = "00".repeat(32);
endCase("with its last state", {}, "holds");
endCase("with its last state, after a theft of its key", { reason: "key-compromise" }, "holds");
endCase("with an earlier state", { size: 12, root: otherRoot }, "holds");
endCase("with an earlier state, after a theft of its key", { reason: "key-compromise", size: 12, root: otherRoot }, "unchecked");
for (const reason of ["rotation", "key-compromise"] as const) {
  endCase(`with another state of its last size (${reason})`, { reason, root: otherRoot }, "fails");
  endCase(`with more entries than it ended with (${reason})`, { reason, size: 10, root: otherRoot }, "fails");
}
endCase("with entries that its operator has lost", { reason: "lost", size: 10, root: otherRoot }, "holds");
proofCase("of a log that ended under another trusted key", proof, both, {
  logs: [{ environment: "live", key: formatNoteKey(stranger.key), end: { size: 1, root: otherRoot, reason: "rotation" } }, ...trusted],
});
proofCase("of a log that is listed twice, once as ended", proof, unsigned, {
  logs: [...trusted, { environment: "live", key, end: { size: 10, root: otherRoot, reason: "rotation" } }],
});
// The inclusion path is the same in trees of 11 and of 12 entries. So only the log's stated end reveals the extra
// entry.
proofCase("of a log that ended, with its last root for one entry more", proof.replace(note, live.signed(12, root)), unsigned, {
  logs: [{ environment: "live", key, end: { size: 11, root: hex(root), reason: "rotation" } }],
});

function shortened(line: string): string {
  const [dash = "", name = "", bytes = ""] = line.split(" ");
  return `${dash} ${name} ${toBase64(Buffer.from(bytes, "base64").subarray(0, -1))}`;
}
