import { usStates } from "../../../orders/pricing/pricing.ts";
import {
  certificateFacts,
  expiriesOf,
  expiringWords,
  isConfirmedFor,
  type Notary,
  notaryStatuses,
  type Proof,
  type SealPicture,
  sealTexts,
  stageOf,
  type Typed,
} from "../../../signing/notaries/notaries.ts";
import { card, codeText, emptyState, facts, pageHead, statusBadge } from "../../ui/components.ts";
import { ifUtc, shortTime } from "../../ui/format.ts";
import { hiddenFields } from "../../ui/forms/button-form.ts";
import { errorSummary, field, select, textArea } from "../../ui/forms/fields.ts";
import { records } from "../../ui/records.ts";
import { type Html, html } from "../../ui/render.ts";
import { rulesCard, type StatesView } from "./rules-card.ts";

type Candidate = { id: string; name: string; email: string };

export const notaryPath = (id: string, rest = ""): string => `/operator/notaries/${id}${rest}`;

/**
 * The state of a notary's commission and registrations: one badge for "suspended" or "in date", or a badge for each
 * date that is near or past.
 */
const dateState = (notary: Notary, now: Date): Html => {
  if (notary.status === "suspended") return statusBadge("stopped", "Suspended");
  const near = expiriesOf(notary).filter((expiry) => stageOf(expiry, now) !== "later");
  if (near.length === 0) return statusBadge("done", "In date");
  return html`${near.map((expiry) => {
    const ended = stageOf(expiry, now) === "expired";
    const words = `${expiringWords[expiry.what]} ${ended ? "expired" : "expires"} ${expiry.expiresOn}`;
    return statusBadge(ended ? "stopped" : "attention", words);
  })}`;
};

export function notariesBody(
  {
    notaries,
    candidates,
    now,
    mayChange,
    states,
  }: {
    notaries: readonly Notary[];
    candidates: readonly Candidate[];
    now: Date;
    mayChange: boolean;
    states: StatesView;
  },
  typed: Typed = {},
  problem?: string,
): Html {
  const list =
    notaries.length === 0
      ? emptyState("No notaries", "An operator with the role notary is put on record here.")
      : records(
          "Notaries on record",
          ["Notary", "State", "Commission to", "Standing"].map((label) => ({ label })),
          notaries.map((notary) => [
            html`<a href="${notaryPath(notary.id)}">${notary.commissionName}</a>`,
            notary.state,
            notary.commissionExpires,
            dateState(notary, now),
          ]),
        );
  return html`${pageHead("Notaries", "Commissions on record. Notaries and administrators are mailed about 60 days before a commission, a registration or a certificate expires. After it has expired, it blocks acts.")}
${errorSummary(problem)}
<div class="panels">${card("notaries", "On record", list)}
${mayChange && card("add", "Add a notary", candidates.length === 0 ? html`<p>Nobody with the role notary is without a record. Give somebody the role first.</p>` : commissionForm("/operator/notaries", typed, candidates))}
${rulesCard(states)}</div>`;
}

type NotaryView = {
  notary: Notary;
  proofs: readonly Proof[];
  seal: SealPicture | null;
  now: Date;
  mayChange: boolean;
  /** The request for the passkey that uploads require; false when the operator needs to show none now. */
  passkeyFirst: Html | false;
};

export function notaryBody(view: NotaryView, typed: Typed, problem?: string): Html {
  const { notary, now, mayChange } = view;
  const certificate = notary.certificate === null ? null : certificateFacts(notary.certificate);
  const about = facts([
    ["Operator", `${notary.operatorName} (${notary.email})`],
    ["Standing", dateState(notary, now)],
    ["Certificate of", certificate?.subject ?? null],
    ["Issued by", certificate?.issuer ?? null],
    ["SHA-256", certificate && codeText(certificate.fingerprintSha256, "the fingerprint")],
    ["Counts", certificate && html`${shortTime(certificate.notBefore)} to ${shortTime(certificate.notAfter)}${ifUtc}`],
  ]);
  return html`${pageHead(notary.commissionName, `${notary.county}, ${notary.state}`)}
${errorSummary(problem)}
${mayChange && view.passkeyFirst}
<div class="panels">${card("about", "Record", about)}
${mayChange && card("change", "Change the record", commissionForm(notaryPath(notary.id), typed))}
${card("seal", "Seal", sealPart(view))}
${card("proofs", "Proofs", proofsPart(view))}
${card(
  "journal",
  "Journal",
  html`<p>That you read it is logged.</p>
<p><a href="${notaryPath(notary.id, "/journal.json")}" download>Copy as JSON</a> · <a href="${notaryPath(notary.id, "/journal.pdf")}" download>Copy as a sealed PDF</a></p>`,
)}
${card("recordings", "Recordings", html`<p><a href="/operator/notary/recordings?notary=${notary.id}">Recordings of this notary</a></p>`)}</div>`;
}

