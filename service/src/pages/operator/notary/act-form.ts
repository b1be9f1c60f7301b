import {
  actKinds,
  actModes,
  actWords,
  countryChoices,
  type FactRules,
  type Faults,
  type identityBases,
  maxPrincipals,
  modeWords,
  oathKinds,
  principalField,
  principalsIn,
  type Typed,
} from "../../../signing/notaries/notaries.ts";
import { type Choice, checkbox, field, select, textArea } from "../../ui/forms/fields.ts";
import { type Html, html } from "../../ui/render.ts";

const labels: Readonly<Record<string, string>> = {
  act: "Act",
  mode: "How",
  document: "Kind of document",
  venue_state: "State where you act",
  venue_county: "County where you act",
  started_at: "Start",
  ended_at: "End",
  witnesses: "Witnesses",
  tool: "Tool of the session",
  session_id: "Session id",
  recording_sha256: "SHA-256 of the recording",
  recording_at: "Where the recording is kept",
  recording_until: "Until when",
  signed_again: "Everybody signed the print again, before me",
  fee: "Fee in dollars",
  notes: "Notes",
  name: "Full name",
  address: "Full address",
  basis: "How you know who it is",
  knows: "How, and for how long, you have known them",
  city: "City where they were",
  region: "State or province where they were",
  country: "Country where they were",
  witness_name: "Credible witness: full name",
  witness_address: "Credible witness: full address",
  witness_oath: "Credible witness: oath or affirmation",
  witness_knows: "Credible witness: how, and for how long, they know the principal",
  type: "Kind of credential",
  issuer: "Issued by",
  issued: "Issued on",
  expires: "Expires on",
  result: "Reference of the check’s result",
  last4: "Last four characters of its number",
};

/** The label of a field in the form for an act. */
export function actLabel(name: string, zone: string): string {
  if (name === "started_at" || name === "ended_at") return `${labels[name]} (${zone})`;
  const [, n, rest] = /^principal_(\d+)_(.+)$/.exec(name) ?? [];
  return n && rest ? `Principal ${n}: ${labels[rest] ?? rest}` : (labels[name] ?? name);
}

const signedAgainOnPaperHint =
  "For a jurat or a witnessed signature on paper: the document was signed before, and you must see the signatures. On this device, or by audio and video here, the steps of the act have everybody sign again.";

const basisWords = {
  credential: "Credential",
  personal_knowledge: "Personal knowledge",
  credible_witness: "Credible witness",
} as const;

const choices = <T extends string>(values: readonly T[], words: Readonly<Record<T, string>>): Choice[] =>
  values.map((value) => ({ value, label: words[value] }));

type Part = (name: string) => { name: string; label: string; value: string; error: string | undefined };

type ActFormView = {
  typed: Typed;
  faults: Faults;
  zone: string;
  rules: FactRules;
  /**
   * True to show the checkbox that says that the signers signed again on paper. It is shown if the document was signed
   * before, no act is open, and an act on paper is possible.
   */
  mayBeAgain: boolean;
};

/** The form for an act; its values become the journal entry. */
export function actForm(action: string, { typed, faults, zone, rules, mayBeAgain }: ActFormView, people: number): Html {
  const part: Part = (name) => ({ name, label: actLabel(name, zone), value: typed[name] ?? "", error: faults[name] });
  const remote = "For acts by audio and video.";
  const must = { required: "sometimes" } as const;
  // One row more than needed, so that people can be added without JavaScript.
  const principals = Math.min(maxPrincipals, Math.max(people, principalsIn(typed)) + 1);
  return html`<form class="form" method="post" action="${action}">
<fieldset><legend>Act</legend>
<div class="form-pair">${select({ ...part("act"), required: true, options: choices(actKinds, actWords) })}
${select({ ...part("mode"), required: true, options: choices(actModes, modeWords) })}</div>
${field({ ...part("document"), required: true, maxLength: 200 })}
<div class="form-pair">${field({ ...part("venue_state"), required: true, maxLength: 2 })}
${field({ ...part("venue_county"), required: true, maxLength: 200 })}</div>
<div class="form-pair">${field({ ...part("started_at"), required: true, hint: "Like 2026-01-31T14:05." })}
${field({ ...part("ended_at"), required: true, hint: "Like 2026-01-31T14:35." })}</div>
${mayBeAgain && checkbox({ ...part("signed_again"), value: "on", checked: typed["signed_again"] === "on", hint: signedAgainOnPaperHint })}
</fieldset>
${Array.from({ length: principals }, (_, index) => principalPart(part, index + 1, index >= people, rules))}
<fieldset><legend>Session and recording</legend>
<div class="form-pair">${field({ ...part("tool"), ...must, hint: remote, maxLength: 200 })}
${field({ ...part("session_id"), ...must, hint: remote, maxLength: 200 })}</div>
${field({ ...part("recording_sha256"), ...must, hint: `${remote} For a recording of this service, the hash of its chain’s last line, which is filled in. For another, what sha256sum prints of the file.`, maxLength: 64 })}
<div class="form-pair">${field({ ...part("recording_at"), ...must, hint: remote, maxLength: 200 })}
${field({ ...part("recording_until"), ...must, hint: remote, type: "date" })}</div>
</fieldset>
<fieldset><legend>Further</legend>
${textArea({ ...part("witnesses"), rows: 2, maxLength: 2000, hint: "Others who were present: name and address, one on each line." })}
${field({ ...part("fee"), required: true, maxLength: 10, hint: "What you charged for the act: 0 for nothing." })}
${textArea({ ...part("notes"), rows: 2, maxLength: 2000 })}
</fieldset>
<div class="form-actions"><button type="submit">Note the act</button></div>
</form>`;
}

