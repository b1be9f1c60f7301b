export { namesOfFirmActors } from "./actor-names.ts";
export { dropMember, setMember } from "./by-operator.ts";
export { type ConfirmationDeps, confirm, type Shown, sendCode } from "./confirmation/confirmation.ts";
export { confirmationMailJobs } from "./confirmation/mail.ts";
export {
  createOwnKey,
  findOwnKey,
  listOwnKeys,
  type OwnKey,
  type OwnKeyDeps,
  revokeOwnKey,
  rotateOwnKey,
} from "./firm-keys/firm-keys.ts";
export { keyMailJobs } from "./firm-keys/mail.ts";
export { acceptInvitation, lookAtInvitation, type Offer } from "./invitations/accept.ts";
export {
  type Invitation,
  type InvitationDeps,
  inviteMember,
  listInvitations,
  resendInvitation,
  withdrawInvitation,
} from "./invitations/invitations.ts";
export { invitationMailJobs } from "./invitations/mail.ts";
export { sweepInvitations } from "./invitations/store.ts";
export { linkMember } from "./link/link.ts";
export { memberMailJobs } from "./link/mail.ts";
export { linkRoute } from "./link/routes.ts";
export {
  changeBranding,
  changeLiveAccess,
  changeLogo,
  changePasskeyForLive,
  changeRole,
  listMembers,
  type Member,
  type MemberDeps,
  removeMember,
} from "./membership.ts";
export { endMembersOfKey, type MemberOfKey, membersOfKey } from "./of-key.ts";
export { requestOptions } from "./passkeys/authentication.ts";
export { dropPasskeys, listPasskeysOf } from "./passkeys/by-operator.ts";
export { hasPasskeys, type PasskeyDeps } from "./passkeys/ceremony.ts";
export { factorMailJobs } from "./passkeys/mail.ts";
export { addPasskey, creationOptions, listPasskeys, removePasskey, renewRecoveryCodes } from "./passkeys/passkeys.ts";
export type { Passkey } from "./passkeys/store.ts";
export { membersRows } from "./row-macs.ts";
export { endAllSessions, endAnySession, listAnySessions } from "./sessions/by-operator.ts";
export { sessionLimits } from "./sessions/limits.ts";
export {
  chooseEnvironment,
  endSession,
  findOperatorSession,
  listSessions,
  type SessionDeps,
  sessionResolver,
  signOut,
} from "./sessions/sessions.ts";
export { type AnySession, type ListedSession, sweepSessions } from "./sessions/store.ts";
export { clearCookie, cookieNames, cookieOf, newToken, setCookie } from "./sessions/tokens.ts";
export { signInMailJobs } from "./sign-in/mail.ts";
export { dueSessionOf, signInByPasskey, signInByRecoveryCode } from "./sign-in/second-step.ts";
export {
  askForLink,
  knownSeconds,
  linkSeconds,
  lookAtLink,
  makeOperatorLink,
  requireAddress,
  returnPath,
  type SignInDeps,
  useLink,
} from "./sign-in/sign-in.ts";
export { upsertUser } from "./sign-in/store.ts";
