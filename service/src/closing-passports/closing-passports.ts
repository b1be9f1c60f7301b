export { openCertificates } from "./certificate.ts";
export { type ClosingView, closingView } from "./find.ts";
export { type ClosingVersions, closingVersions } from "./list.ts";
export { type ClosingRouteDeps, closingRoutes } from "./routes.ts";
export { type SealClosingDeps, sealClosing } from "./seal.ts";
