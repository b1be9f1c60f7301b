import { indexOfText } from "../pdf/search.ts";

/** The names of the files in an evidence zip, or in a folder that one was unpacked into. */
export const evidenceNames = {
  sealed: "sealed.pdf",
  token: "timestamp.tst",
  ots: "sealed.pdf.ots",
  logProof: "sealed.pdf.tlog-proof",
  checkpointOts: "checkpoint.ots",
  certificates: "seal-certificates.pem",
  record: "passport.json",
  readme: "README.txt",
} as const;

/** The names of time stamps over the checkpoint of the log proof. */
export const checkpointTokenNames: readonly string[] = Array.from({ length: 8 }, (_, i) => `checkpoint-${i + 1}.tst`);

const HEADER_WINDOW = 1024;

/**
 * The names of evidence files that readers might open as a PDF and mistake for sealed.pdf. Either `%PDF-` begins in the
 * first 1,024 bytes, or the name ends like a PDF's.
 */
export function otherPdfs(files: ReadonlyMap<string, Uint8Array>): string[] {
  return [...files].flatMap(([name, bytes]) =>
    name !== evidenceNames.sealed && (/\.pdf$/i.test(name) || beginsAsPdf(bytes)) ? [name] : [],
  );
}

const beginsAsPdf = (bytes: Uint8Array): boolean =>
  indexOfText(bytes, "%PDF-", 0, Math.min(bytes.length, HEADER_WINDOW + 4)) >= 0;

/** The largest JSON file whose kind is detected, in bytes. */
const maxBytes = 1024 * 1024;

/**
 * The kind of a JSON file, by its members. `other`: unrelated JSON, and any file above 1 MiB. `broken`: anything but a
 * JSON object.
 */
export type JsonKind = "manifest" | "room_record" | "proof_record" | "other" | "broken";

/** Detects the kind of a JSON file before the file is validated. */
export function jsonKindOf(bytes: Uint8Array): JsonKind {
  if (bytes.length > maxBytes) return "other";
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return "broken";
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return "broken";
  const has = (member: string) => Object.hasOwn(value, member);
  if (has("passport") || has("documents") || has("coverage")) return "manifest";
  if (has("manifest") || has("chainOk")) return "room_record";
  return has("docSha256") || has("verdict") ? "proof_record" : "other";
}
