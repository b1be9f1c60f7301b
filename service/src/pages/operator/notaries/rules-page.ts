import { may, type Operator, soloWaitMinutes } from "../../../firms/operators/operators.ts";
import { usStates } from "../../../orders/pricing/pricing.ts";
import {
  actKinds,
  actModes,
  actWords,
  certificateField,
  certificateModes,
  modeWords,
  type NotaryRules,
  onlineForms,
  onlineNames,
  onlineText,
  type ProofMeans,
  proofingGap,
  type RuleChangeDeps,
  type ShownChange,
  type StateRules,
  sentenceModes,
  type Typed,
  termNames,
} from "../../../signing/notaries/notaries.ts";
import { card, emptyState, facts, notice, pageHead, statusBadge } from "../../ui/components.ts";
import { time } from "../../ui/format.ts";
import { askFirst } from "../../ui/forms/ask-first.ts";
import { buttonForm } from "../../ui/forms/button-form.ts";
import { checkbox, errorSummary, field, select, textArea } from "../../ui/forms/fields.ts";
import { records } from "../../ui/records.ts";
import { type Html, html } from "../../ui/render.ts";
import { originWords, readAt, termLabels } from "../notary/rule-words.ts";
import { rulesPath } from "./rules-card.ts";

export type RulesView = Pick<RuleChangeDeps, "refundApproval"> & {
  state: string;
  operator: Operator;
  rules: NotaryRules;
  inForce: StateRules;
  versions: readonly ShownChange[];
  proofMeans: ProofMeans;
};

/**
 * The rules of a U.S. state: the current ones, the unconfirmed change, the form to change them, and earlier versions.
 */
export function rulesBody(view: RulesView, typed: Typed, problem?: string): Html {
  const { state, operator, inForce, versions, rules } = view;
  const open = versions.find(({ outcome }) => outcome === "requested");
  const mayChange = may(operator, "notaries.manage");
  return html`${pageHead(`Rules of ${usStates.get(state)?.name ?? state}`, originWords(inForce), html`<a href="/operator/notaries#rules">All states</a>`)}
${errorSummary(problem)}
<div class="panels">
${card("in-force", "In force", html`${factsOf(inForce)}${checksPart(view)}`)}
${open && card("waiting", `Version ${open.version} waits to be confirmed`, waitingPart(view, open, typed))}
${mayChange && card("change", "Change or confirm", open ? html`<p>One change of a state waits at a time.</p>` : changeForm(state, rules, typed))}
${card("versions", "Versions", versionsPart(versions))}
</div>
<p class="hint">Rules are data that the operator of this service keeps, and no legal advice. Ask counsel before you serve a state.</p>`;
}

/**
 * Says whether this service can check the identity of signers for notaries of this U.S. state. If not, names the rule
 * or the provider that is missing.
 */
function checksPart({ inForce, proofMeans }: RulesView): Html {
  const gap = proofingGap(inForce.online, proofMeans);
  return gap === null
    ? notice(
        "info",
        "Identity checks are offered",
        "Notaries of the state may have signers checked by this service’s providers.",
      )
    : notice("attention", "Identity checks are not offered", gap);
}

type Fact = readonly [term: string, value: Html | string | null];

function entriesOf({ modes, acts, excluded, sentences, certificates, terms, online }: StateRules): Fact[] {
  return [
    ["Modes", html`${modes.value.map((mode) => modeWords[mode]).join("; ")} ${readAt(modes)}`],
    ["Acts", html`${acts.value.join(", ")} ${readAt(acts)}`],
    ["Not by audio and video", excluded && html`${excluded.value.map(classWords).join(", ")} ${readAt(excluded)}`],
    ...actModes.map((mode): Fact => {
      const own = sentences[mode];
      return [`Sentence ${modeWords[mode]}`, own ? html`${own.value.join(" or ")} ${readAt(own)}` : null];
    }),
    ...actKinds.flatMap((act) => {
      const own = certificates[act];
      return certificateModes.map((mode): Fact => {
        const words = own?.value[mode];
        return [certificateLabel(act, mode), own && words ? html`${words} ${readAt(own)}` : null];
      });
    }),
    ...termNames.map((name): Fact => {
      const term = terms[name];
      return [termLabels[name], term ? html`${term.value} ${readAt(term)}` : null];
    }),
    ...onlineNames.map((name): Fact => {
      const rule = online[name];
      return [onlineForms[name].label, rule ? html`${onlineText(online, name)} ${readAt(rule)}` : null];
    }),
  ];
}

