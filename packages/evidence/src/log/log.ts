export { type CarriedClaimName, verifyCarried } from "./carried.ts";
export {
  type Checkpoint,
  checkpointText,
  formatCheckpoint,
  formatLogProof,
  isLogProof,
  type LogProof,
  parseCheckpoint,
  parseLogProof,
  type SignedCheckpoint,
} from "./checkpoint.ts";
export {
  closingLinkText,
  formatEntry,
  isNoteKey,
  type LogEndReason,
  type LogEntry,
  logEndReasons,
  parseEntry,
  type RetractionReason,
  retractionReasons,
  sealEntry,
} from "./entry.ts";
export {
  formatNoteKey,
  formatSignature,
  keyName,
  logSignedText,
  type NoteKey,
  noteKeyOf,
  parseNote,
  parseNoteKey,
  parseWitnessKey,
  verifyCosignature,
  verifyNote,
} from "./note.ts";
export { retractionMeanings } from "./retraction.ts";
export {
  bundledEntry,
  hashesAt,
  hashInTile,
  parseBundle,
  parseTilePath,
  placeOfNode,
  type Tile,
  tilePath,
  tilesOf,
  tileWidth,
  widthAt,
} from "./tiles.ts";
export {
  appendToEdge,
  consistencyRanges,
  type EdgeNode,
  emptyRoot,
  foldNodes,
  hashLength,
  inclusionRanges,
  type LeafRange,
  leafMessage,
  nodeMessage,
  perfectNodes,
  type TreeNode,
  verifyConsistency,
  verifyInclusion,
} from "./tree.ts";
export {
  type LogClaimName,
  type LogEnd,
  type LogProofInput,
  quorumClaim,
  type TrustedLog,
  verifyLogProof,
} from "./verify-log-proof.ts";
export { hasQuorum, parseWitnessPolicy, type Witness, type WitnessPolicy } from "./witness-policy.ts";
