import { unicodePath } from "@signsealship/testing/inputs/zip-maker";
import type { OddEnd, OddEntry } from "./zip-writer.ts";

const text = (value: string) => Buffer.from(value);

/** The name of the irregularity, and the zip. */
type OddZip = readonly [name: string, entries: readonly OddEntry[], end?: OddEnd];

/**
 * Zips that programs could read differently (docs/evidence-format.md, section 9.1).
 * @param entries good entries, including README.txt
 * @param other a sealed PDF that is not of this evidence
 */
export function oddities(entries: readonly OddEntry[], other: Uint8Array): readonly OddZip[] {
  const bentLast = (changes: Partial<OddEntry>): OddEntry[] =>
    entries.map((entry) => (entry.name === "README.txt" ? { ...entry, ...changes } : entry));
  const extra = unicodePath("README.txt", "sealed.pdf");
  const [first, ...others] = entries;
  if (first === undefined) throw new Error("no entries");
  const swapped = bentLast({ bytes: other }).map((entry) =>
    entry.name === "sealed.pdf"
      ? { ...entry, both: { extra: unicodePath("sealed.pdf", "README.txt") } }
      : entry.name === "README.txt"
        ? { ...entry, both: { extra } }
        : entry,
  );
  return [
    ["no-end: bytes behind the end", entries, { behind: text("\n") }],
    ["comment: of the archive", entries, { comment: "sealed" }],
    ["comment: of an entry", bentLast({ directory: { comment: "x" } })],
    ["parts: another disk", entries, { disk: 1 }],
    ["parts: two counts", entries, { countHere: 5, count: 6 }],
    ["zip64: a count", entries, { countHere: 0xffff }],
    ["directory: an entry less", entries, { countHere: 5 }],
    ["directory: another offset", entries, { offset: 1 }],
    ["encrypted: bit 0", bentLast({ both: { flags: 1 } })],
    ["flags: bit 4", bentLast({ both: { flags: 16 } })],
    ["extra-field: two names swapped by Unicode Path", swapped],
    ["extra-field: in the directory alone", bentLast({ directory: { extra }, local: { extra: new Uint8Array(0) } })],
    ["extra-field: before the data alone", bentLast({ local: { extra } })],
    ["attributes: a link", bentLast({ directory: { attributes: 0xa1ff0000 } })],
    ["attributes: a folder", bentLast({ directory: { attributes: 0x10 } })],
    ["name: a folder's", bentLast({ name: "more/README.txt" })],
    ["name: above the folder", bentLast({ name: "../README.txt" })],
    ["name: not ASCII", bentLast({ name: "Ü.txt" })],
    ["name: empty", bentLast({ name: "" })],
    ["name: ends in a period", bentLast({ name: "README." })],
    ["same-name: the sealed PDF twice", [first, ...others, { name: "sealed.pdf", bytes: other }]],
    ["same-name: but for the case", [...entries, { name: "readme.TXT", bytes: text("x") }]],
    ["no-local-header", bentLast({ directory: { offset: 3 } })],
    ["headers-differ: the name", bentLast({ local: { name: "README.tex" } })],
    ["headers-differ: the flags", bentLast({ local: { flags: 0x800 } })],
    ["headers-differ: the method", bentLast({ local: { method: 8 } })],
    ["headers-differ: the size", bentLast({ local: { size: 1 } })],
    ["gap: bytes between two entries", [{ ...first, behind: text("%PDF-1.7") }, ...others]],
    ["gap: bytes before the directory", bentLast({ behind: text("x") })],
    ["method: bzip2", bentLast({ both: { method: 12 } })],
    ["data: another checksum", bentLast({ both: { crc: 1 } })],
    ["data: a deflated size too small", bentLast({ deflated: true, both: { size: 3 } })],
  ];
}