const factsOf = (rules: StateRules): Html => facts(entriesOf(rules));

const certificateLabel = (act: (typeof actKinds)[number], mode: (typeof certificateModes)[number]): string =>
  `${actWords[act]} ${modeWords[mode]}`;

const classWords = (name: string): string => name.replaceAll("_", " ");

function waitingPart({ state, operator, inForce, refundApproval }: RulesView, change: ShownChange, typed: Typed): Html {
  const { id, requestedBy, requestedByName, requestedAt, sourceUrl, effectiveOn, content } = change;
  const path = (verb: string) => rulesPath(state, `/${id}/${verb}`);
  const about = facts([
    ["Written by", html`<span class="breakable">${requestedByName}</span>, ${time(requestedAt)}`],
    ["Source", html`<a class="breakable" href="${sourceUrl}" rel="noreferrer">${sourceUrl}</a>`],
    ["Counts from", effectiveOn],
  ]);
  if (content === null)
    return html`${notice("stopped", "Not what the service wrote", "This change was altered outside the service. It can’t be confirmed.")}`;
  const parts = html`${about}${differences(inForce, content)}`;
  if (!may(operator, "notaries.manage")) return html`${parts}<p>An administrator confirms it.</p>`;
  const isOwn = requestedBy === operator.id;
  const withdraw = isOwn && buttonForm(path("withdraw"), "Withdraw the change", { kind: "quiet-button" });
  if (isOwn && refundApproval !== "solo")
    return html`${parts}<p>You wrote it yourself. Another administrator confirms it.</p>${withdraw}`;
  const confirm = askFirst({
    label: "Confirm",
    text: "From its day on these rules decide what is sold and what notaries of the state are offered, on every node.",
    confirm: "Confirm the change",
    action: path("confirm"),
  });
  if (isOwn)
    return html`${parts}${notice("info", "Your own change", `You may confirm it after a new sign-in, ${soloWaitMinutes} minutes after you wrote it.`)}${confirm}${withdraw}`;
  return html`${parts}${confirm}
<form class="form" method="post" action="${path("refuse")}">
${textArea({ form: "refuse", name: "note", label: "Why not", value: typed["note"], required: true, maxLength: 500, rows: 2 })}
<div class="form-actions"><button type="submit" class="quiet-button">Refuse</button></div></form>`;
}

/** The old and the new value of each rule that a change replaces. */
function differences(before: StateRules, after: StateRules): Html {
  const earlier = new Map(entriesOf(before).map(([term, value]) => [term, text(value)]));
  const changed = entriesOf(after).filter(([term, value]) => text(value) !== earlier.get(term));
  if (changed.length === 0) return html`<p>It changes no value: it confirms what was read.</p>`;
  return records(
    "What changes",
    ["What", "Now", "After"].map((label) => ({ label })),
    changed.map(([term, value]) => [
      term,
      html`<span class="breakable">${entriesOf(before).find(([each]) => each === term)?.[1] ?? "Nothing"}</span>`,
      html`<span class="breakable">${value ?? "Nothing"}</span>`,
    ]),
  );
}

const text = (value: Html | string | null): string => (value === null ? "" : String(value));

