/**
 * The providers of purchased services (carriers' labels, letters, faxes): requests, acts (irreversible requests) that
 * must happen once, and signed events.
 */
import { callRows } from "./acts/store.ts";
import { providerEventRows } from "./sealed-json.ts";

export { type Account, basicAuthorization } from "./account.ts";
export type { Act, ActEnd, Intent, ProviderFinding } from "./acts/act.ts";
export { type ActOnRecord, actsOfOrder, actUnderWay, requireNoActUnderWay } from "./acts/by-hand.ts";
export { fromActs } from "./acts/store.ts";
export { isStranded, resumeStranded } from "./acts/stranded.ts";
export { backlogs, type ProviderBacklog, providerMetrics, sweepProviderRecords } from "./backlog.ts";
export { type Call, createCaller } from "./calls/call.ts";
export { easypostBase, trackingOfEvent } from "./easypost/account.ts";
export type { Asked, BoughtLabel, CarrierOffer, Tracking } from "./easypost/answers.ts";
export { createEasyPost, type EasyPost, fetchLabelFile } from "./easypost/client.ts";
export type {
  CredentialResult,
  IdentityProofing,
  KnowledgeQuiz,
  QuizQuestion,
} from "./identity/port.ts";
export { createQuiz } from "./identity/quiz.ts";
export { createStripeIdentity } from "./identity/stripe.ts";
export { type EventOutcome, eventsAbout, hasLaterEvent, type RawEvent, type StoredEvent } from "./inbound/store.ts";
export type { InboundVerifier } from "./inbound/verifier.ts";
export { providerWebhook } from "./inbound/webhook-route.ts";
export type { EventHandler } from "./inbound/work.ts";
export { type AcceptedLetter, isLetterId, readLetter } from "./lob/letter.ts";
export { createLob, type MailClass } from "./lob/lob.ts";
export { type ChainLine, emptyChain, followChain, headAfter, lineText, readLine, sha256Hex } from "./media/chain.ts";
export { openMediaEngine } from "./media/engine.ts";
export { probeLivekit } from "./media/livekit/server.ts";
export type { ClientMessage, MediaEngine, MediaEvent, ServerMessage, Ticket } from "./media/media.ts";
export { probePorts, probeTurn, reachOf } from "./media/probe.ts";
export { openChunk, readSpool, recordKey, type SpooledChunk, sealedBytes, spoolFiles } from "./media/spool.ts";
export { finishedHeader, tracksIn } from "./media/webm/webm.ts";
export { actWords, actWordsOf, isProviderName, type ProviderName, providerNames } from "./names.ts";
export { accountsOf, checkAccounts, openProviders, type Providers } from "./open.ts";
export {
  type AuthorizationObject,
  createRemoteSigning,
  type RemoteSigning,
} from "./remote-signing/remote-signing.ts";
export { faxInEvent, type TelnyxFax, type TelnyxFaxStatus } from "./telnyx/answers.ts";
export { createTelnyx, type Telnyx } from "./telnyx/telnyx.ts";

export const protectedTables = [callRows, providerEventRows];
