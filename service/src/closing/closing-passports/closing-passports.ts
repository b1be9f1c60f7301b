export { drawIn } from "./certificate/draw.ts";
export { createCertificateCheck } from "./certificate-check.ts";
export { type CertificateDeps, latestCertificate } from "./certificate-file.ts";
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
