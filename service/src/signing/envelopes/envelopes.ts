/**
 * Envelopes. An envelope is one signing of an order's document, from the prepared document through the signers' acts to
 * the seal.
 */

import { actRows } from "./ceremony/prepared-acts.ts";
import { protectedTables as recordTables } from "./records/trail.ts";
import { protectedTables as certificateTables } from "./revocation.ts";

export type { NoticeCode } from "../../kernel/pdf/unseen/notice.ts";
export { signingRoutes } from "./api/routes.ts";
export { readSigning } from "./api/signing-api.ts";
export type { Ceremony, Link, SignRequest } from "./ceremony/ceremony.ts";
export type { Frame } from "./ceremony/embedded.ts";
export { createPreview, type PreviewSigner, type PreviewSigning, type PreviewView } from "./ceremony/preview.ts";
export type { SittingView } from "./ceremony/sitting.ts";
export {
  type Client,
  copyKinds,
  type DeclineKind,
  declineKinds,
  type SenderValue,
  type SessionDocument,
  type ShownField,
  type SigningView,
} from "./ceremony/view.ts";
export { type ConsentText, type ConsentTexts, newestText, readConsentTexts, readOneKind } from "./consent/texts.ts";
export { type OrderEnvelope, readOrderEnvelope, reissueEnvelope, voidEnvelope } from "./lifecycle/by-operator.ts";
export type { SignerRequest } from "./lifecycle/change-signer.ts";
export { type CopyLink, copyLinksOf, endCopyLink } from "./lifecycle/copy-links.ts";
export { bringEnvelopesNearer, followOverdue } from "./lifecycle/due.ts";
export { endRound } from "./lifecycle/end.ts";
export { addOrigin, endSittings, openSitting, removeOrigin } from "./lifecycle/frames-and-sittings.ts";
export { type Closing, type ClosingsOf, findSessionsLater, leaveSessionsOf } from "./lifecycle/join-session.ts";
export { moveSigners } from "./lifecycle/move-signers.ts";
export { mailForgotten } from "./lifecycle/notarized.ts";
export { remindSigner } from "./lifecycle/remind.ts";
export { type ReplaceInRooms, replaceSigner } from "./lifecycle/replace.ts";
export {
  completeRoom,
  endSignersTurn,
  extendTurn,
  giveToSigner,
  notaryBlockOf,
  openRoomDocument,
  openRoomEnvelope,
  type PlaceBlock,
  type RoomEnvelope,
  readRoomDocument,
  roomEnvelopeOf,
  setSignature,
  voidRoom,
} from "./lifecycle/room.ts";
export { type ClosingsWith, documentsElsewhere, othersOfClosing } from "./lifecycle/same-person.ts";
export { unlockSigner } from "./lifecycle/unlock.ts";
export { signingMail } from "./mails/mails.ts";
export { noticeMail } from "./mails/notices.ts";
export {
  ceremonyWith,
  createPreflight,
  envelopeJobs,
  envelopesWith,
  openConsentTexts,
  sweepEnvelopes,
  textsOf,
} from "./open-envelopes.ts";
export {
  listedCertificates,
  type OpenedSignerAuthorities,
  openSignerAuthorities,
  probeSignerAuthorities,
  type SignerAuthorities,
  type SignerAuthoritySettings,
} from "./open-signer-authority.ts";
export {
  initialsOf,
  type ReferencedField,
  type SignatureMark,
  type UploadedMark,
} from "./pdf/fields.ts";
export { planFields } from "./pdf/placement/plan-fields.ts";
export type { PlannedBlock } from "./pdf/prepare.ts";
export { encodePng, type PictureFault, readPictureIn } from "./pictures/pictures.ts";
export { type EnvelopeRecord, envelopeRecord } from "./public/record.ts";
export { envelopeVerificationRoutes } from "./public/routes.ts";
export type { DocumentText } from "./reading/read-text.ts";
export type { EnvelopeDeps } from "./records/deps.ts";
export {
  documentsOfOrder,
  type OrderDocument,
  openOrderDocument,
  orderDocumentProof,
  orderDocuments,
  type ProvenDocument,
  provenDocuments,
  readDocuments,
  type StoredOrderDocument,
  type WantedDocument,
  withOrderDocument,
} from "./records/documents.ts";
export { type EmbedOrigin, listOrigins } from "./records/embeds.ts";
export { isSignedInRoom, markedEnvelopes, searchMethods, verifiedEnvelopesOf } from "./records/envelope.ts";
export { type SigningLinks, signingLinks } from "./records/link-tokens.ts";
export type { NotaryBlock } from "./records/rooms.ts";
export {
  paperWishes,
  type SignedHere,
  type SignerPlace,
  type SignerState,
  signedHere,
  signerPlaces,
} from "./records/signing.ts";
export { openStored, type StoredDeps, withStored } from "./records/stored.ts";
export { type TrailFacts, trailMembers } from "./records/trail.ts";
export { issueCrls } from "./revocation.ts";
export { issueSignerCertificate, oneActKey } from "./signer-authority.ts";

export const protectedTables = [...recordTables, ...certificateTables, actRows];
