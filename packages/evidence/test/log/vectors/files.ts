import { createHash } from "node:crypto";
import { closingLinkText, formatEntry, formatLogProof, sealEntry } from "../../../src/log/log.ts";
import { parseManifest } from "../../../src/manifest/validate.ts";
import { readClosingCertificate } from "../../../src/seal/closing-certificate.ts";
import { wholeCases, wholeFile } from "../../whole-cases.ts";
import type { SealPurpose } from "../../../src/seal/purpose.ts";
import type { LogVector } from "../log-vectors.ts";
import { hashOfLeaf, rootOf } from "../sample-tree.ts";
import { hex, key, leaves, live } from "./sample.ts";

/** Test vectors of trust lists, and of sealed files with their log proofs. */
export const fileVectors: LogVector[] = [];

// The text of a trust list that contains only the given logs.
const list = (logs: unknown): string => JSON.stringify({ format: 1, sealCertificates: [], logs });
const listCase = (name: string, logs: unknown, expect: LogVector["expect"]) =>
  fileVectors.push({ name: `trust list: ${name}`, kind: "trust-list", text: list(logs), expect });
listCase("with a log", [{ environment: "live", key }], "accepted");
listCase("with a log of tests", [{ environment: "test", key, more: 1 }], "accepted");
listCase("whose logs are an object", { environment: "live", key }, "refused");
listCase("whose log is null", [null], "refused");
listCase("whose log is a text", [key], "refused");
const end = { size: 11, root: "0f".repeat(32), reason: "rotation" };
for (const reason of ["rotation", "key-compromise", "lost"])
  listCase(`with a log that ended (${reason})`, [{ environment: "live", key, end: { ...end, reason, more: 1 } }], "accepted");
const badEnds: Readonly<Record<string, unknown>> = {
  null: null,
  "a text": "rotation",
  "without a size": { root: end.root, reason: end.reason },
  "of a size with a part": { ...end, size: 1.5 },
  "of a size below 0": { ...end, size: -1 },
  "of a size that is a text": { ...end, size: "11" },
  "without a root": { size: 11, reason: end.reason },
  "of a root in capitals": { ...end, root: "0F".repeat(32) },
  "of a root that is a number": { ...end, root: 7 },
  "of a root in a list": { ...end, root: [end.root] },
  "without a reason": { size: 11, root: end.root },
  "of another reason": { ...end, reason: "sold" },
};
for (const [name, bad] of Object.entries(badEnds))
  listCase(`whose log has an end ${name}`, [{ environment: "live", key, end: bad }], "refused");
listCase("whose log has no key", [{ environment: "live" }], "refused");
listCase("whose log has no environment", [{ key }], "refused");
listCase("whose log is of another environment", [{ environment: "staging", key }], "refused");
listCase("whose log has a key of another form", [{ environment: "live", key: `${key} ` }], "refused");
listCase("whose log has a number for a key", [{ environment: "live", key: 1 }], "refused");
listCase("whose log has a list for a key", [{ environment: "live", key: [key] }], "refused");

// Adds a vector for a sealed file with a log proof. The only entry of the log is the line of the file.
const besideCase = (name: string, file: string, purpose: SealPurpose | null, line: string) => {
  const leaf = hashOfLeaf(Buffer.from(line));
  const text = formatLogProof({ extra: null, index: 0, hashes: [], checkpoint: live.signed(1, rootOf([leaf])) });
  fileVectors.push({
    name: `sealed file: ${name}`,
    kind: "sealed",
    file,
    purpose,
    text,
    claims: { log_inclusion: "holds" },
    expect: "accepted",
  });
};
const closing = { kind: "closing", environment: "live" } as const;
const fileNamed = (name: string, role: string): string => {
  const one = wholeCases.find((each) => each.name === name && role in each.files);
  return [one?.files[role] ?? ""].flat()[0] ?? "";
};
const sha256Of = (file: string): string => hex(createHash("sha256").update(wholeFile(file)).digest());
const sealLine = (file: string): string => sealEntry(sha256Of(file));
const certificate = fileNamed("certificates alone", "certificates");
const { manifest } = readClosingCertificate(wholeFile(certificate));
const { roomCode, prevManifestSha256 } = parseManifest(manifest ?? new Uint8Array(0)).passport;
const link = hex(
  createHash("sha256")
    .update(closingLinkText(prevManifestSha256 ?? roomCode))
    .digest(),
);
besideCase(
  "a closing certificate",
  certificate,
  closing,
  formatEntry({ kind: "closing/v1", sealedSha256: sha256Of(certificate), link }),
);
besideCase("a closing certificate whose seal does not say so", certificate, null, sealLine(certificate));
const document = fileNamed("B-B by P-256", "sealed");
besideCase("a document", document, { kind: "proof", environment: "live" }, sealLine(document));
besideCase("a document that says to be a closing certificate", document, closing, sealLine(document));
const noPdf = "proof-records/a-list.json";
besideCase("a file that is no PDF, and says to be a closing certificate", noPdf, closing, sealLine(noPdf));

// Adds a vector for the checkpoint and the purpose that a reader finds in the seal of a file.
const statedCase = (name: string, file: string, carried: string | null, purpose: SealPurpose | null) =>
  fileVectors.push({ name: `stated: ${name}`, kind: "stated", file, carried, purpose, expect: "accepted" });
const proof = { kind: "proof", environment: "live" } as const;
const beforeLine = live.signed(5, rootOf(leaves.slice(0, 5)));
statedCase("a checkpoint", fileNamed("a checkpoint in the seal", "sealed"), beforeLine, proof);
statedCase("a checkpoint that is not UTF-8", fileNamed("a checkpoint in the seal that is not UTF-8", "sealed"), null, proof);
statedCase("a seal without a checkpoint", document, null, proof);
statedCase("a seal without a purpose", fileNamed("/Reason: another text", "sealed"), null, null);
statedCase("a document without a seal", fileNamed("the original alone", "sealed"), null, null);
