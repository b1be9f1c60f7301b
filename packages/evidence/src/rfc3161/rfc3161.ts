export {
  buildTimeStampReq,
  parseTimeStampResp,
  parseTimeStampToken,
  type TimeStampResp,
  type TimeStampToken,
} from "./token.ts";
export { type TimeStampClaimName, type TimeStampVerification, verifyTimeStampToken } from "./verify.ts";
