import {
  actKinds,
  actWords,
  type Claimed,
  type FactRules,
  type IdentityState,
  noFacts,
  oathKinds,
  principalField,
  type SheetView,
  type Turn,
  type Typed,
  turnWords,
  witnessOf,
} from "../../../signing/notaries/notaries.ts";
import { card, facts, notice, pageHead } from "../../ui/components.ts";
import { shortCode, time } from "../../ui/format.ts";
import { buttonForm, hiddenFields } from "../../ui/forms/button-form.ts";
import { errorSummary, field, select } from "../../ui/forms/fields.ts";
import { type Html, html } from "../../ui/render.ts";
import { actLabel, principalPart, witnessPart } from "./act-form.ts";
import { utc } from "./local-times.ts";
import { documentWords, orderPath } from "./order-path.ts";

const sheetPath = (code: string, rest = ""): string => orderPath(code, `/sheet${rest}`);

/** Tells the notary, who has not chosen an act yet, that the document is already signed. */
export const signedAgainHint =
  "The document is signed. In an acknowledgment, the signers acknowledge these signatures. For a jurat or a witnessed signature, everybody signs the original document again before you: the present signatures are not part of that act.";

/** The card on an order's page that begins an act in person, or links to the open one. */
export function inPresencePart(
  { order, eligibility }: Claimed,
  view: SheetView | null,
  hasPasskey: boolean,
  isSigned: boolean,
): Html {
  if (view)
    return html`<p>${actWords[view.sheet.script.act]}: ${view.open ? html`the next step is <strong>${turnWords(view.sheet, view.open)}</strong>.` : "all steps are marked."}</p>
<p><a class="button" href="${sheetPath(order.code)}">Open the act</a></p>`;
  const offered = actKinds.filter((kind) => eligibility.rules.acts.value.includes(kind));
  return html`<p>You and the signers are in one room, at this device. The steps come one after the other; signers sign on this device, and you get it back with ${hasPasskey ? "your passkey or a PIN" : "a PIN"}.</p>
<form class="form" method="post" action="${sheetPath(order.code)}">
${select({ form: "sheet", name: "act", label: "Act", required: true, options: offered.map((value) => ({ value, label: actWords[value] })), hint: isSigned ? signedAgainHint : "" })}
${field({
  form: "sheet",
  name: "pin",
  label: "PIN to get the device back",
  required: hasPasskey ? "sometimes" : true,
  type: "password",
  inputMode: "numeric",
  maxLength: 12,
  autocomplete: "off",
  hint: `6 to 12 digits, for this act alone.${hasPasskey ? " Leave it empty to use your passkey." : ""}`,
})}
<div class="form-actions"><button type="submit">Begin the act</button></div></form>`;
}

type Shown = {
  claimed: Claimed;
  view: SheetView;
  identities: readonly IdentityState[];
  typed: Typed;
  problem: string | undefined;
};

/** The run sheet (the list of steps) of an act in person. */
export function sheetBody(shown: Shown): Html {
  const { claimed, view, problem } = shown;
  const { order } = claimed;
  const { sheet } = view;
  return html`${pageHead(`${actWords[sheet.script.act]}, in person`, html`Order <a href="${orderPath(order.code)}">${shortCode(order.code)}</a>, ${documentWords(claimed) ?? "a document to notarize"}`)}
${errorSummary(problem)}
<div class="panels">
${card("open-step", "Now", openPart(shown))}
${card("steps", "Steps", stepList(view))}
${card(
  "about-act",
  "This act",
  facts([
    ["Opened", time(sheet.openedAt)],
    ["Who appears", sheet.people.map(({ name }) => name).join(", ")],
    ["How", "in person, on this device: no camera, no recording"],
    ["Steps as of", sheet.script.version],
  ]),
)}
${card(
  "end-act",
  "End without an act",
  html`<p>Signatures made on this device no longer count, and the next act begins with the original document. To refuse the order, use “No act” on <a href="${orderPath(order.code, "#refusal")}">its page</a>.</p>
${buttonForm(sheetPath(order.code, "/end"), "End this act", { kind: "danger" })}`,
)}
</div>`;
}

export const stepList = ({ turns, sheet }: SheetView): Html =>
  html`<ol class="run-sheet">${turns.map(({ turn, isMarked }) => html`<li class="${isMarked ? "done" : "waiting"}">${turnWords(sheet, turn)}: <span class="quiet-text">${isMarked ? "done" : "not yet"}</span></li>`)}</ol>`;

/**
 * The heading of the open step, and the words that the notary speaks, also in Spanish for a signer who speaks Spanish.
 */
export function spokenPart({ turns, sheet }: SheetView, open: Turn): Html {
  const spoken = turns.find(({ turn }) => turn.step === open.step && turn.signer === open.signer);
  return html`<h3>${turnWords(sheet, open)}</h3><p class="spoken">${spoken?.words}</p>${spoken?.spanish && html`<p class="spoken" lang="es">${spoken.spanish}</p>`}`;
}

