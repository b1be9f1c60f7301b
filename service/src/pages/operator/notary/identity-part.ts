import {
  type claimedOrder,
  type IdentityState,
  modeWords,
  onlineText,
  type ProofMeans,
  proofingGap,
} from "../../../signing/notaries/notaries.ts";
import { facts, notice, statusBadge } from "../../ui/components.ts";
import { time } from "../../ui/format.ts";
import { buttonForm } from "../../ui/forms/button-form.ts";
import { type Html, html } from "../../ui/render.ts";
import { readAt } from "./rule-words.ts";

export type IdentityView = { people: readonly IdentityState[]; means: ProofMeans };

type Claimed = Awaited<ReturnType<typeof claimedOrder>>;

/** Identity checks of the people of an order: the available checks, the requested ones, and their outcomes. */
export function identityPart({ order, notary, eligibility }: Claimed, { people, means }: IdentityView): Html {
  const { online } = eligibility.rules;
  const gap = proofingGap(online, means);
  const { proofing } = online;
  return html`<p>The notary decides whether an identity is established. A check tells you what a provider found. It does not promise that a face is real.</p>
${proofing && html`<p>Ways of ${notary.state} for an act ${modeWords.ron}: ${onlineText(online, "proofing").replaceAll("\n", "; or ").replaceAll("_", " ")} ${readAt(proofing)}</p>`}
${gap !== null && notice("attention", "Not offered by this service", `${gap} Establish identity in another way that the state allows.`)}
${people.map((each) => personPart(order.code, each, gap === null))}`;
}

const stateBadges = {
  asked: statusBadge("waiting", "Asked"),
  passed: statusBadge("done", "Passed"),
  failed: statusBadge("stopped", "Failed"),
  expired: statusBadge("stopped", "Link expired"),
} as const;

/** The state of a person's check, as a badge with the time. */
export function checkBadge({ check, isOpen, problem }: IdentityState): Html {
  if (check === null) return html`none was asked for`;
  const isVoid = check.state === "passed" && problem !== null;
  const badge = isVoid
    ? statusBadge("stopped", "Passed, but it counts no more")
    : stateBadges[check.state === "asked" && !isOpen ? "expired" : check.state];
  return html`${badge} ${time(check.endedAt ?? check.askedAt)}`;
}

/**
 * The reason why the notary can't rely on a person's check. Empty if there is none, and while the check is missing or
 * open.
 */
export const checkNotice = ({ check, isOpen, problem }: IdentityState): Html | "" =>
  check === null || isOpen || problem === null
    ? ""
    : notice("attention", "You can’t rely on this identity check", problem);

function personPart(code: string, state: IdentityState, isOffered: boolean): Html {
  const { person, name, check, isOpen, proofs, otherName } = state;
  const ask =
    isOffered &&
    !isOpen &&
    buttonForm(`/operator/notary/orders/${code}/identity`, check ? "Ask again" : "Ask for a check", {
      fields: { person: String(person) },
      about: `of ${name}`,
      kind: "secondary",
    });
  return html`<h3 class="breakable">${name}</h3>
<p>${check === null ? "No check was asked for." : checkBadge(state)}</p>
${checkNotice(state)}
${otherName !== null && notice("attention", "Another name on the credential", html`The credential names <strong class="breakable">${otherName}</strong>. Compare it with the document.`)}
${proofs.map(proofPart)}
${ask}`;
}

function proofPart({
  kind,
  provider,
  state,
  begunAt,
  endedAt,
  correct,
  asked,
  seconds,
  result,
}: IdentityState["proofs"][number]): Html {
  const credential = result?.credential;
  return facts([
    ["Checked", kind === "credential" ? "The credential" : "Knowledge-based questions"],
    ["By", provider === "quiz" ? "The provider of questions" : "Stripe Identity"],
    ["Result", html`${state} ${time(endedAt ?? begunAt)}`],
    [
      "Right answers",
      asked === null ? null : `${correct} of ${asked}${seconds === null ? "" : ` in ${seconds} seconds`}`,
    ],
    ["Time", kind === "questions" && asked === null && seconds !== null ? `${seconds} seconds: too late` : null],
    ["Credential", credential ? `${credential.type.replaceAll("_", " ")}, ${credential.issuer}` : null],
    ["Issued", credential?.issuedOn ?? null],
    ["Expires", credential?.expiresOn ?? null],
    ["Name on it", result?.names ?? null],
    ["Face and picture", result ? result.faces : null],
    ["The provider’s reason", result?.why ?? null],
  ]);
}