function changeForm(state: string, { classes }: NotaryRules, typed: Typed): Html {
  const box = (name: string, label: string) => checkbox({ name, label, checked: typed[name] === "on" });
  const area = (name: string, label: string, hint?: string) =>
    textArea({ name, label, hint, value: typed[name] ?? "", rows: 2, maxLength: 2500 });
  return html`<p>Leave the values as they are to confirm what was read. A value that you change gets your day and source.</p>
<form class="form" method="post" action="${rulesPath(state)}">
<fieldset><legend>How notaries of the state may act</legend>${actModes.map((mode) => box(`mode_${mode}`, capital(modeWords[mode])))}</fieldset>
<fieldset><legend>Acts</legend>${actKinds.map((kind) => box(`act_${kind}`, capital(kind)))}</fieldset>
<fieldset><legend>Not by audio and video</legend>${[...classes.keys()].map((name) => box(`excluded_${name}`, capital(classWords(name))))}</fieldset>
${sentenceModes.map((mode) => area(`sentences_${mode}`, `Sentences ${modeWords[mode]}`, "Every notarized document must contain one of these sentences. Write each on a line of its own."))}
<fieldset><legend>Words of the certificate</legend>
<p class="hint">As the statute has them, with {date} and {names}, and {identification} where it asks how the signer was identified;
for acts by audio and video also {places}, where the signers were, and {knowledge}, how and for how long the notary knows them.
An act without words has its facts in the notary’s block, and no wording.</p>
${actKinds.map((act) => certificateModes.map((mode) => area(certificateField(act, mode), certificateLabel(act, mode))))}</fieldset>
${termNames.map((name) => area(`term_${name}`, termLabels[name]))}
<fieldset><legend>Online, in values that the service acts by</legend>
<p class="hint">A value that is left open is not known, and nothing is offered by it.</p>
${onlineNames.map((name) => onlineField(name, typed[`online_${name}`] ?? ""))}</fieldset>
${field({ name: "source_url", label: "Where you read it", type: "url", required: true, maxLength: 300, value: typed["source_url"] ?? "", hint: "An https address: the statute, the rule, or counsel’s letter." })}
<div class="form-pair">${field({ name: "read_on", label: "Read on", type: "date", required: true, value: typed["read_on"] ?? "" })}
${field({ name: "effective_on", label: "Counts from", type: "date", required: true, value: typed["effective_on"] ?? "" })}</div>
<div class="form-actions"><button type="submit">Write the change</button></div></form>`;
}

function onlineField(key: (typeof onlineNames)[number], value: string): Html {
  const { label, hint, choices } = onlineForms[key];
  const part = { name: `online_${key}`, label, hint, value };
  if (key === "proofing") return textArea({ ...part, rows: 2, maxLength: 1000 });
  if (!choices) return field({ ...part, maxLength: 300 });
  return select({
    ...part,
    options: ["", ...choices].map((each) => ({ value: each, label: each.replaceAll("_", " ") })),
  });
}

const capital = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1);

const outcomeBadges = {
  requested: statusBadge("waiting", "Waits"),
  confirmed: statusBadge("done", "Confirmed"),
  refused: statusBadge("stopped", "Refused"),
  withdrawn: statusBadge("stopped", "Withdrawn"),
} as const;

const versionsPart = (versions: readonly ShownChange[]): Html =>
  versions.length === 0
    ? emptyState("No versions", "The rules are those that were shipped.")
    : records(
        "Versions, the latest first",
        ["Version", "Result", "Written by", "Decided by", "Counts from", "Source"].map((label) => ({ label })),
        versions.map((each) => [
          String(each.version),
          each.content === null ? statusBadge("stopped", "Altered") : outcomeBadges[each.outcome],
          html`<span class="breakable">${each.requestedByName}</span>, ${time(each.requestedAt)}`,
          each.decidedAt
            ? html`<span class="breakable">${each.decidedByName ?? "Nobody"}</span>, ${time(each.decidedAt)}${each.note && html` <span class="hint breakable">${each.note}</span>`}`
            : "Nobody yet",
          each.effectiveOn,
          html`<a class="breakable" href="${each.sourceUrl}" rel="noreferrer">${new URL(each.sourceUrl).host}</a>`,
        ]),
      );
