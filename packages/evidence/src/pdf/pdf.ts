export { openDocument } from "./document.ts";
export { findSignatures } from "./signatures.ts";
export { originalBoundary, withRanges } from "./structure.ts";
