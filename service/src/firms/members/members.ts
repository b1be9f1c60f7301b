export {
  dropMember,
  dropPasskeys,
  endAllSessions,
  endAnySession,
  endMembersOfKey,
  endSessionsOf,
  giveOwnersLive,
  listAnySessions,
  listPasskeysOf,
  membersOfKey,
  setMember,
} from "./by-operator.ts";
export { type ConfirmationDeps, confirm, confirmationMail, type Shown, sendCode } from "./confirmation/confirmation.ts";
export {
  createOwnKey,
  findOwnKey,
  issueKeyByOperator,
  listOwnKeys,
  type OwnKey,
  type OwnKeyDeps,
  revokeOwnKey,
  rotateKeyByOperator,
  rotateOwnKey,
} from "./firm-keys/firm-keys.ts";
export { keyMail, mailOwnersOfKey } from "./firm-keys/mail.ts";
export { acceptInvitation, lookAtInvitation, type Offer } from "./invitations/accept.ts";
export {
  type Invitation,
  type InvitationDeps,
  invitationMail,
  inviteMember,
  listInvitations,
  resendInvitation,
  withdrawInvitation,
} from "./invitations/invitations.ts";
export { sweepInvitations } from "./invitations/store.ts";
export { addFirstOwner, hadMembers, hadMembersBefore, linkMember } from "./link/link.ts";
export { memberMail } from "./link/mail.ts";
export { linkRoute } from "./link/routes.ts";
export { anyHour, isQuietFor, mailDelayMs, mailDelayMsIn, mailHoursOf, mailZones, setMailHours } from "./mail-hours.ts";
export {
  liveMember,
  type MailKind,
  mailKinds,
  queueForMembers,
  recipientFor,
  recipientIdOf,
  statementReaders,
  switchMails,
  wantedMails,
} from "./mail-switches.ts";
export {
  changeBillingView,
  changeBranding,
  changeLiveAccess,
  changeLogo,
  changePasskeyForLive,
  changeRole,
  changeServicePause,
  findActiveActor,
  listMembers,
  type Member,
  type MemberDeps,
  removeMember,
  requireBilling,
  requireBrandOwner,
  requireOwnerNow,
  requireOwnerOfMoney,
  servicePauses,
} from "./membership.ts";
export { requestOptions } from "./passkeys/authentication.ts";
export { hasPasskeys, type PasskeyDeps } from "./passkeys/ceremony.ts";
export { factorMail } from "./passkeys/mail.ts";
export { addPasskey, creationOptions, listPasskeys, removePasskey, renewRecoveryCodes } from "./passkeys/passkeys.ts";
export { fromPasskeys, type Passkey } from "./passkeys/store.ts";
export { protectedTables } from "./row-macs.ts";
export { clearCookie, cookieNames, cookieOf, setCookie } from "./sessions/cookies.ts";
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
export {
  type AnySession,
  deleteAllSessions,
  fromSessions,
  type ListedSession,
  setConsoleEnvironment,
  sweepSessions,
} from "./sessions/store.ts";
export { newToken } from "./sessions/tokens.ts";
export { resumeSession, suspendSession } from "./sessions/writes.ts";
export {
  askForLink,
  dueSessionOf,
  linkSeconds,
  lookAtLink,
  makeOperatorLink,
  rememberedSeconds,
  requireAddress,
  returnPath,
  type SignInDeps,
  signInByPasskey,
  signInByRecoveryCode,
  signInMail,
  useLink,
} from "./sign-in/sign-in.ts";
export { upsertUser } from "./sign-in/store.ts";
export {
  emailOf,
  fromMembers,
  joinMembers,
  joinUser,
  lockMembers,
  namesOfFirmActors,
  ownerAddress,
  ownersWhoSee,
  readAnsweringFirm,
} from "./store.ts";
export { linkSeriesOf, readLink, type UnsubscribeLink, unsubscribe, unsubscribeUrl } from "./unsubscribe-links.ts";
