/**
 * A recording as a zip: its manifest with the transparency log's proof, its chain, its messages, and each take as
 * recorded. The zip is created while it is sent.
 */
import { crc32 } from "node:zlib";
import { logProof } from "../../../evidence/transparency-log/transparency-log.ts";
import type { StoredFile } from "../../../kernel/platform/blobs/stored-file.ts";
import { storedFile } from "../../../kernel/platform/blobs/stored-file.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { chainFaults } from "./check.ts";
import { chainText } from "./manifest.ts";
import { messagesOf, messagesText } from "./messages.ts";
import { recordedTake } from "./playback.ts";
import { placedChunks, type ReadDeps } from "./read.ts";
import { manifestEntry, partsOf, type Recording } from "./store.ts";

type Entry = { name: string; length: number; bytes: () => AsyncIterable<Buffer> | Iterable<Buffer> };

/** The most bytes of a zip without the 64-bit extension. A session of three people has about 3 GB after four hours. */
const mostBytes = 2 ** 32 - 1;

/**
 * @throws ServiceError `conflict` for a recording that has no manifest, or is too long for a zip; `unavailable`, naming
 * the part that was altered
 */
export async function exportedRecording(deps: ReadDeps, recording: Recording): Promise<StoredFile> {
  const { manifest } = recording;
  if (manifest === null) throw new ServiceError("conflict", "The recording has not ended.");
  const parts = await partsOf(deps.db, recording.id);
  const [fault] = chainFaults(recording, parts);
  if (fault !== undefined) throw new ServiceError("unavailable", `The recording is not what was written. ${fault}`);
  const takes = [...new Set(placedChunks(parts).map(({ line }) => line.take))];
  const entries: Entry[] = [held("recording.json", manifest), held("chain.jsonl", chainText(parts))];
  // The transparency log includes the manifest's line within seconds. A zip that was exported earlier contains no proof
  // of the line.
  const logged = await logProof(deps.db, recording.environment, manifestEntry(recording.manifestSha256 ?? ""));
  if (logged.state === "logged") entries.push(held("recording.json.tlog-proof", logged.proof));
  const messages = await messagesOf(deps.db, deps.secrets, recording);
  if (messages.length > 0) entries.push(held("messages.jsonl", messagesText(messages)));
  for (const take of takes) {
    const file = await recordedTake(deps, recording, take);
    entries.push({ name: `takes/${take}.webm`, length: file.length, bytes: () => file.pieces() });
  }
  const length = entries.reduce((sum, entry) => sum + entry.length + 2 * nameBytes(entry) + fixedBytes, endBytes);
  if (length > mostBytes) throw new ServiceError("conflict", "The recording is too long for one zip: play its takes.");
  const { memory } = deps.blobs;
  return storedFile({ memory, holder: `notary ${recording.notaryId}` }, length, {
    async *pieces({ first, last }) {
      let at = 0;
      for await (const piece of zipped(entries)) {
        if (at + piece.length > first && at <= last)
          yield piece.subarray(Math.max(0, first - at), Math.min(piece.length, last - at + 1));
        at += piece.length;
      }
    },
  });
}

function held(name: string, text: string): Entry {
  const bytes = Buffer.from(text);
  return { name, length: bytes.length, bytes: () => [bytes] };
}

const nameBytes = ({ name }: Entry): number => Buffer.byteLength(name);
/**
 * Lengths in bytes, not counting file names: the local header, the data descriptor, the directory entry, and the end of
 * the directory (APPNOTE 4.3).
 */
const [localBytes, descriptorBytes, directoryBytes, endBytes] = [30, 16, 46, 22];
const fixedBytes = localBytes + descriptorBytes + directoryBytes;
/** The date of every entry: January 1, 1980. The real times are in the manifest. */
const dosDate = 0x21;
/** The flag that says that an entry's checksum follows its data. */
const flags = 0x08;

async function* zipped(entries: readonly Entry[]): AsyncGenerator<Buffer> {
  const directory: Buffer[] = [];
  let at = 0;
  for (const entry of entries) {
    const name = Buffer.from(entry.name);
    const start = at;
    const local = Buffer.alloc(localBytes);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(20, 4);
    local.writeUInt16LE(flags, 6);
    local.writeUInt16LE(dosDate, 12);
    local.writeUInt16LE(name.length, 26);
    yield Buffer.concat([local, name]);
    let sum = 0;
    for await (const piece of entry.bytes()) {
      sum = crc32(piece, sum);
      yield piece;
    }
    const descriptor = Buffer.alloc(descriptorBytes);
    descriptor.writeUInt32LE(0x08074b50, 0);
    descriptor.writeUInt32LE(sum, 4);
    descriptor.writeUInt32LE(entry.length, 8);
    descriptor.writeUInt32LE(entry.length, 12);
    yield descriptor;
    at += localBytes + name.length + entry.length + descriptorBytes;
    const central = Buffer.alloc(directoryBytes);
    central.writeUInt32LE(0x02014b50, 0);
    central.writeUInt16LE(20, 4);
    central.writeUInt16LE(20, 6);
    central.writeUInt16LE(flags, 8);
    central.writeUInt16LE(dosDate, 14);
    central.writeUInt32LE(sum, 16);
    central.writeUInt32LE(entry.length, 20);
    central.writeUInt32LE(entry.length, 24);
    central.writeUInt16LE(name.length, 28);
    central.writeUInt32LE(start, 42);
    directory.push(Buffer.concat([central, name]));
  }
  const end = Buffer.alloc(endBytes);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(Buffer.concat(directory).length, 12);
  end.writeUInt32LE(at, 16);
  yield Buffer.concat([...directory, end]);
}
