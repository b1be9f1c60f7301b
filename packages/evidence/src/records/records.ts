export { evidenceNames, otherPdfs } from "./evidence-files.ts";
export { parseStrictObject } from "./json.ts";
export { type JsonKind, jsonKindOf } from "./json-kind.ts";
export {
  type ProofRecord,
  parseProofRecord,
  type RecordClaimName,
  recordClaims,
  recordFormat,
} from "./proof-record.ts";
export { parseRoomRecord, type RoomRecord, serviceChainClaim } from "./room-record.ts";
