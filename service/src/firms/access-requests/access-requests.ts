export { accessRequestFields, maxLengths, type SentRequest } from "./fields.ts";
export { type AccessDeps, keyCipherColumn } from "./issue.ts";
export { accessMailJobs } from "./mail.ts";
export { openAccess, type RequestAccess } from "./open-access.ts";
export { approveRequest, declineRequest, listRequests, pendingRequests } from "./review.ts";
export { accessRoutes } from "./routes.ts";
export { type RecaptchaSettings, recaptchaAction } from "./screening/recaptcha.ts";
export type { ListedRequest } from "./store.ts";
