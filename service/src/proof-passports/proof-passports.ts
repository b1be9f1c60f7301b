export type { FindDeps } from "./find.ts";
export { type ListedPassport, listPassports } from "./list.ts";
export { ownProofRecord, type ProofRecord, proofRecord, sealCertificates } from "./public-record.ts";
export { type PassportRouteDeps, passportRoutes } from "./routes.ts";
export { createRowMac } from "./row-integrity.ts";
export { sealPassport } from "./seal-passport.ts";
export { type SealUploadDeps, withUpload } from "./seal-upload.ts";
