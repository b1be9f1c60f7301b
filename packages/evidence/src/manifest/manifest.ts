export { buildManifest, type ManifestInput, manifestBytes } from "./build.ts";
export { canonicalJson, type JsonObject, type JsonValue } from "./canonical-json.ts";
export { verifyChain } from "./chain.ts";
export {
  coverage,
  type Manifest,
  type ManifestDocument,
  type ManifestPassport,
  manifestLimits,
  plainCoverage,
} from "./schema.ts";
export { parseManifest, validateManifest } from "./validate.ts";
