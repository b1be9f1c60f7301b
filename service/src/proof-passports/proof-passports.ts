export { openProofCertificates } from "./certificate/make.ts";
export { type ListedPassport, listPassports } from "./list.ts";
export { findOwnPassport, findOwnPassports, type LookupDeps, type NamedDeps } from "./lookup.ts";
export { ownProofRecord, type ProofRecord, proofRecord } from "./public-record.ts";
export { type PassportRouteDeps, passportRoutes } from "./routes.ts";
export { createRowIntegrity } from "./row-integrity.ts";
export { sealPassport } from "./seal-passport.ts";
export { type SealRouteDeps, withUpload } from "./seal-route.ts";
export { fromPassports, passportColumns, passportMembers, passportUse, type WholePassport } from "./store.ts";
