export { changedSince, changesSince } from "./changes/changes.ts";
export { openDocument } from "./document.ts";
export { openUnlocked } from "./encryption/unlock.ts";
export { fieldTexts } from "./field-texts.ts";
export { fieldName, findSignatures, type SignatureInPdf } from "./signatures.ts";
export { originalBoundary, withRanges } from "./structure.ts";
