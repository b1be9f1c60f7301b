import { wholeNumberIn } from "../../../kernel/platform/text.ts";
import {
  boolean,
  fail,
  fields,
  integer,
  list,
  matching,
  oneOf,
  type Place,
  text,
} from "../../../orders/pricing/pricing.ts";
import { isDay } from "../form-reader.ts";

/** The ways for a signer to prove their identity to a notary who is elsewhere. */
const proofTypes = ["credential_analysis", "kba", "biometric", "antecedent", "certificate"] as const;
export type ProofType = (typeof proofTypes)[number];

/**
 * A state's rules for a quiz (knowledge-based authentication): questions that only the person should be able to answer.
 */
export type QuizRules = {
  questions: number;
  /** The number of possible answers to choose from, for each question. */
  choices: number;
  /** The percentage of right answers that a person needs to pass. */
  percent: number;
  seconds: number;
  /** How often the quiz may be repeated within `hours`. */
  retakes: number;
  hours: number;
  /** The percentage of questions that must be new when the quiz is repeated. */
  renewed: number;
};

type OnlineValues = {
  /** The combinations of proofs that the state accepts. A person must pass all proofs of one combination. */
  proofing: ProofType[][];
  kba: QuizRules;
  personalKnowledge: boolean;
  credibleWitness: boolean;
  interpreter: boolean;
  witnesses: boolean;
  observers: boolean;
  signerAbroad: boolean;
  signerPlace: boolean;
  knowledgeStated: boolean;
  recordingYears: number;
  certificateOf: "own" | "service";
  /** The state's requirement for the tool with which notaries act online. */
  platform: "none" | "registered" | "approved" | "self_certified";
  /** The operator's confirmation that the state's requirement for the tool is met: a reference, and the day. */
  platformConfirmed: { reference: string; on: string };
  /**
   * The steps that are repeated after a person was away. `act`: all steps except the identity checks. `identity`: all
   * steps. `resume`: no step.
   */
  restart: "act" | "identity" | "resume";
  resumeSeconds: number;
  feeCapCents: number;
};
export type OnlineName = keyof OnlineValues;
export type OnlineValue<K extends OnlineName = OnlineName> = OnlineValues[K];

/** Reads and writes one kind of rule value, both in a data file and in a form. */
type Form<T> = {
  label: string;
  hint: string;
  /** The values to choose from in a form. Without them, the value is typed as text. */
  choices?: readonly string[];
  parse: (place: Place) => T;
  write: (value: T) => string;
  /** Parses a value that was typed in a form. Undefined for a malformed text. */
  read: (typed: string) => T | undefined;
};

const yesOrNo = (label: string, hint: string): Form<boolean> => ({
  label,
  hint,
  choices: ["yes", "no"],
  parse: boolean,
  write: (value) => (value ? "yes" : "no"),
  read: (typed) => ({ yes: true, no: false })[typed],
});

const wholeNumber = (label: string, hint: string, max: number): Form<number> => ({
  label,
  hint: `${hint} A whole number up to ${max}.`,
  parse: (place) => integer(place, 0, max),
  write: String,
  read: (typed) => wholeNumberIn(typed, 0, max),
});

const choice = <T extends string>(label: string, hint: string, choices: readonly T[]): Form<T> => ({
  label,
  hint,
  choices,
  parse: (place) => oneOf(place, choices),
  write: (value) => value,
  read: (typed) => choices.find((each) => each === typed),
});

const isProofType = (word: string): word is ProofType => proofTypes.some((each) => each === word);

const alternatives: Form<ProofType[][]> = {
  label: "Ways to prove identity online",
  hint: `One a line; a signer passes all of a line, joined by “+”: ${proofTypes.join(", ")}.`,
  parse(place) {
    const read = list(place).map((each) => list(each).map((one) => oneOf(one, proofTypes)));
    if (!isWhole(read)) fail(place, "must name at least one alternative, and in each at least one type, once");
    return read;
  },
  write: (value) => value.map((each) => each.join(" + ")).join("\n"),
  read(typed) {
    const lines = typed.split("\n").filter((line) => line.trim() !== "");
    const words = lines.map((line) => line.split("+").map((word) => word.trim()));
    const read = words.map((line) => line.filter(isProofType));
    return read.every((line, index) => line.length === words[index]?.length) && isWhole(read) ? read : undefined;
  },
};

const isWhole = (value: readonly (readonly ProofType[])[]): boolean =>
  value.length > 0 &&
  value.length <= 10 &&
  value.every((each) => each.length > 0 && new Set(each).size === each.length);

/** The members of the quiz rules with their allowed ranges, in the order of the form. */
const quizBounds: Readonly<Record<keyof QuizRules, readonly [min: number, max: number]>> = {
  questions: [1, 20],
  choices: [2, 10],
  percent: [1, 100],
  seconds: [10, 3600],
  retakes: [0, 5],
  hours: [1, 720],
  renewed: [0, 100],
};
const quizNames = Object.keys(quizBounds) as (keyof QuizRules)[];

