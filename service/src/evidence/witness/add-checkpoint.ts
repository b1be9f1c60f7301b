import { EvidenceError } from "@signsealship/evidence/errors";
import {
  formatSignature,
  keyName,
  parseCheckpoint,
  parseNoteKey,
  type SignedCheckpoint,
  verifyConsistency,
  verifyNote,
} from "@signsealship/evidence/log";
import type { Clock } from "../../kernel/platform/clock.ts";
import type { Database, Tx } from "../../kernel/platform/database/database.ts";
import type { Log } from "../../kernel/platform/logs.ts";
import type { RowMac } from "../../kernel/platform/row-mac.ts";
import { readCosigned, type Witness } from "./identity.ts";
import type { WitnessedLog } from "./logs-list.ts";
import { countQuestion, lockState, stateHolds, updateState } from "./store.ts";

export type WitnessDeps = { db: Database; rowMac: RowMac; clock: Clock; log: Log; witness: Witness };

/**
 * An answer of the witness by C2SP tlog-witness: an HTTP status and a text. `isSize`: true if the text of a 409 is the
 * size of the log's last checkpoint that the witness cosigned.
 */
export type WitnessAnswer = { status: 200 | 400 | 403 | 404 | 409 | 422 | 429 | 503; text: string; isSize?: true };

/** A request of C2SP tlog-witness. */
type Question = { old: number; proof: Buffer[]; note: string };

const maxHashes = 63;

/**
 * The most bytes of a checkpoint's note that are stored: its text and the log's signatures. With the cosignature added,
 * the note must fit into the database column.
 */
const maxNoteBytes = 60 * 1024;

/**
 * Answers `add-checkpoint`. Cosigns a checkpoint if it is signed by its log and extends every checkpoint of that log
 * that this witness has cosigned. A row lock makes the comparison and the storing atomic. The new state is stored in
 * the database and in this node's file before the cosignature is sent.
 */
export async function addCheckpoint(deps: WitnessDeps, body: string): Promise<WitnessAnswer> {
  try {
    const question = parseQuestion(body);
    const checkpoint = parseCheckpoint(question.note);
    const log = deps.witness.logs.get(checkpoint.origin);
    if (!log) return { status: 404, text: `This witness does not cosign ${checkpoint.origin}.\n` };
    const signatures = await signaturesOf(checkpoint, log);
    if (signatures === null) return { status: 403, text: "No key of this log signed the checkpoint.\n" };
    if (Buffer.byteLength(checkpoint.note.text + signatures) > maxNoteBytes)
      return { status: 400, text: `A checkpoint with its log's signatures has at most ${maxNoteBytes} bytes.\n` };
    if (question.old > checkpoint.size) return { status: 400, text: "The old size is larger than the checkpoint's.\n" };
    const answer = await deps.db.transaction((tx) => judge(tx, deps, { question, checkpoint, log, signatures }));
    if (answer.status === 200) await deps.witness.remember(log.origin, checkpoint);
    return answer;
  } catch (error) {
    if (error instanceof EvidenceError) return { status: 400, text: `${error.message}.\n` };
    throw error;
  }
}

/**
 * Parses the body of an `add-checkpoint` request.
 * @throws EvidenceError `log` for a malformed body
 */
function parseQuestion(body: string): Question {
  const end = body.indexOf("\n\n");
  const refuse = (why: string) => new EvidenceError("log", why);
  if (end < 0) throw refuse("the body is old SIZE, the hashes of a proof, an empty line and a checkpoint");
  const [first = "", ...hashes] = body.slice(0, end).split("\n");
  const [, old] = /^old (0|[1-9]\d{0,15})$/.exec(first) ?? [];
  if (old === undefined || !Number.isSafeInteger(Number(old))) throw refuse("the first line is old SIZE");
  if (hashes.length > maxHashes) throw refuse(`a proof has at most ${maxHashes} hashes`);
  const proof = hashes.map((line) => {
    const hash = Buffer.from(line, "base64");
    if (hash.length !== 32 || hash.toString("base64") !== line) throw refuse("a hash is 32 bytes in base64");
    return hash;
  });
  return { old: Number(old), proof, note: body.slice(end + 2) };
}

