export { drawIn } from "./certificate/draw.ts";
export { createCertificateCheck } from "./certificate-check.ts";
export { type ClosingVersions, closingVersions } from "./list.ts";
export { type ClosingRecord, type ClosingVersionRecord, closingRecord } from "./record.ts";
export { type ClosingRouteDeps, closingRoutes } from "./routes.ts";
export { type SealClosingDeps, sealClosing } from "./seal-version.ts";
export { certificateUse, storedColumns, type VersionFacts, versionMembers } from "./versions.ts";