/** The picture of the notary's seal. A person must compare it with the commission before signature blocks use it. */
function sealPart({ notary, seal, mayChange }: NotaryView): Html {
  const upload =
    mayChange &&
    html`<form class="form" method="post" action="${notaryPath(notary.id, "/seal")}" enctype="multipart/form-data">
<div class="form-field"><label for="seal-file">Picture of the seal</label><p class="hint" id="seal-hint">PNG or JPEG. It is made to fit 600 by 300 pixels, and drawn into the notary’s block when it is confirmed.</p>
<input type="file" id="seal-file" name="document" accept="image/png,image/jpeg,.png,.jpg,.jpeg" required aria-describedby="seal-hint"></div>
<div class="form-actions"><button type="submit" class="secondary">Add the picture</button></div></form>`;
  if (!seal) return html`<p>No picture: blocks have words alone.</p>${upload}`;
  const isConfirmed = isConfirmedFor(seal, notary);
  const picture = html`<p><img width="180" src="data:image/png;base64,${seal.png.toString("base64")}" alt="The seal of ${notary.commissionName}"></p>`;
  const texts = facts([
    ["Name", notary.commissionName],
    ["State and county", `${notary.state}, ${notary.county}`],
    ["Number", notary.commissionNumber],
    ["Last day", notary.commissionExpires],
  ]);
  if (isConfirmed) return html`${picture}<p>Confirmed for this commission: blocks show it.</p>${upload}`;
  const hidden = { seal: seal.id, shown: sealTexts(notary) };
  return html`${picture}<p>Blocks do not show it yet. Compare each text in the picture with the commission, and confirm that they are the same.</p>${texts}
${mayChange && html`<form class="form" method="post" action="${notaryPath(notary.id, "/seal/confirm")}">${hiddenFields(hidden)}<div class="form-actions"><button type="submit">The picture says the same</button></div></form>`}
${upload}`;
}

function proofsPart({ notary: { id }, proofs, mayChange }: NotaryView): Html {
  const list = proofs.map(
    (proof) =>
      html`<li><a href="${notaryPath(id, `/proofs/${proof.id}`)}" download>${proof.label}</a>, ${proof.bytes} bytes, <code>${proof.sha256.slice(0, 12)}…</code></li>`,
  );
  return html`${proofs.length > 0 ? html`<ul>${list}</ul>` : html`<p>None.</p>`}
${
  mayChange &&
  html`<form class="form" method="post" action="${notaryPath(id, "/proofs")}" enctype="multipart/form-data">
${field({ form: "proof", name: "label", label: "What it proves", required: true, maxLength: 120 })}
<div class="form-field"><label for="proof-file">File</label><p class="hint" id="proof-hint">A PDF of at most 35 MB.</p>
<input type="file" id="proof-file" name="document" accept="application/pdf,.pdf" required aria-describedby="proof-hint"></div>
<div class="form-actions"><button type="submit" class="secondary">Add the proof</button></div></form>`
}`;
}

function commissionForm(action: string, typed: Typed, candidates?: readonly Candidate[]): Html {
  const part = (name: string, label: string) => ({ name, label, value: typed[name] ?? "" });
  const people = candidates?.map(({ id, name, email }) => ({ value: id, label: `${name} (${email})` }));
  return html`<form class="form" method="post" action="${action}">
${people && select({ ...part("operatorId", "Operator"), required: true, options: people })}
${field({ ...part("commissionName", "Name on the commission"), required: true, maxLength: 200 })}
<div class="form-pair">${select({ ...part("state", "State"), required: true, options: [...usStates].map(([value, { name }]) => ({ value, label: name })) })}
${field({ ...part("county", "County"), required: true, maxLength: 200 })}</div>
<div class="form-pair">${field({ ...part("commissionNumber", "Commission number"), required: true, maxLength: 60 })}
${field({ ...part("ronRegistration", "Registration for remote acts"), maxLength: 60 })}</div>
<div class="form-pair">${field({ ...part("commissionStarts", "First day of the commission"), type: "date" })}
${field({ ...part("commissionExpires", "Last day of the commission"), required: true, type: "date" })}</div>
<div class="form-pair">${field({ ...part("ronStarts", "First day of the registration"), type: "date" })}
${field({ ...part("ronExpires", "Last day of the registration"), type: "date" })}</div>
${field({ ...part("tool", "Tool for acts by audio and video"), maxLength: 200 })}
${textArea({ ...part("certificate", "The notary’s certificate (PEM)"), rows: 5, hint: "The one that the notary signs documents with, held by the notary alone." })}
${textArea({ ...part("certificateChain", "Certificates of its issuers (PEM)"), rows: 3 })}
${select({ ...part("status", "Status"), required: true, options: notaryStatuses.map((value) => ({ value, label: value === "active" ? "Active" : "Suspended" })) })}
<div class="form-actions"><button type="submit">Save the record</button></div></form>`;
}
