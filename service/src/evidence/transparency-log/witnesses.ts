import { hash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { EvidenceError } from "@signsealship/evidence/errors";
import {
  consistencyRanges,
  formatSignature,
  hasQuorum,
  keyName,
  parseNote,
  parseWitnessPolicy,
  tilesOf,
  verifyCosignature,
  type Witness,
  type WitnessPolicy,
} from "@signsealship/evidence/log";
import { type Fetch, requestBounded } from "../../kernel/platform/bounds/bounded-request.ts";
import type { Clock } from "../../kernel/platform/clock.ts";
import type { Database } from "../../kernel/platform/database/database.ts";
import { StartupError } from "../../kernel/platform/errors.ts";
import type { Log } from "../../kernel/platform/logs.ts";
import { byPlace, hashOfRange } from "./grow.ts";
import { type StoredCheckpoint, selectCheckpoint, selectHashes, selectNewestCheckpoint } from "./store.ts";
import type { LogName } from "./trees.ts";
import {
  type Cosignature,
  claimWitnesses,
  insertCosignature,
  lockCosignatures,
  selectCosignatures,
  selectPublished,
  selectWitnessed,
  selectWitnesses,
  sizeInWait,
  updateWitness,
  type WitnessState,
} from "./witness-store.ts";

/** A witness with a URL at which the log requests cosignatures. */
type AskedWitness = Witness & { url: string };

/** The published policy of the live logs: the operator's file, with the lines of the service's own logs above it. */
export type PublishedPolicy = {
  witnesses: readonly AskedWitness[];
  policy: WitnessPolicy;
  text: string;
  sha256: string;
};

const askTimeoutMs = 5_000;
const answerBytes = 64 * 1024;

/**
 * Reads LOG_POLICY and puts the lines of our own logs above it, the newest one first.
 * @param ownLogs the keys and URLs of the logs
 * @throws StartupError for a file that can't be read or that names logs, and for a witness without a usable URL
 */
export async function readLogPolicy(
  path: string,
  ownLogs: readonly { key: string; url: string }[],
): Promise<PublishedPolicy> {
  const refusal = (why: string) => new StartupError(`LOG_POLICY: ${path}: ${why}`);
  try {
    const file = await readFile(path, "utf8");
    if ((await parseWitnessPolicy(file)).logs.length > 0)
      throw refusal("it names a log; the service adds the line of its own");
    const text = `${ownLogs.map(({ key, url }) => `log ${key} ${url}\n`).join("")}${file}`;
    const policy = await parseWitnessPolicy(text);
    const witnesses = policy.witnesses.flatMap((one) =>
      one.url === null ? [] : [{ ...one, url: addressOf(one.url) }],
    );
    const unnamed = policy.witnesses.find(({ url }) => url === null);
    if (unnamed) throw refusal(`the witness ${unnamed.name} has no address`);
    const unusable = witnesses.find(({ url }) => url === "");
    if (unusable) throw refusal(`the address of ${unusable.name} is not a URL of http or https`);
    return { witnesses, policy, text, sha256: hash("sha256", text) };
  } catch (error) {
    if (error instanceof EvidenceError) throw refusal(error.message);
    if ((error as NodeJS.ErrnoException).code !== undefined) throw refusal("it cannot be read");
    throw error;
  }
}

const addressOf = (text: string): string =>
  /^https?:$/.test(URL.parse(text)?.protocol ?? "") ? text.replace(/\/+$/, "") : "";

export type WitnessingDeps = {
  /**
   * The log of live seals whose checkpoints the witnesses are asked to cosign. It may have ended. Test logs have no
   * witnesses.
   */
  witnessed: LogName;
  db: Database;
  clock: Clock;
  log: Log;
  fetch: Fetch;
  published: PublishedPolicy;
  /**
   * The shortest time between two requests to a witness about a log, on all nodes. After a 409, the next request
   * follows at once.
   */
  intervalMs: number;
};

/**
 * Asks each due witness to cosign the checkpoint that `checkpointForWitnesses` chooses (C2SP tlog-witness). A witness
 * that fails doesn't delay the others.
 */
export async function askWitnesses(witnessing: Omit<WitnessingDeps, "witnessed">, witnessed: LogName): Promise<void> {
  const deps = { ...witnessing, witnessed };
  const { db, clock, published, intervalMs } = deps;
  const now = clock();
  const byName = new Map(published.witnesses.map((witness) => [keyName(witness.key), witness]));
  const due = await claimWitnesses(db, witnessed, [...byName.keys()], now, new Date(now.getTime() + intervalMs));
  const newest = await checkpointForWitnesses(deps, [...byName.keys()], now);
  if (!newest || newest.size === 0) return;
  const answers = await Promise.all(
    due
      .filter(({ size }) => size !== newest.size)
      .map(async ({ witness, size }) => ({ witness, ...(await ask(deps, byName.get(witness), size, newest)) })),
  );
  await keepCosignatures(
    deps,
    newest,
    answers.flatMap(({ cosignature }) => cosignature ?? []),
  );
  for (const { cosignature: _, why, ...state } of answers) {
    if (state.alarm !== null)
      deps.log.error({ witness: state.witness }, `a witness contradicts the log: ${state.alarm}`);
    else if (why !== null) deps.log.warn({ witness: state.witness, why }, "a witness did not cosign");
    await updateWitness(db, witnessed, state, clock());
  }
}

/**
 * The checkpoint that all witnesses are asked to cosign. A witness never cosigns a smaller checkpoint than it has
 * cosigned before. So once a witness has cosigned a larger checkpoint than readers get, all witnesses are asked about
 * the newest one.
 */
async function checkpointForWitnesses({ db, witnessed }: WitnessingDeps, names: readonly string[], now: Date) {
  const seen = await selectPublished(db, witnessed);
  const size = seen ? sizeInWait(seen, await selectWitnessed(db, witnessed), now) : null;
  const newest = await selectNewestCheckpoint(db, witnessed);
  if (size === null || !newest) return newest;
  const states = await selectWitnesses(db, witnessed);
  // True if a witness has cosigned more than readers have seen. Ignores a witness that states more entries than the log
  // has: it contradicts the log, and can't cosign the newest checkpoint either.
  const isAhead = states.some((one) => names.includes(one.witness) && one.size > size && one.size <= newest.size);
  return isAhead ? newest : ((await selectCheckpoint(db, witnessed, size)) ?? newest);
}

/** The outcome of a request. `why` is a sentence about a failure; null when the witness cosigned. */
type Answer = Omit<WitnessState, "witness"> & { cosignature?: Cosignature; why: string | null };

async function ask(
  deps: WitnessingDeps,
  witness: AskedWitness | undefined,
  recordedSize: number,
  newest: StoredCheckpoint,
  isAgain = false,
): Promise<Answer> {
  if (!witness) return { size: recordedSize, isFailing: true, alarm: null, why: "the policy has no such witness" };
  // The size at which the request's consistency proof begins. If the recorded size is larger than the log, the request
  // states 0. The witness then refuses the request, and states the size that it has really cosigned.
  const old = recordedSize > newest.size ? 0 : recordedSize;
  const fails = (why: string): Answer => ({ size: recordedSize, isFailing: true, alarm: null, why });
  const contradicts = (why: string): Answer => ({ size: recordedSize, isFailing: true, alarm: why, why });
  const body = `old ${old}\n${await consistencyLines(deps, old, newest.size)}\n${newest.note}`;
  const init = { method: "POST", headers: { "content-type": "text/plain" }, body };
  const bounds = { timeoutMs: askTimeoutMs, maxBytes: answerBytes };
  const answer = await requestBounded(deps.fetch, `${witness.url}/add-checkpoint`, init, bounds);
  if (!answer.ok) return fails(answer.why);
  const text = Buffer.from(answer.body).toString("utf8");
  if (answer.status === 422)
    return contradicts(`${witness.name} says that the log does not begin with the ${old} entries that it has seen`);
  if (answer.status === 409) {
    const size = /^(0|[1-9]\d{0,15})\n$/.test(text) ? Number(text) : null;
    if (size === null) return fails("its 409 does not say how many entries it has seen");
    if (size === old)
      return contradicts(`${witness.name} has seen another state of the log with the same ${old} entries`);
    if (size <= newest.size)
      return isAgain ? fails("it moves on at each question") : ask(deps, witness, size, newest, true);
    const published = (await selectNewestCheckpoint(deps.db, deps.witnessed))?.size ?? 0;
    return published >= size
      ? { ...fails("it has seen a newer state already"), size }
      : contradicts(`${witness.name} has seen ${size} entries of the log, and the database has published ${published}`);
  }
  if (answer.status !== 200) return fails(`the answer has the HTTP status ${answer.status}`);
  const line = await cosignatureIn(newest.note, text, witness);
  if (line === null) return fails("the answer has no valid cosignature of its key");
  const cosignature = { witness: keyName(witness.key), line, cosignedAt: deps.clock() };
  return { size: newest.size, isFailing: false, alarm: null, cosignature, why: null };
}

async function consistencyLines({ db, witnessed }: WitnessingDeps, old: number, size: number): Promise<string> {
  const ranges = old === 0 ? [] : consistencyRanges(old, size);
  const tiles = byPlace(await selectHashes(db, witnessed, tilesOf(ranges)));
  return ranges.map((range) => `${Buffer.from(hashOfRange(tiles, range)).toString("base64")}\n`).join("");
}

/** The cosignature line of the witness in its answer; null when there is none, or when it is not valid. */
async function cosignatureIn(note: string, answer: string, { key }: Witness): Promise<string | null> {
  try {
    const cosigned = parseNote(`${note}${answer}`);
    // Rejects an answer with a blank line. A blank line would move the log's own signature into the text that the
    // witness signs.
    if (cosigned.text !== parseNote(note).text) return null;
    if ((await verifyCosignature(cosigned, key)).verdict !== "signed") return null;
    const own = cosigned.signatures.filter(({ name, id }) => keyName({ name, id }) === keyName(key));
    return own.map(formatSignature).join("");
  } catch (error) {
    if (error instanceof EvidenceError) return null;
    throw error;
  }
}

/**
 * Stores cosignatures under a lock. So a node that completes the quorum sees the cosignatures that other nodes have
 * stored.
 */
async function keepCosignatures(
  { db, published, witnessed }: WitnessingDeps,
  { size }: StoredCheckpoint,
  cosignatures: readonly Cosignature[],
): Promise<void> {
  if (cosignatures.length === 0) return;
  const names = new Map(published.witnesses.map(({ key, name }) => [keyName(key), name]));
  const isEnough = (lines: readonly Cosignature[]) =>
    hasQuorum(published.policy, new Set(lines.flatMap(({ witness }) => names.get(witness) ?? [])));
  await db.transaction(async (tx) => {
    await lockCosignatures(tx, witnessed);
    const before = await selectCosignatures(tx, witnessed, size);
    const isQuorum = isEnough([...before, ...cosignatures]) && (before.length === 0 || !isEnough(before));
    for (const cosignature of cosignatures) await insertCosignature(tx, witnessed, size, cosignature, isQuorum);
  });
}
