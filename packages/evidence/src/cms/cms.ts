export { attributeValues, parseSignedData, signatureTimeStampTokens } from "./signed-data.ts";
export { verifySignerInfo } from "./verify.ts";
