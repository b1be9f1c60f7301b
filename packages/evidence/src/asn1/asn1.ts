export { derFromBer } from "./ber.ts";
export { childrenOf, contentOf, onlyChildOf, readDer, TAG } from "./der.ts";
export { OID } from "./oid.ts";
export { fieldsOf, readOctetBitString, readOctetString, readOid, readSmallInteger } from "./values.ts";
export {
  bitString,
  boolean,
  constructed,
  type DerValue,
  encode,
  explicit,
  implicit,
  integer,
  nullValue,
  octetString,
  octetStringOf,
  oid,
  primitive,
  raw,
  sequence,
  set,
  setOf,
  time,
  utf8String,
} from "./writer.ts";
