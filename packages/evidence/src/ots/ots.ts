export { proofOfReplies, upgrade } from "./merge.ts";
export { applyOp } from "./ops.ts";
export { parseDetached, parseTimestamp } from "./parse.ts";
export { type DetachedTimestamp, detachedMagic, otsLimits, type Timestamp } from "./timestamp.ts";
export { verifyOts } from "./verify.ts";
export { writeDetached } from "./write.ts";
