import { crc32, deflateRawSync } from "node:zlib";

type Header = {
  readonly name: string;
  readonly version: number;
  readonly flags: number;
  readonly method: number;
  readonly crc: number;
  readonly compressed: number;
  readonly size: number;
  readonly extra: Uint8Array;
};

/** An entry of a zip, and its deviations: in the directory, in its local header, or after its data. */
export type OddEntry = {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly deflated?: boolean;
  /** Members that replace the true ones in both headers, the directory's and the local one. */
  readonly both?: Partial<Header>;
  readonly directory?: Partial<Header> & {
    readonly comment?: string;
    readonly attributes?: number;
    readonly offset?: number;
  };
  readonly local?: Partial<Header>;
  /** Writes sizes and checksum after the data (bit 3) instead of before it. */
  readonly descriptor?: boolean;
  readonly behind?: Uint8Array;
};

/** Faulty fields of the end record of a zip. `behind` is written after the record. */
export type OddEnd = {
  readonly comment?: string;
  readonly disk?: number;
  readonly countHere?: number;
  readonly count?: number;
  readonly offset?: number;
  readonly behind?: Uint8Array;
};

const u16 = (...values: readonly number[]) => values.flatMap((value) => [value & 0xff, (value >>> 8) & 0xff]);
const u32 = (...values: readonly number[]) => values.flatMap((value) => u16(value & 0xffff, value >>> 16));
const ascii = (text: string) => [...Buffer.from(text, "utf8")];
/** 1980-01-01 00:00 in the format of DOS, which zips use. */
const DATED = u16(0, 0x21);

const common = ({ name, version, flags, method, crc, compressed, size, extra }: Header) => [
  ...u16(version, flags, method),
  ...DATED,
  ...u32(crc, compressed, size),
  ...u16(Buffer.byteLength(name), extra.length),
];

/**
 * A zip in which every field can deviate. Without deviations, it is like an evidence zip of the service, except that
 * bit 3 is not set.
 */
export function oddZip(entries: readonly OddEntry[], end: OddEnd = {}): Uint8Array {
  const file: number[] = [];
  const directory: number[] = [];
  for (const { name, bytes, deflated, both, local, descriptor, behind, directory: listed = {} } of entries) {
    const data = deflated ? deflateRawSync(bytes) : bytes;
    const plain = { version: 20, flags: descriptor ? 8 : 0, method: deflated ? 8 : 0, extra: new Uint8Array(0) };
    const sizes = { crc: crc32(bytes), compressed: data.length, size: bytes.length };
    const header = { name, ...plain, ...sizes, ...both, ...listed };
    const own = { ...header, ...(descriptor && { crc: 0, compressed: 0, size: 0 }), ...both, ...local };
    const offset = listed.offset ?? file.length;
    file.push(...ascii("PK\x03\x04"), ...common(own), ...ascii(own.name), ...own.extra, ...data);
    if (descriptor) file.push(...ascii("PK\x07\x08"), ...u32(sizes.crc, sizes.compressed, sizes.size));
    file.push(...(behind ?? []));
    const comment = ascii(listed.comment ?? "");
    directory.push(...ascii("PK\x01\x02"), ...u16(20), ...common(header), ...u16(comment.length, 0, 0));
    directory.push(...u32(listed.attributes ?? 0, offset), ...ascii(header.name), ...header.extra, ...comment);
  }
  const comment = ascii(end.comment ?? "");
  const here = end.countHere ?? entries.length;
  const last = [
    ...u16(end.disk ?? 0, 0, here, end.count ?? here),
    ...u32(directory.length, end.offset ?? file.length),
    ...u16(comment.length),
  ];
  return Uint8Array.from([...file, ...directory, ...ascii("PK\x05\x06"), ...last, ...comment, ...(end.behind ?? [])]);
}
