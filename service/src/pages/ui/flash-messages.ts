import type { FastifyRequest } from "fastify";
import { icon } from "./icons.ts";
import { type Html, html } from "./render.ts";

/** What pages say after a form was accepted; the address has the name of the message, never a text. */
const flashMessages = {
  "step-marked": "The step is marked.",
  "device-back": "The device is back.",
  "act-ended": "The act was ended. Another one may begin.",
  linked: "You are now connected to your firm.",
  environment: "You switched environments.",
  "session-ended": "That session was signed out.",
  "invitation-sent": "The invitation is being emailed.",
  "invitation-withdrawn": "The invitation was withdrawn.",
  "invitation-accepted": "Welcome. You are now a member of the firm.",
  "member-removed": "The member was removed.",
  "firm-left": "You left the firm.",
  "role-changed": "The role was changed.",
  "live-access-changed": "The member’s live access was changed.",
  "passkey-added": "The passkey was added.",
  "passkey-removed": "The passkey was removed.",
  "passkey-rule-changed": "Your firm’s passkey rule was changed.",
  "logo-saved": "The logo was saved.",
  "pause-saved": "The pause between services was saved.",
  "branding-saved": "The branding was saved.",
  "template-made": "The template was made. Place orders from it here.",
  "template-saved": "The new version was saved. Orders use it from now on.",
  "fill-made": "The form was made. Pass its link on to the person.",
  "fill-sent": "The link is on its way by email.",
  "fill-canceled": "The form was canceled, and its answers were deleted.",
  "template-archived": "The template was archived.",
  "template-restored": "The template places orders again.",
  "origin-added": "The site was added. It can show signing pages from now on.",
  "origin-removed": "The site was removed. It gets no more signing pages.",
  "room-created": "The room is open. Add its orders, then share its link.",
  "room-order-attached": "The order was added to the room.",
  "room-orders-attached": "The orders were added to the room.",
  "room-order-there": "The order was already in the room. Nothing changed.",
  "room-order-detached": "The order was removed from the room.",
  "participant-added": "The participant was added.",
  "participant-added-invited": "The participant was added. The room’s link is on its way to them by email.",
  "participant-added-uninvited":
    "The participant was added. No email was sent: one went to this address within the last 24 hours, or the room has sent 25 today. Share the link yourself.",
  "participant-there": "Someone with that email is already a participant.",
  "participant-there-invited":
    "Someone with that email is already a participant. The room’s link is on its way to them by email.",
  "participant-there-uninvited":
    "Someone with that email is already a participant. No email was sent: one went to this address within the last 24 hours, or the room has sent 25 today.",
  "participant-removed": "The participant was removed.",
  "room-rotated": "The room has a new link. The old one no longer works.",
  "room-closed": "The room is closed.",
  "room-reopened": "The room is open again.",
  "room-sealed": "The new version is sealed. Its verification link is in the list.",
  "passport-sealed": "The document is sealed.",
  "webhook-there": "This form already created the webhook. If you did not copy its secret, rotate the secret now.",
  "webhook-rotated-before": "This form already rotated the secret. If you did not copy it, rotate it again.",
  "webhook-tested": "A test event is on its way.",
  "webhook-key-made": "The public key was created. New deliveries carry its signature.",
  "webhook-deleted": "The webhook was deleted.",
  "delivery-replayed": "The event is being sent again.",
  "failed-replayed": "Everything that failed in that time is being sent again.",
  "failed-replayed-partly": "200 events are being sent again. More have failed: send the rest when these have ended.",
  "nothing-failed": "Nothing in that time failed to arrive.",
  "execution-decided": "Your decision was recorded.",
  "request-approved": "The request was approved. Its key is being emailed.",
  "request-declined": "The request was declined.",
  "task-claimed": "The task is yours.",
  "task-released": "The task is open to others again.",
  "task-finished": "The task is done.",
  "jobs-retried": "The jobs are being tried again.",
  "label-ordered": "The label is being bought.",
  "report-kept": "The report is kept with the order.",
  "firm-changed": "The firm was changed.",
  "key-there": "This form already created the key. If you did not copy it, revoke it and create another one.",
  "key-rotated-before": "This form already rotated the key. If you did not copy the new one, rotate it again.",
  "key-revoked": "The key no longer works.",
  "order-cancelled": "The order was canceled.",
  "order-mail-sent": "The email is on its way to the client again.",
  "order-moved": "The order was moved.",
  "taking-in-requested": "Another operator was asked to approve the document. Give them the same file.",
  "taking-in-refused": "The document was refused.",
  "taking-in-withdrawn": "The request was withdrawn.",
  "order-noted": "Your note was added.",
  "notary-added": "The notary is on record.",
  "notary-saved": "The record was saved.",
  "rules-requested": "The change is written. It counts once another operator has confirmed it.",
  "rules-confirmed": "The change is confirmed. It counts from its day on.",
  "rules-refused": "The change was refused.",
  "rules-withdrawn": "The change was withdrawn.",
  "notary-claimed": "The order is yours. Nobody else sees its documents now.",
  "notary-released": "The order was given back.",
  "act-saved": "The act is noted. Now sign the document and upload it.",
  "act-completed": "The document is notarized. The act is in your journal.",
  "act-refused": "The refusal is in your journal, and the order waits for an agent.",
  "hours-saved": "Your hours are saved.",
  "appointment-ended": "It is noted. Everyone who must appear is told.",
  "identity-asked": "The link of the identity check is being emailed.",
  "appointment-mailed": "Everyone who must appear is being emailed the link.",
  "in-person-asked": "The firm was asked. Its owners are being emailed.",
  "in-person-agreed": "You agreed to an act in person, in ink. The notary may go on.",
  "in-person-agreed-refund":
    "You agreed to an act in person, in ink. A refund of the technology fee was asked for; the order goes on.",
  "in-person-declined": "You declined. The act is not recorded as one in person, in ink.",
  "entry-corrected": "The correction is in your journal.",
  "proof-added": "The proof was added.",
  "order-placed": "The order was placed.",
  "act-resolved": "Your answer was recorded.",
  "bank-payment-ended": "The bank payment failed. Its orders can be paid again.",
  "payment-resolved": "The note was recorded.",
  "operator-added": "The operator was added, and was emailed how to sign in.",
  "operator-changed": "The operator was changed.",
  "operator-removed": "The operator’s access was ended.",
  "passkeys-removed": "The passkeys were removed.",
  "refund-requested": "The refund was requested. Someone else decides.",
  "refund-approved": "The refund was approved. The payment processor was told to send the money back.",
  "refund-refused": "The refund was refused.",
  "refund-withdrawn": "The request was withdrawn.",
  "order-placed-outside":
    "The order was placed, but it is not in the room: that room is closed, full, or gone. Add it to another one on its page.",
  "order-placed-unpayable": "The order was placed. It has no checkout yet.",
  "signer-reminded": "The signer is being emailed again.",
  "signer-replaced": "The signer was replaced. The old link no longer works.",
  "signer-unlocked": "The signer is being emailed a new link.",
  "sandbox-success": "The test payment went through.",
  "sandbox-decline": "The test payment was declined.",
  "sandbox-cancel": "The test checkout was canceled.",
  "sandbox-delayed": "The test payment was made but has not cleared yet.",
  "sandbox-advanced": "The test order moved on.",
  "sandbox-completed": "The test order is now completed.",
  "test-clock-advanced": "The test clock was advanced. What came due is happening.",
  "test-clock-reset": "The test clock shows real time again.",
} as const;

export type FlashMessage = keyof typeof flashMessages;

/** After a form was accepted: leads to a page, which says what was done. */
export function done(path: string, message: FlashMessage): { redirect: string } {
  const [before = "", hash] = path.split("#", 2);
  const address = `${before}${before.includes("?") ? "&" : "?"}done=${message}`;
  return { redirect: hash === undefined ? address : `${address}#${hash}` };
}

/** The message that the address names. */
export function flashOf({ query }: FastifyRequest): Html | "" {
  const { done: name } = query as { done?: unknown };
  if (typeof name !== "string" || !Object.hasOwn(flashMessages, name)) return "";
  const text = flashMessages[name as FlashMessage];
  return html`<div class="notice done flash" role="status">${icon("done")}<div><p>${text}</p></div></div>`;
}
