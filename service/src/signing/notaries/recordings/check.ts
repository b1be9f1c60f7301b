/** Checks that a stored recording is unchanged. */
import { isDamaged } from "../../../kernel/platform/database/sql-errors.ts";
import { MissingKeyError } from "../../../kernel/platform/secrets.ts";
import { emptyChain, followChain, headAfter, readLine, sha256Hex } from "../../../providers/providers.ts";
import { messageFaults } from "./messages.ts";
import { chunkReader, isAway, locateChunks, MissingPartError, type ReadDeps } from "./read.ts";
import { markedPartsOf, type Part, type Recording } from "./store.ts";

const partName = (index: number, { firstSeq, lastSeq }: Part): string =>
  `Part ${index + 1} (lines ${firstSeq} to ${lastSeq})`;

/**
 * The faults of a recording's manifest, and of the hash chain of its lines. The chain must lead from the first line to
 * the head that the recording's row states. A MAC protects that row.
 */
export function chainFaults(recording: Recording, parts: readonly (Part & { isAuthentic?: boolean })[]): string[] {
  const faults: string[] = [];
  if (recording.manifest !== null && sha256Hex(recording.manifest) !== recording.manifestSha256)
    faults.push("The manifest is not the one that was written.");
  let head = emptyChain;
  for (const [index, part] of parts.entries()) {
    if (part.isAuthentic === false) faults.push(`${partName(index, part)} is not what the service wrote.`);
    if (part.firstSeq > head.seq + 1) faults.push(`Lines ${head.seq + 1} to ${part.firstSeq - 1} are missing.`);
    for (const [offset, text] of part.lines.trimEnd().split("\n").entries()) {
      const line = lineIn(text);
      const next = line && followChain(head, [line]);
      if (!line || !next || "brokenAt" in next)
        faults.push(`Line ${part.firstSeq + offset} does not follow the one before.`);
      if (line) head = headAfter(line);
    }
  }
  if (head.seq !== recording.headSeq || head.sha256 !== recording.headSha256)
    faults.push(`The chain ends at line ${head.seq}, and not with the head of line ${recording.headSeq}.`);
  return faults;
}

function lineIn(text: string) {
  try {
    return readLine(text);
  } catch {
    return null;
  }
}

/** The result of the check of a recording, in sentences. */
export type Checked = {
  /** Sentences that name changed data. */
  faults: string[];
  /** The parts that were not checked, because the store does not have them or this process does not have their key. */
  unread: string[];
};

/**
 * Checks the manifest and the chain. If they have no fault, also checks each chunk and the messages; a deleted
 * recording has neither.
 * @throws ServiceError `unavailable` while the store or the database does not answer
 */
export async function checkRecording(deps: ReadDeps, recording: Recording): Promise<Checked> {
  const parts = await markedPartsOf(deps.db, recording.id);
  const faults = chainFaults(recording, parts);
  // The lines state where the chunks are, so altered lines can't be used to find the chunks. A deleted recording has no
  // chunks.
  if (faults.length > 0 || recording.deletedAt) return { faults, unread: [] };
  const read = await chunkReader(deps, recording);
  const unread = new Set<Part>();
  for (const chunk of locateChunks(parts)) {
    const { seq, take, n } = chunk.line;
    try {
      await read(chunk);
    } catch (error) {
      if (error instanceof MissingPartError || error instanceof MissingKeyError) unread.add(chunk.part);
      else if (isAway(error)) throw error;
      else if (isDamaged(error)) faults.push(`Line ${seq}: the database can’t read chunk ${n} of take ${take}.`);
      else faults.push(`Line ${seq}: the bytes of chunk ${n} of take ${take} were changed.`);
    }
  }
  if (recording.manifest !== null) faults.push(...(await messageFaults(deps.db, deps.secrets, recording)));
  const named = [...unread].map(
    (part) =>
      `${partName(
        parts.findIndex(({ id }) => id === part.id),
        part,
      )} can’t be read now.`,
  );
  return { faults, unread: named };
}
