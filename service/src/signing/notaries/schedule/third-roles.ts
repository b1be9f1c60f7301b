/**
 * The roles of third persons in a live session (people who neither sign nor notarize), and the rules for inviting them.
 */
import { invalid, ServiceError } from "../../../kernel/platform/errors.ts";
import { languages } from "../../../kernel/platform/languages.ts";
import { isEmail } from "../../../kernel/platform/mail/email.ts";
import { type OnlineName, onlineForms } from "../eligibility/online-rules.ts";
import type { OnlineRules } from "../eligibility/rules.ts";
import { accepted, formReader, type Typed } from "../form-reader.ts";
import { isSameName } from "../identity/results.ts";

/** The most people in a session, not counting the notary. The media engine supports eight people. */
export const maxPeople = 7;

export const thirdRoles = ["credible_witness", "interpreter", "witness", "observer"] as const;
export type ThirdRole = (typeof thirdRoles)[number];

/** For each role, the state's rule that must permit it. */
const ruleOf = {
  credible_witness: "credibleWitness",
  interpreter: "interpreter",
  witness: "witnesses",
  observer: "observers",
} as const satisfies Record<ThirdRole, OnlineName>;

/** The most witnesses of the signing. Credible witnesses, who vouch for a signer's identity, are not counted. */
const maxWitnesses = 2;

export const roleWords: Readonly<Record<"signer" | ThirdRole, string>> = {
  signer: "signer",
  credible_witness: "credible witness",
  interpreter: "interpreter",
  witness: "witness",
  observer: "observer",
};

/**
 * The reason why the state's rules exclude a person of this role from a session; null when they don't. A missing rule
 * excludes the person, too.
 */
export function roleObstacle(role: ThirdRole, online: OnlineRules): string | null {
  const name = ruleOf[role];
  const { label } = onlineForms[name];
  const rule = online[name];
  if (!rule) return `The value “${label}” is missing in the rules of your state.`;
  return rule.value ? null : `The rules of your state say no to “${label}”.`;
}

/**
 * Reads the form that invites a third person.
 * @throws ServiceError naming every wrong field, or the rule of the notary's state that excludes the role
 */
export function readInvited(typed: Typed, signers: number, online: OnlineRules) {
  const read = formReader(typed);
  const role = read.requiredOneOf("role", thirdRoles);
  const email = read.required("email", { max: 254 });
  if (email !== "" && !isEmail(email)) read.fault("email", "must be an email address");
  const signer = read.matching("for_signer", /^\d{1,2}$/, "must be the number of a signer");
  if (role === "credible_witness" && (signer === null || Number(signer) < 1 || Number(signer) > signers))
    read.fault("for_signer", "must be the number of the signer whom the witness knows");
  const forSigner = role === "credible_witness" ? Number(signer) : null;
  const language = read.requiredOneOf("language", languages);
  const invited = accepted(read.done({ role, name: read.required("name"), email, language, forSigner }));
  const obstacle = roleObstacle(invited.role, online);
  if (obstacle !== null) throw invalid(`role must be one that your state allows. ${obstacle}`);
  return invited;
}

/** A person who is in a session or is expected in it. */
export type Coming = {
  role: "signer" | ThirdRole;
  name: string;
  email: string | null;
  forSigner: number | null;
};

export const signersComing = (signers: readonly { name: string; email: string }[]): Coming[] =>
  signers.map(({ name, email }) => ({ role: "signer", name, email, forSigner: null }));

/**
 * Throws unless a third person can attend in addition to these people.
 * @param notary the name of the notary
 */
export function requirePlace(
  invited: { role: ThirdRole; name: string; email: string; forSigner: number | null },
  people: readonly Coming[],
  notary: string,
): void {
  if (people.length >= maxPeople)
    throw new ServiceError("conflict", `A session has at most ${maxPeople} people besides you.`);
  if ([...people.map(({ name }) => name), notary].some((name) => isSameName(name, invited.name)))
    throw invalid("name must be of somebody who neither signs, notarizes nor is invited already.");
  if (people.some(({ email }) => email?.toLowerCase() === invited.email.toLowerCase()))
    throw invalid("email must differ from the addresses of the others: each person has a link of their own.");
  if (people.some(({ role, forSigner }) => role === "credible_witness" && forSigner === invited.forSigner))
    throw new ServiceError("conflict", "This signer has a credible witness already.");
  if (invited.role === "witness" && people.filter(({ role }) => role === "witness").length >= maxWitnesses)
    throw new ServiceError("conflict", `A session has at most ${maxWitnesses} witnesses.`);
}
