export { changedSince, changesSince } from "./changes/changes.ts";
export { openDocument } from "./document.ts";
export { openUnlocked } from "./encryption/unlock.ts";
export { findSignatures } from "./signatures.ts";
export { originalBoundary, withRanges } from "./structure.ts";