/**
 * The lines of a note with signatures by the log's own keys. Null when there is none, or when one of them is not valid.
 */
async function signaturesOf({ note }: SignedCheckpoint, { keys }: WitnessedLog): Promise<string | null> {
  const parsed = await Promise.all(keys.map(parseNoteKey));
  const verdicts = await Promise.all(parsed.map((key) => verifyNote(note, key)));
  if (verdicts.includes("wrong") || !verdicts.includes("signed")) return null;
  const signers = new Set(parsed.filter((_, i) => verdicts[i] === "signed").map(keyName));
  return note.signatures
    .filter((one) => signers.has(keyName(one)))
    .map(formatSignature)
    .join("");
}

type Asked = { question: Question; checkpoint: SignedCheckpoint; log: WitnessedLog; signatures: string };

async function judge(
  tx: Tx,
  deps: WitnessDeps,
  { question, checkpoint, log, signatures }: Asked,
): Promise<WitnessAnswer> {
  const { witness, clock } = deps;
  const { size, root, origin, note } = checkpoint;
  const state = await lockState(tx, witness.id, origin);
  const halted = await whyHalted(deps, state);
  if (halted !== null) {
    deps.log.error({ origin, halted }, "the witness does not cosign");
    return { status: 503, text: "This witness does not cosign at present.\n" };
  }
  if (question.old !== state.size) return { status: 409, text: `${state.size}\n`, isSize: true };
  if (question.old === size && !state.root.equals(root)) {
    deps.log.error({ origin, size }, "a log signed two states of one size");
    return { status: 409, text: `${state.size}\n`, isSize: true };
  }
  const states = { oldSize: state.size, oldRoot: state.root, size, root, proof: question.proof };
  if (!(await verifyConsistency(states))) {
    deps.log.warn({ origin, old: state.size, size }, "a log did not prove that it begins with what was cosigned");
    return { status: 422, text: "The proof does not lead from the old state to the checkpoint.\n" };
  }
  const now = clock();
  const day = now.toISOString().slice(0, 10);
  // Counts the request toward the log's daily quota. A request with the same checkpoint is not counted, because anybody
  // may send a public checkpoint. Only the log itself can make a larger one.
  if (size > state.size) {
    if (state.askedOn === day && state.asked >= log.maxADay)
      return { status: 429, text: `This log may ask ${log.maxADay} times a day.\n` };
    await countQuestion(tx, state, day);
  }
  const cosignature = witness.cosign(note.text, now);
  await updateState(
    tx,
    { witness: witness.id, origin, size, root: Buffer.from(root) },
    `${note.text}\n${signatures}${cosignature}`,
  );
  return { status: 200, text: cosignature };
}

/**
 * Returns why this witness must not cosign the log with its present key; null when it may. The witness refuses if its
 * stored state may be older than the last checkpoint that the key cosigned.
 */
async function whyHalted(
  { rowMac, witness }: WitnessDeps,
  state: Awaited<ReturnType<typeof lockState>>,
): Promise<string | null> {
  if (state.restoredAt !== null) return "the database was restored: give the witness a new key";
  if (!stateHolds(rowMac, state)) return "the state was changed outside the service";
  const path = witness.statePath(state.origin);
  const file = await readCosigned(path).catch(() => "unreadable" as const);
  if (file === "unreadable") return `${path} does not say what this node cosigned`;
  if (file === null || file.size < state.size) return null;
  if (file.size === state.size && file.root === state.root.toString("hex")) return null;
  return `this node cosigned ${file.size} entries, and the database has ${state.size}: it is an older one`;
}
