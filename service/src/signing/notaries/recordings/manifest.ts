/** `recording.json`: the description of a whole recording, in canonical JSON. */
import { canonicalJson } from "@signsealship/evidence/manifest";
import { auditLine } from "../../../kernel/audit/audit.ts";
import type { Clock } from "../../../kernel/platform/clock.ts";
import type { Database } from "../../../kernel/platform/database/database.ts";
import type { Random } from "../../../kernel/platform/random.ts";
import { sha256Hex, tracksIn } from "../../../providers/providers.ts";
import { lineOf, tellOfRecording } from "./events.ts";
import { required } from "./parts.ts";
import { type ReadDeps, type ReadTake, readTakes } from "./read.ts";
import { changeRecording, lockRecording, type Part, partsOf, type Recording } from "./store.ts";

/** An event in the session, such as a step of its script, a consent, or a message. */
export type Mark = {
  at: string;
  kind: string;
  person: string | null;
  /**
   * For a message, the hash of its line. For an event about a document, that document's hash: a person saw the
   * document, or the notary asked to open one of its pages.
   */
  sha256?: string;
};

type Input = {
  parts: readonly Part[];
  takes: readonly ReadTake[];
  marks: readonly Mark[];
  endedAt: Date;
  /** Random bytes, so that the manifest's content can't be guessed from its hash in the transparency log. */
  salt: Buffer;
};

/**
 * The content of `chain.jsonl`: all lines of the hash chain. `chain.sha256` in the manifest is the hash of this
 * content.
 */
export const chainText = (parts: readonly Part[]): string => parts.map(({ lines }) => lines).join("");

/**
 * If the service crashed during a take, the manifest states this cause for the take's end. The real time of that end is
 * unknown.
 */
export const stopped = "stopped";

function manifestOf(recording: Recording, { parts, takes, marks, endedAt, salt }: Input): string {
  const { takeEnds } = recording;
  const shown = takes.map((take) => {
    const { audio, video } = tracksIn(take.header);
    return {
      take: take.take,
      person: take.person,
      codecs: [...(audio ? ["opus"] : []), ...(video ? ["vp8"] : [])],
      firstChunkAt: take.firstAt,
      lastChunkAt: take.lastAt,
      chunks: take.chunks,
      bytes: take.bytes,
      sha256: take.sha256,
      endedBy: takeEnds[take.take]?.endedBy ?? stopped,
    };
  });
  const text = chainText(parts);
  return canonicalJson({
    format: "signsealship recording 1",
    recording: recording.id,
    session: recording.session,
    notary: recording.notaryId,
    environment: recording.environment,
    startedAt: recording.startedAt.toISOString(),
    endedAt: endedAt.toISOString(),
    keptUntil: recording.keepUntil,
    people: recording.people.map(({ person, role, name }) => ({ person, role, name })),
    takes: shown,
    gaps: gapsOf(shown),
    marks: marks.map(({ at, kind, person, sha256 }) => ({ at, kind, person, ...(sha256 && { sha256 }) })),
    chain: { lines: recording.headSeq, headSha256: recording.headSha256, sha256: sha256Hex(text) },
    salt: salt.toString("hex"),
  });
}

type Shown = { person: string; firstChunkAt: string; lastChunkAt: string; endedBy: string };

/** The gaps between consecutive takes of the same person. */
function gapsOf(takes: readonly Shown[]) {
  return takes.flatMap((take, index) => {
    const next = takes.slice(index + 1).find(({ person }) => person === take.person);
    return next ? [{ person: take.person, from: take.lastChunkAt, to: next.firstChunkAt, cause: take.endedBy }] : [];
  });
}

type ManifestDeps = ReadDeps & { db: Database; clock: Clock; random: Random };

/** Writes the manifest of a session's recording, unless it exists. */
export async function writeManifest(
  deps: ManifestDeps,
  session: string,
  marks: readonly Mark[],
): Promise<{ recording: string; manifestSha256: string }> {
  for (;;) {
    const recording = await required(deps, session);
    const manifestSha256 = recording.manifestSha256 ?? (await describe(deps, recording, marks));
    if (manifestSha256 !== null) return { recording: recording.id, manifestSha256 };
  }
}

/**
 * Writes the manifest of a recording, unless it exists. Reads every chunk from the store again, so that the manifest
 * describes only stored bytes.
 * @returns the manifest's SHA-256 in hex. Null, and nothing is written, if another part was stored meanwhile, because
 * the manifest would lack that part
 */
async function describe(deps: ManifestDeps, recording: Recording, marks: readonly Mark[]): Promise<string | null> {
  const { db, clock, random } = deps;
  const { id, environment } = recording;
  const takes = await readTakes(deps, recording);
  const at = clock();
  const text = manifestOf(recording, {
    parts: await partsOf(db, id),
    takes,
    marks,
    endedAt: at,
    salt: random.bytes(32),
  });
  const sha256 = sha256Hex(text);
  return db.transaction(async (tx) => {
    const now = await lockRecording(tx, id);
    if (now.manifestSha256 !== null) return now.manifestSha256;
    if (now.headSeq !== recording.headSeq) return null;
    await changeRecording(tx, id, { manifest: { text, sha256, at, log: environment } });
    const detail = { recording: id, manifestSha256: sha256, lines: recording.headSeq };
    await tx.query(auditLine({ ...lineOf(recording), at, action: "recording.ended", detail }));
    await tellOfRecording(tx, "recording.completed", { ...recording, endedAt: at, manifestSha256: sha256 }, at);
    return sha256;
  });
}
