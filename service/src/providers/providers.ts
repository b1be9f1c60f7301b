/** Providers whose services the house buys (carriers' labels, letters, faxes): requests, acts that happen once, signed events. */
export { type Account, type AccountCheck, basicAuthorization, checkBy } from "./account.ts";
export { accountsOf } from "./accounts.ts";
export type { Act, ActEnd, Intent, NewIntent, SaidDone } from "./acts/act.ts";
export { requireNoActUnderWay } from "./acts/in-progress.ts";
export { unclearActs } from "./acts/resolve.ts";
export { type Call, type CallOutcome, type CallRequest, createCaller } from "./calls/call.ts";
export type { EventOutcome, RawEvent, StoredEvent } from "./inbound/store.ts";
export type { Headers, InboundVerifier, SignedEvent } from "./inbound/verifier.ts";
export { providerWebhook } from "./inbound/webhook-route.ts";
export type { EventHandler } from "./inbound/work.ts";
export { type AcceptedLetter, isLetterId, readLetter } from "./lob/letter.ts";
export { createLob, type Lob, type MailClass, type NewLetter } from "./lob/lob.ts";
export { isProviderName, type ProviderName, providerNames } from "./names.ts";
export { openProviders, type Providers } from "./open.ts";
export { callColumn, eventColumn } from "./sealed-json.ts";
export { faxInEvent, type TelnyxFax, type TelnyxFaxStatus } from "./telnyx/answers.ts";
export { createTelnyx, type FaxToSend, type Telnyx, type TelnyxResult } from "./telnyx/telnyx.ts";