/**
 * The form fields of one principal.
 * @param rules the facts that the notary's U.S. state requires
 */
export function principalPart(part: Part, n: number, isSpare: boolean, rules: FactRules): Html {
  const at = (name: string) => part(principalField(n, name));
  const must = { required: isSpare ? ("sometimes" as const) : (true as const) };
  const sometimes = { required: "sometimes" } as const;
  return html`<fieldset><legend>Principal ${n}${isSpare && html` <span class="optional">(leave empty if there is none)</span>`}</legend>
<div class="form-pair">${field({ ...at("name"), ...must, maxLength: 200 })}
${field({ ...at("address"), ...must, maxLength: 200 })}</div>
${select({ ...at("basis"), required: true, options: choices(["credential", "personal_knowledge", "credible_witness"] as const satisfies readonly (typeof identityBases)[number][], basisWords) })}
${rules.knows && field({ ...at("knows"), ...sometimes, maxLength: 500, hint: "With personal knowledge, for acts by audio and video." })}
${rules.place && placePart(at, sometimes)}
<p class="hint">For a credential, the next fields are about it; for a credible witness, about the credential of the witness. Never enter its whole number.</p>
<div class="form-pair">${field({ ...at("type"), ...sometimes, maxLength: 200 })}
${field({ ...at("issuer"), ...sometimes, maxLength: 200 })}</div>
<div class="form-pair">${field({ ...at("issued"), ...sometimes, type: "date" })}
${field({ ...at("expires"), ...sometimes, type: "date" })}</div>
<div class="form-pair">${field({ ...at("result"), ...sometimes, maxLength: 120 })}
${field({ ...at("last4"), maxLength: 4 })}</div>
<div class="form-pair">${field({ ...at("witness_name"), ...sometimes, maxLength: 200 })}
${field({ ...at("witness_address"), ...sometimes, maxLength: 200 })}</div>
<div class="form-pair">${select({ ...at("witness_oath"), options: ["", ...oathKinds].map((value) => ({ value, label: value })) })}
${field({ ...at("witness_knows"), maxLength: 500 })}</div>
</fieldset>`;
}

type At = (name: string) => ReturnType<Part>;

/** The location of a principal, for an act by audio and video. */
const placePart = (at: At, must: { required: "sometimes" }): Html =>
  html`<div class="form-pair">${field({ ...at("city"), ...must, maxLength: 80 })}
${field({ ...at("region"), ...must, maxLength: 80 })}</div>
${select({ ...at("country"), ...must, options: [{ value: "", label: "" }, ...countryChoices("en")], hint: "For acts by audio and video." })}`;

/** The fields for a credible witness who has not taken the oath yet. */
export const witnessPart = (part: Part, n: number): Html => {
  const at = (name: string) => ({ ...part(principalField(n, name)), required: true, form: "witness" }) as const;
  const pair = (one: Html, other: Html) => html`<div class="form-pair">${one}${other}</div>`;
  return html`${pair(field({ ...at("witness_name"), maxLength: 200 }), field({ ...at("witness_address"), maxLength: 200 }))}
${pair(field({ ...at("type"), maxLength: 200 }), field({ ...at("issuer"), maxLength: 200 }))}
${pair(field({ ...at("issued"), type: "date" }), field({ ...at("expires"), type: "date" }))}
${field({ ...at("last4"), required: false, maxLength: 4 })}`;
};
