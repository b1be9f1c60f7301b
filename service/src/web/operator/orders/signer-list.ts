import type { SignerState } from "../../../envelopes/envelopes.ts";
import { statusBadge } from "../../ui/components.ts";
import { time } from "../../ui/format.ts";
import { buttonForm } from "../../ui/forms/button-form.ts";
import { signerWords } from "../../ui/orders/signer-words.ts";
import { type Html, html } from "../../ui/render.ts";

/** The signers of an order, where each stands, and what an operator does about their links. */
export const signerList = ({
  path,
  signers,
  mayWork,
}: {
  path: string;
  signers: readonly SignerState[];
  mayWork: boolean;
}): Html =>
  html`<ul class="plain-list">${signers.map((signer) => {
    const { n, name, email, status, signedAt } = signer;
    const { tone, label } = signerWords(signer);
    const about = `to ${name}`;
    const canRemind = mayWork && (status === "sent" || status === "viewed");
    return html`<li><strong>${name}</strong> <span class="breakable">${email}</span> ${statusBadge(tone, label)}${signedAt && html` ${time(signedAt)}`}
${canRemind && buttonForm(`${path}/signers/${n}/remind`, "Send the link again", { kind: "quiet-button", about })}${mayWork && status === "locked" && buttonForm(`${path}/signers/${n}/unlock`, "Unlock and send a new link", { kind: "quiet-button", about })}</li>`;
  })}</ul>`;
