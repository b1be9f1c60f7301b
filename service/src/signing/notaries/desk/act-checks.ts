import { dollars } from "../../../orders/dollars.ts";
import { type Act, principalField } from "../acts/act.ts";
import { factRules } from "../acts/facts.ts";
import type { Commission } from "../commissions/commission.ts";
import { endOf, startOf } from "../commissions/expiry.ts";
import type { Eligibility } from "../eligibility/eligible.ts";
import { onlineForms } from "../eligibility/online-rules.ts";
import type { StateRules } from "../eligibility/rules.ts";
import type { Faults } from "../form-reader.ts";
import type { Check } from "../uploads/check.ts";

type Times = Pick<Act, "mode" | "startedAt" | "endedAt">;

/**
 * Returns a sentence if an act was outside the validity of the notary's commission or, for a remote act, of the
 * registration. Null if it was within.
 */
export function outsideOf(commission: Commission, { mode, startedAt, endedAt }: Times): string | null {
  const { commissionStarts, commissionExpires, ronStarts, ronExpires } = commission;
  const isRemote = mode === "ron" || mode === "rin";
  const spans = [
    { what: "commission", starts: commissionStarts, expires: commissionExpires },
    ...(isRemote ? [{ what: "registration for remote acts", starts: ronStarts, expires: ronExpires }] : []),
  ];
  for (const { what, starts, expires } of spans) {
    if (starts !== null && Date.parse(startedAt) < startOf(starts).getTime())
      return `started_at must not be before your ${what} began, on ${starts}.`;
    if (expires !== null && Date.parse(endedAt) >= endOf(expires).getTime())
      return `ended_at must not be after your ${what} expired, on ${expires}.`;
  }
  return null;
}

/**
 * Returns the checks of the act itself, each of which holds or warns. The notary must confirm the warnings before the
 * act is entered into the journal.
 */
export function actChecks(act: Act, stampedAt: string | null, { unclassed }: Eligibility): Check[] {
  const isEarly = stampedAt !== null && stampedAt < act.startedAt;
  const day = act.startedAt.slice(0, 10);
  const expired = act.principals.filter(({ credential, witness }) => {
    const shown = credential ?? witness?.credential;
    return shown && shown.expiresOn < day;
  });
  const isRemote = act.mode === "ron" || act.mode === "rin";
  const kinds = unclassed.map((name) => name.replaceAll("_", " ")).join(", ");
  return [
    look(
      "signed_in_act",
      isEarly,
      "No time stamp is before the act.",
      `It was signed at ${stampedAt}, before the act.`,
    ),
    look(
      "credentials_in_date",
      expired.length > 0,
      "No credential had expired at the act.",
      `The credential had expired at the act: of ${expired.map(({ name }) => name).join(", ")}.`,
    ),
    look(
      "document_class",
      isRemote && unclassed.length > 0,
      "It is not of a kind that the state excludes.",
      `The state excludes some documents from acts by audio and video, and the kind of this one is not known. Confirm that it is not one of these: ${kinds}.`,
    ),
  ];
}

const look = (name: Check["name"], warns: boolean, why: string, whyNot: string): Check =>
  warns ? { name, state: "warns", why: whyNot } : { name, state: "holds", why };

/**
 * Returns the rules of the notary's state that a remote act breaks, keyed by the form field that is at fault. Empty for
 * an act in person.
 */
export function ruleFaults(
  { mode, feeCents, principals }: Pick<Act, "mode" | "feeCents" | "principals">,
  rules: StateRules,
): Faults {
  if (mode !== "ron" && mode !== "rin") return {};
  const asked = factRules(rules);
  const missing = principals.flatMap(({ basis, place, knows }, index) => [
    ...(asked.place && !place ? [principalField(index + 1, "city")] : []),
    ...(asked.knows && basis === "personal_knowledge" && !knows ? [principalField(index + 1, "knows")] : []),
  ]);
  return { ...feeFault(feeCents, rules), ...Object.fromEntries(missing.map((field) => [field, "is required"])) };
}

function feeFault(feeCents: number, { online: { feeCapCents: cap } }: StateRules): Faults {
  if (!cap && feeCents > 0)
    return {
      fee: `must be 0, because the value “${onlineForms.feeCapCents.label}” is missing for your state: an administrator enters it`,
    };
  if (!cap || feeCents <= cap.value) return {};
  return { fee: `must not be above ${dollars(cap.value)}, the highest of your state (${cap.source}, ${cap.asOf})` };
}
