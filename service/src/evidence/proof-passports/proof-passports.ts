import { certificateRows } from "./certificate/kept.ts";
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
export { openPassports } from "./open-passports.ts";
export { ownProofRecord, type ProofRecord, proofRecord } from "./public-record.ts";
export { type PassportRouteDeps, passportRoutes } from "./routes.ts";
export { sealPassport } from "./seal-passport.ts";
export { type SealRouteDeps, withUpload } from "./seal-route.ts";
export { forgetPassportNames } from "./store.ts";

export const protectedTables = [passportRows, certificateRows];
