import {
  closingLinkText,
  formatEntry,
  formatLogProof,
  formatNoteKey,
  type RetractionReason,
  retractionReasons,
} from "../../../src/log/log.ts";
import { toBase64 } from "../../../src/log/note.ts";
import type { LogVector } from "../log-vectors.ts";
import { hashOfLeaf, inclusionOf, rootOf, sampleLog } from "../sample-tree.ts";
import { entry, key, leaves, live, origin, proof, stranger } from "./sample.ts";

/** Test vectors: proofs of a seal that also contain the proof of a retraction. */
export const retractionVectors: LogVector[] = [];

const sealedSha256 = "3f".repeat(32);
const trusted = [{ environment: "live", key }] as const;
const both = { log_inclusion: "holds", log_checkpoint_signed: "holds" } as const;
const retracted = { ...both, log_not_retracted: "fails" } as const;
const counts = { ...both, log_not_retracted: "unchecked" } as const;

/** Builds the log proof of a retraction. The retraction's line is the last one of its log. */
function retraction(reason: RetractionReason, { of = sealedSha256, by = live, place = leaves.length } = {}): string {
  const line = formatEntry({ kind: "retract/v1", sealedSha256: of, reason });
  const all = [...leaves, hashOfLeaf(Buffer.from(line))];
  const hashes = inclusionOf(all, leaves.length);
  return formatLogProof({ extra: null, index: place, hashes, checkpoint: by.signed(all.length, rootOf(all)) });
}

const withExtra = (extra: string, whole = proof): string =>
  whole.replace("\nindex", `\nextra ${toBase64(Buffer.from(extra))}\nindex`);

const add = (
  name: string,
  text: string,
  claims: NonNullable<LogVector["claims"]>,
  more: Partial<Pick<LogVector, "entry" | "logs">> = {},
) => {
  const holds = Object.values(claims).every((state) => state === "holds");
  const given = { entry, environment: "live", logs: trusted, ...more } as const;
  const expect = holds ? "accepted" : "refused";
  retractionVectors.push({ name: `retraction: ${name}`, kind: "proof", text, ...given, claims, expect });
};

for (const reason of retractionReasons) add(`as ${reason}`, withExtra(retraction(reason)), retracted);
add("of another seal", withExtra(retraction("withdrawn", { of: "40".repeat(32) })), counts);
add("by another key", withExtra(retraction("withdrawn", { by: stranger })), counts);
add("without trusted logs", withExtra(retraction("withdrawn")), { ...counts, log_checkpoint_signed: "unchecked" }, { logs: [] });
add("at another place", withExtra(retraction("withdrawn", { place: 4 })), counts);
const elsewhere = await sampleLog("example.org/log/live", 7);
const bothLogs = [...trusted, { environment: "live", key: formatNoteKey(elsewhere.key) }] as const;
add("of another trusted log", withExtra(retraction("withdrawn", { by: elsewhere })), counts, { logs: bothLogs });
for (const name of ["live-2", "live-13"]) {
  const next = await sampleLog(`example.com/log/${name}`, 9);
  const logs = [...trusted, { environment: "live", key: formatNoteKey(next.key) }] as const;
  add(`of the log ${name}, which follows`, withExtra(retraction("withdrawn", { by: next })), retracted, { logs });
  add(`of the log ${name}, which is not trusted`, withExtra(retraction("withdrawn", { by: next })), counts);
  const ofTests = [...trusted, { environment: "test", key: formatNoteKey(next.key) }] as const;
  add(`of the log ${name}, which is trusted for tests`, withExtra(retraction("withdrawn", { by: next })), counts, { logs: ofTests });
}
add("whose checkpoint cannot be read", withExtra(retraction("withdrawn").replace(`${origin}\n`, `${origin}\n0`)), counts);
add("that cannot be read", withExtra(retraction("withdrawn").replace("index ", "index 0")), counts);
add("of another version, which is only extra bytes", withExtra(retraction("withdrawn").replace("@v1", "@v2")), both);

// A closing version is retracted by the hash of its certificate. A line of another kind can't be retracted, because it
// is not about a sealed file.
const link = Buffer.from(await crypto.subtle.digest("SHA-256", Buffer.from(closingLinkText("a".repeat(64))))).toString("hex");
const closing = formatEntry({ kind: "closing/v1", sealedSha256, link });
const alone = (line: string): string => {
  const leaf = hashOfLeaf(Buffer.from(line));
  return formatLogProof({ extra: null, index: 0, hashes: [], checkpoint: live.signed(1, leaf) });
};
add("of a closing version", withExtra(retraction("court-order"), alone(closing)), retracted, { entry: closing });
const policy = formatEntry({ kind: "policy/v1", sha256: sealedSha256 });
add("of a line that is not a sealed file's", withExtra(retraction("court-order"), alone(policy)), counts, { entry: policy });
const retract = formatEntry({ kind: "retract/v1", sealedSha256, reason: "withdrawn" });
add("of a line that is a retraction itself", withExtra(retraction("court-order"), alone(retract)), counts, { entry: retract });
