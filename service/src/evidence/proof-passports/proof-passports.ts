import type { RequireStorage } from "../../firms/partners/partners.ts";
import { nothing, sql } from "../../kernel/platform/database/sql.ts";
import type { DocumentNames } from "../../kernel/platform/document-name.ts";
import type { Workers } from "../../kernel/platform/workers/task.ts";
import type { Resources } from "../../kernel/resources.ts";
import { byEnvironment, type RetentionPlan, type Source, unnamedIn } from "../../kernel/retention/retention.ts";
import type { Anchoring } from "../anchoring/anchoring.ts";
import type { Sealing } from "../seals/seals.ts";
import type { TransparencyLog } from "../transparency-log/transparency-log.ts";
import { openProofCertificates } from "./certificate/make.ts";
import { certificateRows } from "./certificate/stored.ts";
import { authenticAmong, passportRows } from "./store.ts";

export { type ZipEntry, zipFile, zipLength } from "./evidence/zip.ts";
export {
  findOwnPassport,
  findOwnPassports,
  type ListedPassport,
  listPassports,
  type NamedDeps,
} from "./lookup.ts";
export { ownProofRecord, type ProofRecord, proofRecord } from "./public-record.ts";
export { passportRoutes } from "./routes.ts";
export { sealPassport } from "./seal-passport.ts";
export { type SealRouteDeps, withUpload } from "./seal-route.ts";
export { firstPassport, forgetPassportNames, loggedPassports, storedPassports } from "./store.ts";

export const protectedTables = [passportRows, certificateRows];

/**
 * The settings that the retention rules of sealed PDFs and of proof certificates share. So both are deleted at the same
 * time.
 */
const ofPassports = (plan: RetentionPlan) => ({
  lock: nothing,
  ...byEnvironment(
    plan,
    "proofPassports",
    { partnerId: sql`p.partner_id`, environment: sql`p.environment` },
    sql`p.created_at`,
  ),
});

/** The retention rule for the sealed PDFs of passports. */
export const passportSource = (plan: RetentionPlan): Source => ({
  table: "passports",
  rows: sql`passports p`,
  id: sql`p.id`,
  first: "00000000-0000-0000-0000-000000000000",
  blobKey: sql`p.blob_key`,
  confirmed: authenticAmong,
  ...ofPassports(plan),
  sharesBlobs: true,
  unshared: () => unnamedIn(sql`passports`, sql`AND other.id::text <> named.id`),
});

/**
 * The retention rule for proof certificates that describe the stored PDF. They are deleted together with the PDF. All
 * other proof certificates stay. They contain only facts of the passport's row and, for the owner, the firm's name.
 */
export const proofCertificateSource = (plan: RetentionPlan): Source => ({
  table: "proof_certificates",
  rows: sql`proof_certificates c JOIN passports p ON p.id = c.passport_id AND c.document_kept`,
  id: sql`c.blob_key`,
  first: "",
  blobKey: sql`c.blob_key`,
  async confirmed(db, rowMac, keys) {
    const certificates = await db.query<{ key: string; passportId: string }>(sql`
      SELECT blob_key AS key, passport_id AS "passportId" FROM proof_certificates WHERE blob_key = ANY (${keys}::text[])`);
    const ids = certificates.map(({ passportId }) => passportId);
    const authentic = new Set(await authenticAmong(db, rowMac, ids));
    return certificates.filter(({ passportId }) => authentic.has(passportId)).map(({ key }) => key);
  },
  ...ofPassports(plan),
  sharesBlobs: false,
  unshared: () => sql`true`,
});

type Parts = {
  names: DocumentNames;
  workers: Workers;
  sealing: Pick<Sealing, "sealDocument" | "chainPem">;
  anchoring: Anchoring | null;
  transparencyLog: Pick<TransparencyLog, "originOf">;
  requireStorage: RequireStorage;
};

/** Opens proof passports and their certificates. */
export function openPassports(resources: Resources, parts: Parts) {
  const { config, db, clock, log, rowMac, blobs } = resources;
  const { names, workers, sealing, anchoring, transparencyLog, requireStorage } = parts;
  const { baseUrl, keepSealed } = config;
  const store = { db, clock, log, rowMac, blobs, names };
  return {
    passports: {
      ...store,
      sealing,
      publication: { baseUrl, anchoring, originOf: transparencyLog.originOf },
      requireStorage: keepSealed ? requireStorage : null,
    },
    proofCertificate: openProofCertificates({ ...store, making: { workers, sealing, baseUrl } }),
  };
}
