/** Notaries: their commissions, the rules of their states, their desk, their uploads, and their journals. */
import { journalRows } from "./acts/journal.ts";
import { linkRows } from "./appointments/links.ts";
import { inPersonRows } from "./claims/in-person-requests.ts";
import { draftRows } from "./claims/orders.ts";
import { proofRows } from "./commissions/proofs.ts";
import { sealRows } from "./commissions/seals.ts";
import { notaryRows } from "./commissions/store.ts";
import { changeRows } from "./eligibility/changes/store.ts";
import { checkRows, identityProofRows } from "./identity/store.ts";
import { handOverRows } from "./presence/hand-overs.ts";
import { recordingEventRows } from "./recordings/events.ts";
import { exportTables } from "./recordings/export-rows.ts";
import { messageRows } from "./recordings/messages.ts";
import { partRows, recordingRows } from "./recordings/store.ts";
import { appointmentRows } from "./schedule/appointments.ts";
import { guestRows } from "./schedule/guests.ts";
import { hoursRows } from "./schedule/hours-store.ts";
import { queueTables } from "./schedule/queue.ts";
import { liveTables } from "./sessions/store.ts";
import { sheetTables } from "./sheets/store.ts";

export {
  type Act,
  actKinds,
  actWords,
  identityBases,
  isOnPaper,
  maxPrincipals,
  oathKinds,
  principalField,
  principalsIn,
  readAct,
  typedAct,
} from "./acts/act.ts";
export { correctEntry } from "./acts/correct.ts";
export { journalNotice, refusalReasons } from "./acts/entry.ts";
export { exportJournal, type JournalOwner } from "./acts/export.ts";
export { type FactRules, factRules, noFacts } from "./acts/facts.ts";
export {
  readJournal,
  type StoredSigningAgain,
  signingAgainOf,
  wasSignedAgain,
  whereSignedAgain,
} from "./acts/journal.ts";
export { sweepSignatures } from "./acts/signatures.ts";
export {
  appointmentOf,
  bookAppointment,
  cancelByLink,
  invitationOf,
  inviteToBook,
  reportFailedAppointment,
  scheduledFor,
} from "./appointments/book.ts";
export { guestWords } from "./appointments/guest-words.ts";
export { addGuest, dropGuest } from "./appointments/guests.ts";
export { appointmentInvitationMail } from "./appointments/links.ts";
export { bookingMail, guestMail, whenText } from "./appointments/mail.ts";
export { type ClosingSigner, type Meeting, openMeetings } from "./appointments/meetings.ts";
export { type BookingDeps, slotText } from "./appointments/offers.ts";
export { appointmentJobs, renewNotaryLinks } from "./appointments/renew-links.ts";
export { sweepAppointments } from "./appointments/sweep.ts";
export { bookingWords } from "./appointments/words.ts";
export {
  type Claimed,
  claimedOrder,
  claimOrder,
  type DeskDeps,
  deskOf,
  type EligibleOrder,
  notaryOf,
  releaseOrder,
} from "./claims/claims.ts";
export { currentSha256, readForNotary, signedBeforeAct } from "./claims/documents.ts";
export { latestRequest as latestInPersonRequest } from "./claims/in-person-requests.ts";
export { findDraft, sweepDrafts } from "./claims/orders.ts";
export { certificateFacts } from "./commissions/certificate.ts";
export { notaryStatuses, typedCommission } from "./commissions/commission.ts";
export { type ActMode, actModes, expiriesOf, expiringWords, stageOf } from "./commissions/expiry.ts";
export { addNotary, requireNotary, setNotary } from "./commissions/keep.ts";
export { addProof, listProofs, openProof, type Proof } from "./commissions/proofs.ts";
export { addSeal, confirmSeal, isConfirmedFor, latestSeal, type SealPicture, sealTexts } from "./commissions/seals.ts";
export {
  findNotary,
  listNotaries,
  type Notary,
  notaryGauges,
  notaryOfOperator,
  notaryState,
  operatorsToAdd,
} from "./commissions/store.ts";
export { expiryMail, watchExpiries } from "./commissions/watch.ts";
export { ruleFaults } from "./desk/act-checks.ts";
export { appointmentMail, mailAppointment } from "./desk/appointment.ts";
export { completeAct, type DeskReport, reportOn, requireMode } from "./desk/complete.ts";
export { dayOf, type NotaryDay, waitingWords } from "./desk/day.ts";
export { notarizationOf } from "./desk/progress.ts";
export { refuseAct } from "./desk/refuse.ts";
export { certificateModes } from "./eligibility/certificates.ts";
export {
  confirmChange,
  type RuleChangeDeps,
  refuseChange,
  requestChange,
  rulesOfState,
  rulesOfStates,
  type ShownChange,
  withdrawChange,
} from "./eligibility/changes/changes.ts";
export { eligibilityReader } from "./eligibility/changes/in-force.ts";
export { certificateField, onlineText, sentenceModes, typedRules } from "./eligibility/changes/typed.ts";
export { modeWords } from "./eligibility/eligible.ts";
export { importRules } from "./eligibility/import/import-rules.ts";
export { onlineForms, onlineNames, type ProofMeans, proofingGap } from "./eligibility/online-rules.ts";
export {
  loadNotaryRules,
  type NotaryRules,
  type Sourced,
  type StateRules,
  type TermName,
  termNames,
} from "./eligibility/rules.ts";
export { type SupplyState, supplyState } from "./eligibility/supply.ts";
export { type Faults, isDay, type Typed } from "./form-reader.ts";
export {
  askIdentity,
  type IdentityDeps,
  kindsOf,
  meansFor,
  type OpenedCheck,
  openCheck,
} from "./identity/checks.ts";
export { identityMail } from "./identity/mail.ts";
export { beginCredential, identityJobs } from "./identity/proofs.ts";
export { type AskedQuiz, answerQuiz, beginQuiz } from "./identity/quiz.ts";
export { type IdentityState, identitiesOf } from "./identity/results.ts";
export {
  answerInPerson,
  askInPerson,
  askInPersonElsewhere,
  askTechnologyFee,
  type InPersonRequest,
  inPersonObstacle,
  inPersonOf,
} from "./in-person/in-person.ts";
export { inPersonMail } from "./in-person/mail.ts";
export { inPersonRoutes } from "./in-person/routes.ts";
export { openNotaries } from "./open-notaries.ts";
export { countryChoices } from "./places.ts";
export { handOver, heldBy, reclaimDevice, reclaimDeviceByPin } from "./presence/device.ts";
export { abandonAct, sweepActs } from "./presence/end.ts";
export { beginAct, markAct, type SheetDeps, type SheetView, sheetOf } from "./presence/ipen.ts";
export { noteAct, typedOfSheet } from "./presence/note.ts";
export { witnessOf } from "./presence/vouching.ts";
export { noteWitness } from "./presence/witness.ts";
export { acceptNext, type NotaryQueue, notaryQueueOf, setDuty } from "./queue/accept.ts";
export { queueMail } from "./queue/mail.ts";
export { askNow, leaveQueue, type QueuePlace, queuePlaceOf, testerOf } from "./queue/queue.ts";
export { sweepRequests } from "./queue/sweep.ts";
export { type Checked, checkRecording } from "./recordings/check.ts";
export { diskReport, type RecordingDisk, recordingDisk } from "./recordings/disk.ts";
export { exportOf, openExport } from "./recordings/download.ts";
export { leftJoinRecordingEvent, recordingEventState } from "./recordings/events.ts";
export { type EverythingDeps, exportEverything, recordsMail } from "./recordings/everything.ts";
export { type ExportOnList, listExports, sweepExports } from "./recordings/export-rows.ts";
export { spoolFolder } from "./recordings/folders.ts";
export {
  exportRecording,
  holdRecording,
  isOpened,
  type KeepDeps,
  openRecording,
  playTake,
  recordingMail,
  type Viewer,
} from "./recordings/keep.ts";
export { listRecordings, type RecordingOnList } from "./recordings/list.ts";
export { recordingMetrics } from "./recordings/metrics.ts";
export { Recordings } from "./recordings/recordings.ts";
export { sweepRecordings } from "./recordings/retention.ts";
export { type ShownRecording, shownRecording } from "./recordings/show.ts";
export { loggedRecordings, recordingById, storedRecordings } from "./recordings/store.ts";
export { type Appointment, bringAppointmentsNearer, offersAppointments } from "./schedule/appointments.ts";
export { type Guest, guestsOf } from "./schedule/guests.ts";
export { hoursDays, instantOf, typedHours } from "./schedule/hours.ts";
export { findHours, setHours } from "./schedule/hours-store.ts";
export { bringRequestsNearer, isAnyOnDuty } from "./schedule/queue.ts";
export { roleObstacle, roleWords, thirdRoles } from "./schedule/third-roles.ts";
export { giveTurn, markLive, onRecord, placeOf, typedOnRecord, unmetLive } from "./sessions/act.ts";
export { recordedAmong, roomlessDisk } from "./sessions/disk-room.ts";
export {
  admitPerson,
  closeForAct,
  endLive,
  excusePerson,
  pauseLive,
  releaseBrowser,
  type SignedAct,
} from "./sessions/door.ts";
export {
  answerConsent,
  connectPerson,
  type Entered,
  enteredBy,
  enterRoom,
  excludedAbroad,
  hasNoCodesLeft,
  type RoomLink,
  requireStep,
  sendRoomCode,
} from "./sessions/entry.ts";
export { askingPage } from "./sessions/holders.ts";
export { notaryName, personName } from "./sessions/interruption.ts";
export { isLeased, nodesWithSessions, otherHolder, type SessionOfPage } from "./sessions/lease.ts";
export { liveMail } from "./sessions/mail.ts";
export { readAsNotary, readMessages, writeAsNotary, writeMessage } from "./sessions/messages.ts";
export { liveObstacle } from "./sessions/offered.ts";
export { reportPage, showPage } from "./sessions/pages.ts";
export { reopen } from "./sessions/reopen.ts";
export {
  connectNotary,
  type LiveDeps,
  liveOf,
  livePeopleOf,
  openLive,
  startLive,
} from "./sessions/session.ts";
export {
  documentFor,
  hasDocumentPage,
  hasSignedHere,
  openForPerson,
  reportShown,
  reportShownToNotary,
  requireOpenDocument,
  shownIn,
} from "./sessions/shown.ts";
export { type LivePerson, type LiveSession, liveSessionsOf, sessionsByState } from "./sessions/store.ts";
export {
  hasVouched,
  invitePerson,
  isExcused,
  noteLiveWitness,
  withdrawPerson,
} from "./sessions/third-persons.ts";
export { wasUnrecorded } from "./sessions/unrecorded.ts";
export { watchSessions } from "./sessions/watch.ts";
export { type Turn, turnWords } from "./sheets/steps.ts";
export { listRemoteKeys, prepareRemote, type RemoteSigningDeps, signRemote } from "./signing/remote.ts";
export { completeSignature, completeWithSigned, prepareSignature, reportOnSigned } from "./signing/sign.ts";
export type { Check } from "./uploads/check.ts";

export const protectedTables = [
  journalRows,
  proofRows,
  sealRows,
  notaryRows,
  changeRows,
  inPersonRows,
  draftRows,
  ...sheetTables,
  checkRows,
  identityProofRows,
  handOverRows,
  hoursRows,
  appointmentRows,
  ...queueTables,
  linkRows,
  guestRows,
  recordingRows,
  partRows,
  messageRows,
  recordingEventRows,
  ...exportTables,
  ...liveTables,
];
