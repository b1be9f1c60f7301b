export {
  type AccessDeps,
  approveRequest,
  decidedRequests,
  declineRequest,
  listRequests,
  nameFirstOwner,
  pendingRequests,
  protectedTables,
} from "./decide.ts";
export { accessRequestFields, maxLengths, type SentRequest } from "./fields.ts";
export { type FirmToJoin, firmToJoin, joinOwnFirm } from "./join.ts";
export { accessMail } from "./mail.ts";
export { openAccess } from "./open-access.ts";
export { accessRoutes } from "./routes.ts";
export { recaptchaAction } from "./screening/recaptcha.ts";
export type { ListedRequest } from "./store.ts";