function openPart({ claimed, view, identities, typed }: Shown): Html {
  const { code } = claimed.order;
  const { open, sheet, handOver, obstacle } = view;
  if (handOver)
    return html`${notice("attention", "The device is in a signer’s hands", html`Since ${time(handOver.givenAt)}. Take it back when you have it in your hands again.`)}
${buttonForm(sheetPath(code, "/back"), "I have the device back")}`;
  if (!open) return html`<p>All steps are marked.</p>`;
  const { step, signer } = open;
  const lead = spokenPart(view, open);
  if (step.name === "notary_signs")
    return html`${lead}<p>Note the act: its form is filled from this sheet. Look at it, complete it, and sign in the page.</p>
<p><a class="button" href="${orderPath(code, "#act")}">Note the act and sign</a></p>`;
  if (step.by === "signer")
    return html`${lead}<p>Press the button, then hand the device over. It shows the document and nothing of your desk until it is back.</p>
${buttonForm(sheetPath(code, "/hand-over"), `Hand to ${sheet.people.find(({ n }) => n === signer)?.name ?? "the signer"}`)}`;
  const hidden = { step: step.name, ...(signer !== null && { signer: String(signer) }) };
  return html`${lead}${obstacle && notice("attention", "Not open yet", html`${obstacle}`)}
${step.name === "identify" && checkPart(identities.find(({ person }) => person === signer))}
<form class="form" method="post" action="${sheetPath(code, "/mark")}">${hiddenFields(hidden)}
${step.name === "identify" && signer !== null && identityFields(sheet.people, signer, typed, noFacts)}
${step.name !== "identify" && step.choices.length > 0 && select({ form: "mark", name: "choice", label: "How", required: true, value: typed["choice"], options: step.choices.map((value) => ({ value, label: capital(value) })) })}
<div class="form-actions"><button type="submit">Mark as done</button></div></form>
${step.name === "identify" && signer !== null && witnessForms(sheetPath(code, "/witness"), view, signer, typed)}`;
}

/**
 * An act in person relies on no online identity check. If the notary can't rely on a requested check, the reason is
 * shown nevertheless.
 */
const checkPart = (found: IdentityState | undefined): Html | "" =>
  found?.check && found.problem !== null
    ? notice(
        "attention",
        "Identity check",
        html`${found.problem} An act in person doesn’t need this check, but look at it before you mark this step.`,
      )
    : "";

/**
 * The forms for a credible witness: first the witness's own identity, then the oath, then the confirmation of the
 * signer's identity.
 */
export function witnessForms(path: string, { sheet }: Pick<SheetView, "sheet">, n: number, typed: Typed): Html {
  const { identified, sworn } = witnessOf(sheet, n);
  const signer = sheet.people.find((each) => each.n === n)?.name ?? "the signer";
  const hidden = (part: string) => hiddenFields({ signer: String(n), part });
  const about = identified && `${identified.name}, ${identified.address}, by ${identified.credential.type}`;
  if (identified && sworn)
    return html`<h3>Credible witness</h3><p>${about}. By ${sworn.oath}: ${sworn.knows}</p>
<p>Choose “Credible witness” above to mark the identity of ${signer} by it.</p>`;
  if (identified)
    return html`<h3>Credible witness</h3><p>${about}.</p>
<p class="spoken">Do you swear, or affirm under the penalties of perjury, that you know ${signer}, that this is ${signer}, and that you have no interest in this document?</p>
<form class="form" method="post" action="${path}">${hidden("sworn")}
${select({ form: "sworn", name: "oath", label: "How", required: true, value: typed["oath"], options: oathKinds.map((value) => ({ value, label: capital(value) })) })}
${field({ form: "sworn", name: "knows", label: `How, and for how long, they know ${signer}`, required: true, maxLength: 500, value: typed["knows"] })}
<div class="form-actions"><button type="submit" class="secondary">The witness has sworn</button></div></form>`;
  const part = (name: string) => ({
    name,
    label: actLabel(name, utc).replace(/^Principal \d+: /, ""),
    value: typed[name] ?? "",
    error: undefined,
  });
  return html`<h3>Credible witness</h3><p>Somebody who knows ${signer} and neither signs nor notarizes. Identify them first, by a credential that is in date.</p>
<form class="form" method="post" action="${path}">${hidden("identified")}${witnessPart(part, n)}
<div class="form-actions"><button type="submit" class="secondary">The witness is identified</button></div></form>`;
}

export const capital = (text: string): string => `${text[0]?.toUpperCase() ?? ""}${text.slice(1).replaceAll("_", " ")}`;

export function identityFields(
  people: readonly { n: number; name: string }[],
  n: number,
  typed: Typed,
  rules: FactRules,
): Html {
  const name = people.find((each) => each.n === n)?.name ?? "";
  const part = (field: string) => ({
    name: field,
    label: actLabel(field, utc),
    value: typed[field] ?? (field === principalField(n, "name") ? name : ""),
    error: undefined,
  });
  return principalPart(part, n, false, rules);
}
