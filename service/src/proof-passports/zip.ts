import { crc32 } from "node:zlib";

export type ZipEntry = { readonly name: string; readonly bytes: Uint8Array };

// 1980-01-01, the first date that the format can say: the same entries give the same bytes.
const dosDate = 0x0021;
const utf8Names = 0x0800;

/**
 * A zip of stored entries (APPNOTE 6.3.10, sections 4.3.7, 4.3.12 and 4.3.16), as pieces in order: nothing is copied.
 * For entries of less than 4 GB in all.
 */
export function zipPieces(entries: readonly ZipEntry[]): Buffer[] {
  const pieces: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, bytes } of entries) {
    const encoded = Buffer.from(name, "utf8");
    const common = Buffer.alloc(26);
    common.writeUInt16LE(10, 0);
    common.writeUInt16LE(utf8Names, 2);
    common.writeUInt16LE(dosDate, 8);
    common.writeUInt32LE(crc32(bytes), 10);
    common.writeUInt32LE(bytes.length, 14);
    common.writeUInt32LE(bytes.length, 18);
    common.writeUInt16LE(encoded.length, 22);
    const local = Buffer.concat([Buffer.from("PK\x03\x04", "latin1"), common, encoded]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(offset, 10);
    directory.push(Buffer.concat([Buffer.from("PK\x01\x02\x0a\x00", "latin1"), common, rest, encoded]));
    pieces.push(local, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
    offset += local.length + bytes.length;
  }
  const size = directory.reduce((sum, { length }) => sum + length, 0);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", 0, "latin1");
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(size, 12);
  end.writeUInt32LE(offset, 16);
  return [...pieces, ...directory, end];
}
