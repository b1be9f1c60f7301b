export { createCertificateCheck } from "./certificate-check.ts";
export { type CertificateDeps, latestCertificate } from "./certificate-file.ts";
export { openClosings } from "./open-closings.ts";
export {
  type ClosingRecord,
  type ClosingVersionRecord,
  type ClosingVersions,
  closingRecord,
  closingVersions,
} from "./record.ts";
export { type ClosingRouteDeps, closingRoutes } from "./routes.ts";
export { type SealClosingDeps, sealClosing } from "./seal-version.ts";
export { queueEarlierVersions } from "./store.ts";
export { protectedTables } from "./versions.ts";
