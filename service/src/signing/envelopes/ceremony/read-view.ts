import { correctionsOf, currentEmail, dateText, type NoticesOf } from "../../../orders/order/order.ts";
import { zoneOf, zoneOrDefault } from "../../../orders/payments/payments.ts";
import type { NewestTexts } from "../consent/texts.ts";
import type { Naming } from "../lifecycle/distinct-names.ts";
import { ownFields, type PreparedField } from "../pdf/fields.ts";
import type { EnvelopeDeps } from "../records/deps.ts";
import { findRevisions, type Revision } from "../records/revisions.ts";
import { paperAsker } from "../records/trail.ts";
import { endingOf } from "../texts/texts.ts";
import { copiesOf, type WasSignedAgain } from "./copies.ts";
import { canSendWayIn } from "./identify.ts";
import { isSignedElsewhere, type Linked, stateOf } from "./links.ts";
import { referencedFields } from "./referenced-fields.ts";
import { consentOf, sessionOf } from "./session.ts";
import { senderValue, shownField } from "./shown-field.ts";
import { documentsOnDevice } from "./sitting.ts";
import type { SigningView } from "./view.ts";

/** The dependencies that the view of a link needs in addition to those of envelopes. */
export type ViewDeps = Naming & {
  /** The newest consent text for each kind of signing page. */
  consentTexts: NewestTexts;
  noticesOf: NoticesOf;
  wasSignedAgain: WasSignedAgain;
};

async function shownFields({ db, clock }: EnvelopeDeps, linked: Linked) {
  const { envelope, signer } = linked;
  const { language } = signer;
  // If the firm's time zone was altered in the database, a person who only reads the page sees dates in the default
  // zone. For a signer who can sign now, the altered zone is an error.
  const zone = await (stateOf(linked) === "ready" ? zoneOf : zoneOrDefault)(db, envelope.partnerId);
  const now = (format: PreparedField["format"]) => dateText(clock(), { format, language, zone });
  return ownFields(envelope.fields, signer.n).map((field) => shownField(field, now));
}

/** Reads the facts that the signing page shows to the holder of a link. */
export async function readView(
  deps: EnvelopeDeps,
  { noticesOf, consentTexts, wasSignedAgain, ...naming }: ViewDeps,
  linked: Linked,
): Promise<SigningView> {
  const { envelope, signer, signers, identified, embed, sitting, room } = linked;
  const state = stateOf(linked);
  const { session, nameOf } = await sessionOf(deps.db, naming, linked);
  const consent = consentOf({ consentTexts }, linked);
  const signedElsewhere = isSignedElsewhere(linked);
  const signedAtOf = ({ signedAt }: Pick<Linked["signer"], "signedAt">) => (signedElsewhere ? null : signedAt);
  const mayRead = state === "ready" || state === "waiting" || state === "signed";
  const head = mayRead ? (await findRevisions(deps.db, envelope.id)).at(-1) : undefined;
  return {
    state,
    isSimulated: envelope.isSimulated,
    environment: envelope.environment,
    orderCode: envelope.orderCode,
    title: nameOf(envelope),
    reference: envelope.externalReference,
    partnerId: envelope.partnerId,
    partnerName: envelope.partnerName,
    partnerContact: envelope.partnerContact,
    signer: {
      n: signer.n,
      name: signer.name,
      email: signer.email,
      mailedTo: signer.signedAt ? currentEmail(await correctionsOf(deps.db, envelope.orderId), signer) : signer.email,
      phoneEnding: signer.phone && endingOf(signer.phone),
      language: signer.language,
    },
    signers: signers.map((each) => ({ n: each.n, name: each.name, signed: signedAtOf(each) !== null })),
    expiresAt: envelope.expiresAt,
    frame: embed?.origin ?? null,
    host: sitting?.host ?? null,
    device: await documentsOnDevice(deps.db, linked, nameOf),
    room: room && { maySign: room.maySign, isRemote: room.isRemote },
    session,
    step: signer.auth === "link" ? null : signer.auth,
    canSendWayIn: canSendWayIn(linked),
    document: head ? shownDocument(envelope, head) : null,
    notices: mayRead ? noticesOf({ ...envelope, code: envelope.orderCode }) : [],
    fields: mayRead ? await shownFields(deps, linked) : [],
    referenced: mayRead ? await referencedFields(deps, linked) : [],
    senderValues: mayRead ? envelope.fields.flatMap(senderValue) : [],
    consent: consent && { version: consent.version, at: new Date(consent.at) },
    signedAt: signedAtOf(signer),
    askedForPaper: state === "declined" && (await paperAsker(deps.db, envelope.id)) === signer.n,
    signedElsewhere,
    copies: (await copiesOf({ ...deps, wasSignedAgain }, linked)).map(({ kind, isSimulated }) => ({
      kind,
      isSimulated,
    })),
    verifyCode: identified && envelope.outcome === "Completed" ? envelope.verifyCode : null,
  };
}

const shownDocument = (
  { pages, hasSignaturePage }: Linked["envelope"],
  { number, bytes, sha256 }: Revision,
): SigningView["document"] => ({ revision: number, bytes, sha256, pages, hasSignaturePage });
