import type { ProofRecord } from "../../proof-passports/proof-passports.ts";
import { facts } from "./components.ts";
import { time } from "./format.ts";
import { type Html, html } from "./render.ts";

/** What independent parties said of the time. */
export function timesOf({ timeStamp, anchor }: ProofRecord): Html {
  const stamped = timeStamp && html`${time(timeStamp.at)}, by ${timeStamp.authority}`;
  const anchored =
    anchor &&
    (anchor.status === "confirmed"
      ? html`Confirmed by a Bitcoin block; handed to ${anchor.calendar} on ${time(anchor.submittedAt)}`
      : html`Promised by ${anchor.calendar} on ${time(anchor.submittedAt)}; a block has not confirmed it yet`);
  return facts([
    ["Time stamp (RFC 3161)", stamped ?? "None was had: the time of sealing is this service’s word"],
    ["OpenTimestamps", anchored ?? "None was had"],
  ]);
}

/** Sealed PDF where it is kept, and evidence. */
export function downloads({ verifyCode, documentKept }: ProofRecord): Html {
  const api = `/api/passport/verify/${verifyCode}`;
  return html`<ul class="links">
${
  documentKept
    ? html`<li><a href="${api}/document" download="sealed-${verifyCode.slice(0, 6)}.pdf">Sealed PDF</a><p>The document with its seal, byte for byte.</p></li>`
    : html`<li><span>Sealed PDF</span><p>It is not kept here. Whoever had it sealed has it.</p></li>`
}
<li><a href="${api}/evidence" download="evidence-${verifyCode.slice(0, 6)}.zip">Evidence</a><p>Token, proof, certificates and instructions, in a zip.</p></li>
</ul>`;
}
