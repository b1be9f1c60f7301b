import { EvidenceError } from "@signsealship/evidence/errors";
import { evidenceNames, jsonKindOf } from "@signsealship/evidence/records";
import { openZip } from "@signsealship/evidence/zip";
import type { Context, NamedBytes } from "../context.ts";
import { type ClosingPiece, passportOf, roomRecordPiece, verifyClosingSet } from "./closing-set.ts";
import { verifyDocumentsZip } from "./documents-zip.ts";
import { unreadableRecord, verifyEvidenceSet } from "./evidence-set.ts";
import { kindOf } from "./kind.ts";
import { aboutFile, verifyOtsFile } from "./ots-file.ts";
import { failure, type Report } from "./report.ts";
import { type Companions, verifySealedPdf } from "./sealed-pdf.ts";
import { quoted } from "./shell.ts";
import { verifyTokenFile } from "./token-file.ts";

/** Verifies one file of any kind: a sealed PDF, a manifest, a zip of evidence or documents, a proof or a time stamp. */
export async function verifyFile(file: NamedBytes, context: Context, companions: Companions = {}): Promise<Report> {
  switch (kindOf(file.path, file.bytes)) {
    case "pdf":
      return verifySealedPdf(file, companions, context);
    case "zip":
      return verifyZip(file, context);
    case "ots":
      return verifyOtsFile(file, context.doc && aboutFile(context.doc), context);
    case "log":
      return failure("unknown", "not_verified", "kind", "A log proof is not evidence by itself: add it with --with.");
    case "der":
      return verifyTokenFile(file, context);
    case "json":
      return verifyJson(file, context);
    case "pem":
      return failure("unknown", "not_verified", "kind", "A certificate or key is not evidence by itself: see --trust.");
    default:
      return failure("unknown", "not_a_pdf", "kind", "It is not a PDF, manifest, evidence zip, proof or time stamp.");
  }
}

async function verifyZip({ path, bytes }: NamedBytes, context: Context): Promise<Report> {
  try {
    const folder = path.replace(/\.zip$/i, "");
    const { form, files } = openZip(bytes);
    const verify = form === "documents" ? verifyDocumentsZip : verifyEvidenceSet;
    const report = await verify(files, `${folder}/`, context);
    const unpack = `unzip -o ${quoted(path)} -d ${quoted(folder)}`;
    const readable = {
      claim: "zip_readable",
      result: "holds",
      detail: "The zip can be read.",
      command: unpack,
    } as const;
    return { ...report, checks: [readable, ...report.checks] };
  } catch (error) {
    if (!(error instanceof EvidenceError)) throw error;
    return failure("evidence", "not_verified", "zip_readable", `The zip cannot be read: ${error.message}.`);
  }
}

async function verifyJson(file: NamedBytes, context: Context): Promise<Report> {
  const kind = jsonKindOf(file.bytes);
  if (kind === "proof_record") return verifyEvidenceSet(new Map([[evidenceNames.record, file.bytes]]), "", context);
  let piece: ClosingPiece;
  try {
    piece = kind === "room_record" ? roomRecordPiece(file) : { path: file.path, manifest: file.bytes };
  } catch (error) {
    if (error instanceof EvidenceError) return unreadableRecord("room_record", error);
    throw error;
  }
  const report = await verifyClosingSet([piece], context);
  const passport = passportOf(piece);
  return { ...report, ...(passport && { closing: { roomCode: passport.roomCode, version: passport.version } }) };
}
