/** The longest name of a file in bytes: with its folders it still fits the paths of every system. */
const mostBytes = 120;

/** Characters that a file name cannot have on some system, and those that turn the direction of what follows. */
const forbidden = /[<>:"/\\|?*\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Names of devices on Windows, with any ending. */
const device = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

/** A text as a part of a file's name: harmless on every system, and at most so long. */
export function namePart(text: string, most = mostBytes): string {
  const spaced = text.toWellFormed().normalize("NFC").replaceAll(forbidden, " ").replaceAll(/\s+/g, " ");
  let name = spaced.replaceAll(/^[ .]+|[ .]+$/g, "");
  while (Buffer.byteLength(name) > most) name = [...name].slice(0, -1).join("").trimEnd();
  return device.test(name) ? `_${name}` : name;
}

const words: Readonly<Record<string, string>> = {
  original: "original",
  sealed: "signed",
  notarized: "notarized",
  custody_certificate: "custody certificate",
  fax_report: "fax report",
  fax_certificate: "fax certificate",
  delivery_receipt: "delivery receipt",
  mail_receipt: "mail receipt",
};

export type Named = {
  /** The firm's number of the closing or the order; null without one. */
  reference: string | null;
  /** The document's title; null without one. */
  title: string | null;
  kind: string;
};

/** The name that people give such a file, without its ending: "2026-1187 Warranty deed, notarized". */
export function fileName({ reference, title, kind }: Named): string {
  const ending = `, ${words[kind] ?? kind}`;
  const called = withoutEnding(title ?? "Document");
  const start = reference !== null && !called.startsWith(reference) ? `${reference} ${called}` : called;
  return `${namePart(start, mostBytes - Buffer.byteLength(ending) - ".pdf (99)".length) || "Document"}${ending}`;
}

/** Titles are often names of files. */
const withoutEnding = (title: string): string => title.replace(/\.pdf$/i, "");

/** Numbers names that are there already, whatever their case: "Deed (2)". */
export function uniqueNames(): (path: string, ending: string) => string {
  const taken = new Set<string>();
  return (path, ending) => {
    for (let n = 1; ; n++) {
      const name = `${path}${n === 1 ? "" : ` (${n})`}${ending}`;
      if (taken.has(name.toLowerCase())) continue;
      taken.add(name.toLowerCase());
      return name;
    }
  };
}
