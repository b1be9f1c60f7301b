import type { RequireStorage } from "../../firms/partners/partners.ts";
import type { DocumentNames } from "../../kernel/platform/document-name.ts";
import type { Workers } from "../../kernel/platform/workers/task.ts";
import type { Resources } from "../../kernel/resources.ts";
import type { Anchoring } from "../anchoring/anchoring.ts";
import type { Sealing } from "../seals/seals.ts";
import type { TransparencyLog } from "../transparency-log/transparency-log.ts";
import { certificateRows } from "./certificate/kept.ts";
import { openProofCertificates } from "./certificate/make.ts";
import { passportRows } from "./store.ts";

export { type ZipEntry, zipFile, zipLength } from "./evidence/zip.ts";
export {
  findOwnPassport,
  findOwnPassports,
  type ListedPassport,
  type LookupDeps,
  listPassports,
  type NamedDeps,
} from "./lookup.ts";
export { ownProofRecord, type ProofRecord, proofRecord } from "./public-record.ts";
export { type PassportRouteDeps, passportRoutes } from "./routes.ts";
export { sealPassport } from "./seal-passport.ts";
export { type SealRouteDeps, withUpload } from "./seal-route.ts";
export { forgetPassportNames, loggedPassports, storedPassports } from "./store.ts";

export const protectedTables = [passportRows, certificateRows];

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
