import { indexOfText } from "../pdf/search.ts";

/** The names of the files of an evidence zip, or of a folder that one was unpacked into. */
export const evidenceNames = {
  sealed: "sealed.pdf",
  token: "timestamp.tst",
  ots: "sealed.pdf.ots",
  certificates: "seal-certificates.pem",
  record: "passport.json",
  readme: "README.txt",
} as const;

const HEADER_WINDOW = 1024;

/**
 * The files of the evidence beside sealed.pdf that somebody might open as a PDF and take for it: `%PDF-` begins at one
 * of the first 1,024 bytes, whatever the file is otherwise, or the name says so.
 */
export function otherPdfs(files: ReadonlyMap<string, Uint8Array>): string[] {
  return [...files].flatMap(([name, bytes]) =>
    name !== evidenceNames.sealed && (/\.pdf$/i.test(name) || beginsAsPdf(bytes)) ? [name] : [],
  );
}

const beginsAsPdf = (bytes: Uint8Array): boolean =>
  indexOfText(bytes, "%PDF-", 0, Math.min(bytes.length, HEADER_WINDOW + 4)) >= 0;
