import { EvidenceError } from "@signsealship/evidence/errors";
import {
  parseCheckpoint,
  parseNoteKey,
  type SignedCheckpoint,
  verifyConsistency,
  verifyNote,
} from "@signsealship/evidence/log";

/**
 * Two contradicting checkpoints that one key signed. `rootInNewer` is the root that the newer tree has when cut to the
 * older tree's size. It differs from the older tree's root. If both trees have the same size, `rootInNewer` is the
 * newer tree's root and `proof` is empty.
 */
export type Fork = {
  /** The signed checkpoints, as they were published. */
  readonly older: string;
  readonly newer: string;
  readonly rootInNewer: Uint8Array;
  readonly proof: readonly Uint8Array[];
};

const title = "A fork of a transparency log";
const explanation = `
One key signed both checkpoints below. The proof shows that the newer tree begins with other entries than the older one
had, so the log gave out two histories. Anybody can check it: bin/signsealship monitor FILE --key KEY, or by hand as
RFC 9162, section 2.1.4.2, says: the proof leads from ROOT to the newer root, and ROOT is not the older root.
`;

/** True if a text begins like the file of a fork proof. */
export const isForkFile = (text: string): boolean => text.startsWith(`${title}\n`);

const section = (name: string, text: string): string => `-----BEGIN ${name}-----\n${text}-----END ${name}-----\n`;

/** The fork as a text with which a third party can verify it, using the log's key. */
export const formatFork = ({ older, newer, rootInNewer, proof }: Fork): string =>
  `${title}\n${explanation}\n${[
    section("OLDER CHECKPOINT", older),
    section("NEWER CHECKPOINT", newer),
    section("PROOF", [rootInNewer, ...proof].map((hash) => `${base64(hash)}\n`).join("")),
  ].join("\n")}`;

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");

/**
 * Parses the text of a fork proof.
 * @throws EvidenceError `log` for a text that lacks the older checkpoint, the newer checkpoint or the proof
 */
export function parseFork(text: string): Fork {
  const part = (name: string): string => {
    const [, body] = text.split(`-----BEGIN ${name}-----\n`);
    const end = body?.indexOf(`-----END ${name}-----`) ?? -1;
    if (body === undefined || end < 0) throw new EvidenceError("log", `the file has no ${name.toLowerCase()}`);
    return body.slice(0, end);
  };
  const [rootInNewer, ...proof] = part("PROOF")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => new Uint8Array(Buffer.from(line, "base64")));
  if (!rootInNewer) throw new EvidenceError("log", "the proof has no root");
  return { older: part("OLDER CHECKPOINT"), newer: part("NEWER CHECKPOINT"), rootInNewer, proof };
}

/** Verifies a fork proof. Null when the fork is proven; otherwise a sentence about the missing evidence. */
export async function whyNoFork({ older, newer, rootInNewer, proof }: Fork, key: string): Promise<string | null> {
  const [old, young] = [parseCheckpoint(older), parseCheckpoint(newer)];
  for (const checkpoint of [old, young])
    if (!(await isSignedBy(checkpoint, key)))
      return `The key did not sign the checkpoint of ${checkpoint.size} entries.`;
  if (sameBytes(old.root, rootInNewer)) return "Both trees begin with the same entries.";
  const states = { oldSize: old.size, oldRoot: rootInNewer, size: young.size, root: young.root };
  if (!(await verifyConsistency({ ...states, proof }))) return "The proof does not lead to the newer checkpoint.";
  return null;
}

/**
 * True if the given key signed the checkpoint. The name in the key must be the checkpoint's origin.
 * @throws EvidenceError `log` for a text that is not a key
 */
export async function isSignedBy({ origin, note }: SignedCheckpoint, key: string): Promise<boolean> {
  const parsed = await parseNoteKey(key);
  return parsed.name === origin && (await verifyNote(note, parsed)) === "signed";
}

export const sameBytes = (one: Uint8Array, other: Uint8Array): boolean => Buffer.compare(one, other) === 0;
