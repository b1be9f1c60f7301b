import type { SignerPlace, SignerState } from "../../../signing/envelopes/envelopes.ts";
import { facts, notice, statusBadge } from "../../ui/components.ts";
import { plainTime } from "../../ui/format.ts";
import { buttonForm, hiddenFields } from "../../ui/forms/button-form.ts";
import { checkbox, field, select } from "../../ui/forms/fields.ts";
import type { FormValues } from "../../ui/forms/form-body.ts";
import { signerWords } from "../../ui/orders/signer-words.ts";
import { type Html, html } from "../../ui/render.ts";
import { fieldWords } from "./field-words.ts";
import { authChoices, identified, languageChoices } from "./signer-choices.ts";
import { endDevices, signHere, sittingPart } from "./sitting.ts";

/** Values of the rejected signer form. */
export type RefusedSigner = { n: number; typed: FormValues };

export type SignersView = {
  submission: string;
  orderCode: string;
  signers: readonly SignerState[];
  /**
   * The places where the signers sign and fill something in: those in the prepared document, otherwise the fields that
   * the sender placed. The sender's fields are also used after a round that ended without all signatures. Null without
   * any place, and if the record of the signers was altered.
   */
  places: readonly SignerPlace[] | null;
  /** By the signer's number: how many other documents of the closing the same person has to sign. */
  elsewhere: ReadonlyMap<number, number>;
  /** True if the order is waiting for signatures. */
  open: boolean;
  /** True if the order is on hold, and waits for signatures again after the hold. */
  isOnHold: boolean;
  /**
   * True if the last round of signing ended without all signatures. The firm can then name the people for the next
   * round.
   */
  isNextRound: boolean;
  /** True if this installation sends text messages. */
  textCodes: boolean;
  refused?: RefusedSigner | undefined;
};

/** The signers of an order, their states, and the firm's actions. */
export function signersPart({
  submission,
  orderCode,
  signers,
  places,
  elsewhere,
  open,
  isOnHold,
  isNextRound,
  textCodes,
  refused,
}: SignersView): Html {
  return html`${signers.map((signer) => {
    const { tone, label } = signerWords(signer);
    const asked = askedAt(signer);
    const typed = refused?.n === signer.n ? refused.typed : undefined;
    return html`<section class="signer" aria-labelledby="signer-${signer.n}">
<h3 id="signer-${signer.n}">${signer.name} ${statusBadge(tone, label)}</h3>
${facts([
  ["Email", signer.email],
  ["Turn", String(signer.routing)],
  ["Identified by", identified[signer.auth]],
  ["Fields", placesWords(places, signer)],
  ["Asked", asked && plainTime(asked)],
  [signer.isSimulated ? "Signed, then discarded" : "Signed", signer.signedAt && plainTime(signer.signedAt)],
])}
${signer.proposal && notice("attention", "Somebody else should sign", `${signer.name} says that ${signer.proposal.name} (${signer.proposal.email}) should sign instead.`)}
${(isNextRound || (open && signer.signedAt === null)) && changes(`/dashboard/orders/${orderCode}/signers/${signer.n}`, { submission, open, textCodes, further: elsewhere.get(signer.n) ?? 0 }, signer, typed)}
</section>`;
  })}${(open || isOnHold) && sittingPart(`/dashboard/orders/${orderCode}`, signers, open ? signHere : endDevices)}`;
}

/**
 * When the signer was asked to sign; null if not yet. A link that was created after the signature doesn't count,
 * because it opens only copies of the document.
 */
const askedAt = ({ issuedAt, signedAt }: SignerState): Date | null =>
  issuedAt !== null && (signedAt === null || issuedAt <= signedAt) ? issuedAt : null;

/** A signer's places in words; null for a signer who signed elsewhere or has no place. */
function placesWords(places: SignersView["places"], { n, takenIn }: SignerState): string | null {
  if (takenIn) return null;
  if (places === null) return "In the document’s own fields or tags for signatures. Without them, on an added page";
  const own = places.filter(({ signer }) => signer === n);
  const inDocument = own.filter(({ isAdded }) => !isAdded);
  const added = own.find(({ isAdded }) => isAdded);
  const words = [
    ...(inDocument.length > 0 ? [fieldWords(inDocument)] : []),
    ...(added
      ? [`${inDocument.length > 0 ? "signs" : "Signs"} on page ${added.page}, which was added for signatures`]
      : []),
  ];
  return words.join("; ") || null;
}

function changes(
  path: string,
  {
    submission,
    open,
    textCodes,
    further,
  }: Pick<SignersView, "submission" | "open" | "textCodes"> & { further: number },
  { n, name, status, issuedAt, proposal, signingUrl }: SignerState,
  typed?: FormValues,
): Html {
  const about = { about: name, kind: "quiet-button", fields: { submission } };
  const form = `signer-${n}`;
  const signLink = signingUrl && html`<a class="button" href="${signingUrl}">Sign as ${name}</a>`;
  const sendButton =
    status === "locked"
      ? buttonForm(`${path}/unlock`, "Unlock with a new link", about)
      : issuedAt !== null && buttonForm(`${path}/remind`, "Send a reminder", about);
  const effect = open
    ? `The link of ${name} to this document stops working at once.`
    : "The next round goes to the new person.";
  return html`${open && html`<div class="button-row">${signLink}${sendButton}</div>`}
<details class="replace-signer"${typed && html` open`}><summary>Have somebody else sign instead<span class="visually-hidden"> of ${name}</span></summary>
<form class="form" method="post" action="${path}/replace">
${hiddenFields({ submission })}<p class="hint">${effect}${open && issuedAt !== null && " The new person is emailed a link of their own."}</p>
${field({ form, name: "name", label: "Name", required: true, maxLength: 200, value: typed?.["name"] ?? proposal?.name })}
${field({ form, name: "email", type: "email", label: "Email", required: true, maxLength: 254, value: typed?.["email"] ?? proposal?.email })}
${select({ form, name: "language", label: "Language", value: typed?.["language"], options: [asBefore, ...languageChoices] })}
${select({ form, name: "auth", label: "Identified by", value: typed?.["auth"], options: [asBefore, ...authChoices(textCodes)] })}
${textCodes && field({ form, name: "phone", type: "tel", label: "Mobile number", maxLength: 40, hint: "Only with a code by text message." })}
${field({ form, name: "access_code", label: "Access code", maxLength: 64, autocomplete: "off", hint: "Only with an access code: tell it to the person yourself. We keep no copy that can be read." })}
${
  further > 0 &&
  checkbox({
    form,
    name: "everywhere",
    label: `Also in ${further === 1 ? "the other document" : `the ${further} other documents`} of this closing that ${name} has to sign`,
    checked: typed === undefined || typed["everywhere"] === "on",
    hint: `Without it, the link of ${name} still opens ${further === 1 ? "that one" : "those"}.`,
  })
}
<div class="form-actions"><button type="submit" class="quiet-button">Replace ${name}</button></div>
</form></details>`;
}

const asBefore = { value: "", label: "As before" };
