import type { ProofRecord } from "../../evidence/proof-passports/proof-passports.ts";
import type { RetentionPlan } from "../../kernel/retention/retention.ts";
import { facts } from "./components.ts";
import { time } from "./format.ts";
import { type Html, html } from "./render.ts";
import { proofRetention } from "./retention.ts";

/** The times that independent parties attest. */
export function timesOf({ timeStamp, anchor, log }: ProofRecord): Html {
  const stamped = timeStamp && html`${time(timeStamp.at)}, by ${timeStamp.authority}`;
  const anchored =
    anchor &&
    (anchor.status === "confirmed"
      ? html`Confirmed by a Bitcoin block; submitted to ${anchor.calendar} on ${time(anchor.submittedAt)}`
      : html`Submitted to ${anchor.calendar} on ${time(anchor.submittedAt)}; not yet confirmed by a Bitcoin block`);
  return facts([
    ["Time stamp (RFC 3161)", stamped ?? "None: the time of sealing is stated by this service alone"],
    ["OpenTimestamps", anchored ?? "None"],
    ["Transparency log", log ? logWords(log) : null],
  ]);
}

/** Says in plain words if the transparency log includes a seal yet, and how many witnesses confirmed it. */
export function logWords({ state, cosignatures, witnesses }: NonNullable<ProofRecord["log"]>): string {
  const all = witnesses > cosignatures ? `${cosignatures} of ${witnesses}` : String(cosignatures);
  const nouns = all === "1" ? "independent witness" : "independent witnesses";
  const seen = cosignatures > 0 ? ` ${all} ${nouns} signed that they saw it there.` : "";
  switch (state) {
    case "queued":
      return "Waiting to be entered, which takes some seconds.";
    case "logged":
      return `Entered in a public list that nobody can change unseen.${seen}`;
    case "witnessed":
      return `Entered in a public list that nobody can change unseen.${seen || " Its witnesses signed that they saw it there."}`;
    case "anchored":
      return `Entered in a public list that nobody can change unseen, and anchored: independent parties confirmed when.${seen}`;
  }
}

/**
 * Links to the sealed PDF if it is stored, to the evidence zip, and to the proof certificate.
 * @param certificate the URL of the proof certificate, for members of the firm
 */
export function downloads(record: ProofRecord, plan: RetentionPlan, certificate: string): Html {
  const { verifyCode, documentKept } = record;
  const retention = proofRetention(plan, record);
  const api = `/api/passport/verify/${verifyCode}`;
  return html`<ul class="links">
${
  documentKept
    ? html`<li><a href="${api}/document" download="sealed-${verifyCode.slice(0, 6)}.pdf">Sealed PDF</a><p>The document with its seal, exactly as it was sealed.${retention && html` ${retention}`}</p></li>`
    : html`<li><span>Sealed PDF</span><p>${retention ?? "We do not keep it."} Ask the firm that had it sealed.</p></li>`
}
<li><a href="${api}/evidence" download="evidence-${verifyCode.slice(0, 6)}.zip">Evidence</a><p>The time-stamp token, proof, certificates, and instructions, in a zip file.</p></li>
<li><a href="${certificate}" download="certificate-${verifyCode.slice(0, 6)}.pdf">Certificate (PDF)</a><p>A sealed page for the file: what was sealed, when, and how to check it.</p></li>
</ul>`;
}
