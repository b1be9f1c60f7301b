import { indexOfText } from "../pdf/search.ts";

/** The names of the files in an evidence zip, or in a folder that one was unpacked into. */
export const evidenceNames = {
  sealed: "sealed.pdf",
  token: "timestamp.tst",
  ots: "sealed.pdf.ots",
  logProof: "sealed.pdf.tlog-proof",
  certificates: "seal-certificates.pem",
  record: "passport.json",
  readme: "README.txt",
} as const;

const HEADER_WINDOW = 1024;

/**
 * The evidence files besides sealed.pdf that readers might open as a PDF and mistake for it: `%PDF-` begins in the
 * first 1,024 bytes, or the name says so.
 */
export function otherPdfs(files: ReadonlyMap<string, Uint8Array>): string[] {
  return [...files].flatMap(([name, bytes]) =>
    name !== evidenceNames.sealed && (/\.pdf$/i.test(name) || beginsAsPdf(bytes)) ? [name] : [],
  );
}

const beginsAsPdf = (bytes: Uint8Array): boolean =>
  indexOfText(bytes, "%PDF-", 0, Math.min(bytes.length, HEADER_WINDOW + 4)) >= 0;
