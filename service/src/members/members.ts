export { dropMember, setMember } from "./by-operator.ts";
export { type ConfirmationDeps, confirmByCode, sendCode } from "./confirmation/confirmation.ts";
export { confirmationMailJobs } from "./confirmation/mail.ts";
export { linkMember } from "./link/link.ts";
export { memberMailJobs } from "./link/mail.ts";
export { linkRoute } from "./link/routes.ts";
export {
  changeBranding,
  changeLiveAccess,
  changeRole,
  listMembers,
  type Member,
  type MemberDeps,
  removeMember,
} from "./membership.ts";
export { endMembersOfKey, type MemberOfKey, membersOfKey } from "./of-key.ts";
export { endAllSessions, endAnySession, listAnySessions } from "./sessions/by-operator.ts";
export { sessionLimits } from "./sessions/limits.ts";
export {
  chooseEnvironment,
  endSession,
  listSessions,
  operatorResolver,
  sessionResolver,
  signOut,
} from "./sessions/sessions.ts";
export { type AnySession, type ListedSession, sweepSessions } from "./sessions/store.ts";
export { clearCookie, cookieNames, cookieOf, newToken, setCookie } from "./sessions/tokens.ts";
export { signInMailJobs } from "./sign-in/mail.ts";
export {
  askForLink,
  knownSeconds,
  linkSeconds,
  lookAtLink,
  makeOperatorLink,
  returnPath,
  type SignInDeps,
  useLink,
} from "./sign-in/sign-in.ts";
