import { join } from "node:path";
import { jsonKindOf } from "@signsealship/evidence/records";
import type { Context } from "../context.ts";
import { UsageError } from "../errors.ts";
import { verifyDocumentsZip } from "../files/documents-zip.ts";
import { verifyEvidenceSet } from "../files/evidence-set.ts";
import { kindOf } from "../files/kind.ts";
import { aboutFile, verifyOtsFile } from "../files/ots-file.ts";
import { readBounded } from "../files/read-file.ts";
import { failedOn, failure, type Report, withChecks } from "../files/report.ts";
import { verifyFile } from "../files/verify-file.ts";
import { isEvidenceName, type Unit } from "./units.ts";

/**
 * Verifies one unit of a folder; null for unrelated JSON without a proof. An unreadable file becomes a failing check;
 * nothing is thrown.
 */
export async function verifyUnit(unit: Unit, context: Context): Promise<Report | null> {
  try {
    return unit.type === "file" ? await verifyOne(unit, context) : await verifyUnpacked(unit, context);
  } catch (error) {
    if (error instanceof UsageError) return failure("unknown", "not_verified", "file_readable", `${error.message}.`);
    return failedOn(error);
  }
}

type Unpacked = Exclude<Unit, { type: "file" }>;

async function verifyUnpacked({ type, path, names }: Unpacked, context: Context): Promise<Report> {
  const files = new Map<string, Uint8Array>();
  for (const name of names) files.set(name, await readBounded(join(path, name)));
  const verify = type === "documents" ? verifyDocumentsZip : verifyEvidenceSet;
  return verify(files, `${path}/`, context);
}

async function verifyOne({ path, ots }: Unit & { type: "file" }, context: Context): Promise<Report | null> {
  const bytes = await readBounded(path);
  const kind = kindOf(path, bytes);
  const isOther = !isEvidenceName(path) || (kind === "json" && jsonKindOf(bytes) === "other");
  const file = { path, bytes };
  if (ots === null) return isOther ? null : verifyFile(file, context);
  const proof = { path: ots, bytes: await readBounded(ots) };
  if (isOther) return verifyOtsFile(proof, aboutFile(file), context);
  if (kind === "pdf") return verifyFile(file, context, { ots: proof });
  const report = await verifyFile(file, context);
  return withChecks(report, (await verifyOtsFile(proof, aboutFile(file), context)).checks);
}
