export { checkpointTokenNames, evidenceNames, type JsonKind, jsonKindOf, otherPdfs } from "./evidence-files.ts";
export { parseStrictObject } from "./json.ts";
export {
  type ProofRecord,
  parseProofRecord,
  parseRoomRecord,
  type RecordClaimName,
  type RoomRecord,
  recordClaims,
  recordFormat,
  serviceChainClaim,
} from "./proof-record.ts";