const quiz: Form<QuizRules> = {
  label: "Knowledge-based questions",
  hint: "Such as “questions 5, choices 5, percent 80, seconds 120, retakes 1, hours 24, renewed 60”.",
  parse(place) {
    const entries = fields(place, { required: quizNames });
    return quizOf((name) => integer(entries[name], ...quizBounds[name]));
  },
  write: (value) => quizNames.map((name) => `${name} ${value[name]}`).join(", "),
  read(typed) {
    const parts = new Map(typed.split(",").map((part) => part.trim().split(/\s+/) as [string, string]));
    if (parts.size !== quizNames.length) return undefined;
    const numbers = quizOf((name) => wholeNumberIn(parts.get(name), ...quizBounds[name]) ?? Number.NaN);
    return quizNames.some((name) => Number.isNaN(numbers[name])) ? undefined : numbers;
  },
};

const quizOf = (read: (name: keyof QuizRules) => number): QuizRules => ({
  questions: read("questions"),
  choices: read("choices"),
  percent: read("percent"),
  seconds: read("seconds"),
  retakes: read("retakes"),
  hours: read("hours"),
  renewed: read("renewed"),
});

const confirmation: Form<OnlineValues["platformConfirmed"]> = {
  label: "The tool: your registration or approval",
  hint: "The day and the reference, such as “2026-11-01 filing 4711”. It counts for a year.",
  parse(place) {
    const entries = fields(place, { required: ["reference", "on"] });
    const on = matching(entries.on, /^\d{4}-[01]\d-[0-3]\d$/, "a day like 2026-01-31");
    return { reference: text(entries.reference, 200), on };
  },
  write: ({ reference, on }) => `${on} ${reference}`,
  read(typed) {
    const [, on = "", reference = ""] = /^(\S+)\s+(.{1,200})$/.exec(typed) ?? [];
    return isDay(on) ? { on, reference } : undefined;
  },
};

/**
 * For each online rule of a state, how its value is read and written. A permission without a value counts as a no. Some
 * other rules have a default: for example, a recording is stored permanently, and the fee is 0.
 */
export const onlineForms: { readonly [K in OnlineName]: Form<OnlineValues[K]> } = {
  proofing: alternatives,
  kba: quiz,
  personalKnowledge: yesOrNo("Personal knowledge counts online", "Whether the notary may know the signer instead."),
  credibleWitness: yesOrNo("A credible witness counts online", "Whether a witness may identify the signer instead."),
  interpreter: yesOrNo("An interpreter is allowed", "Where notary and signer share no language."),
  witnesses: yesOrNo("Witnesses may attend by audio and video", "Besides credible ones. They don’t identify anybody."),
  observers: yesOrNo("Observers are allowed", "Such as an attorney: they see and hear, and everybody has to agree."),
  signerAbroad: yesOrNo("The signer may be outside the United States", "Without conditions; else leave it open."),
  signerPlace: yesOrNo("The journal states where the signer was", "City, state and country, at the time of the act."),
  knowledgeStated: yesOrNo(
    "The notary states how they know the signer",
    "And for how long, where they know the signer.",
  ),
  recordingYears: wholeNumber("Years for which a recording is kept", "", 100),
  certificateOf: choice("Whose certificate signs", "The notary’s own, or one of this service.", ["own", "service"]),
  platform: choice("The tool has to be", "How the state has to know the tool of online acts.", [
    "none",
    "registered",
    "approved",
    "self_certified",
  ]),
  platformConfirmed: confirmation,
  restart: choice("After an interruption begins again", "The act, the identity check first, or neither.", [
    "act",
    "identity",
    "resume",
  ]),
  resumeSeconds: wholeNumber("Seconds of an interruption that changes nothing", "", 600),
  feeCapCents: wholeNumber("Highest fee of a notary for an act online, in cents", "", 100_000),
};
export const onlineNames = Object.keys(onlineForms) as OnlineName[];

/** The kinds of proof that the service's providers can carry out. */
export type ProofMeans = { credentials: boolean; questions: boolean };

/**
 * True if the service can carry out this type of proof by itself. Only the notary can assess an earlier meeting
 * (`antecedent`) or the signer's own certificate.
 */
const canProve = (type: ProofType, { credentials, questions }: ProofMeans): boolean =>
  ({ credential_analysis: credentials, biometric: credentials, kba: questions, antecedent: false, certificate: false })[
    type
  ];

type Rules = { proofing?: { value: ProofType[][] }; kba?: { value: QuizRules } };

/** The combinations of proofs that the state accepts and that this service's providers can carry out completely. */
export const openAlternatives = ({ proofing, kba }: Rules, means: ProofMeans): ProofType[][] =>
  (proofing?.value ?? []).filter((each) =>
    each.every((type) => canProve(type, means) && (type !== "kba" || kba !== undefined)),
  );

/**
 * The reason why this service can't check a signer's identity; null when it can. Names the missing rule or provider, if
 * one is missing.
 */
export function proofingGap(rules: Rules, means: ProofMeans): string | null {
  if (openAlternatives(rules, means).length > 0) return null;
  const { proofing, kba } = rules;
  if (!proofing) return `The value “${onlineForms.proofing.label}” is missing.`;
  const types = new Set(proofing.value.flat());
  const missing = [
    ...(types.has("kba") && !kba ? [`the value “${onlineForms.kba.label}”`] : []),
    ...(types.has("kba") && !means.questions ? ["a provider of knowledge-based questions"] : []),
    ...((types.has("credential_analysis") || types.has("biometric")) && !means.credentials
      ? ["a provider that checks credentials"]
      : []),
  ];
  return missing.length === 0
    ? "No alternative of the state can be met by a provider of this service."
    : `No alternative of the state can be met: ${missing.join(" and ")} is missing.`;
}
