import { type ActKind, actKinds } from "../../acts/act.ts";
import { type ActMode, actModes } from "../../commissions/expiry.ts";
import { type FormReader, formReader, type Read, type Typed } from "../../form-reader.ts";
import { certificateModes, type Wording, wordingFault } from "../certificates.ts";
import { type OnlineName, onlineForms, onlineNames } from "../online-rules.ts";
import {
  type CertificateRules,
  type NotaryRules,
  type OnlineRules,
  type Sourced,
  type StateRules,
  type TermName,
  termNames,
} from "../rules.ts";

/** A change of a state's rules, as an operator typed it. */
export type TypedChange = { rules: StateRules; sourceUrl: string; effectiveOn: string };

type Before = { rules: StateRules; classes: NotaryRules["classes"]; today: string };

/** The modes for which the form has a field with the sentences that a document must contain. */
export const sentenceModes = ["ron", "ipen"] as const satisfies readonly ActMode[];

/** Reads the rules of a state as an operator typed them. An unchanged value keeps its date and its source. */
export function readTypedChange(typed: Typed, { rules, classes, today }: Before): Read<TypedChange> {
  const read = formReader(typed);
  const sourceUrl = read.required("source_url", { max: 300 });
  if (sourceUrl !== "" && !isWebAddress(sourceUrl)) read.fault("source_url", "must be an https address");
  const asOf = read.requiredDate("read_on");
  if (asOf > today) read.fault("read_on", "must not be after today");
  const effectiveOn = read.requiredDate("effective_on");
  const { origin } = rules;
  if (origin.kind === "confirmed" && effectiveOn !== "" && effectiveOn < origin.effectiveOn)
    read.fault("effective_on", `must not be before ${origin.effectiveOn}, when the rules of now took effect`);
  const sourced = <T>(before: Sourced<T> | null | undefined, value: T): Sourced<T> =>
    before && JSON.stringify(before.value) === JSON.stringify(value) ? before : { value, asOf, source: sourceUrl };
  const modes = ticked<ActMode>(typed, "mode", actModes);
  if (modes.length === 0) read.fault("modes", "must name at least one");
  const acts = ticked<ActKind>(typed, "act", actKinds);
  if (acts.length === 0) read.fault("acts", "must name at least one");
  const excluded = ticked(typed, "excluded", [...classes.keys()]);
  return read.done({
    rules: {
      modes: sourced(rules.modes, modes),
      acts: sourced(rules.acts, acts),
      excluded: excluded.length > 0 ? sourced(rules.excluded, excluded) : null,
      sentences: sentencesIn(read, rules, sourced),
      certificates: certificatesIn(read, rules, sourced),
      terms: termsIn(read, rules, sourced),
      online: onlineIn(read, rules, sourced),
      origin: { kind: "file" },
    },
    sourceUrl,
    effectiveOn,
  });
}

type Sourcing = <T>(before: Sourced<T> | null | undefined, value: T) => Sourced<T>;

function sentencesIn(read: FormReader, { sentences }: StateRules, sourced: Sourcing): StateRules["sentences"] {
  const typed = sentenceModes.map((mode) => {
    const text = read.optional(`sentences_${mode}`, { max: 2500, lines: true }) ?? "";
    const lines = text.split("\n").map((line) => line.trim());
    if (lines.some((line) => line.length > 500))
      read.fault(`sentences_${mode}`, "must have lines of at most 500 characters");
    return [mode, lines.filter((line) => line !== "")] as const;
  });
  // The stored sentences of the other modes, which are acts on paper. The form has no field for them, so they stay
  // unchanged.
  const others = Object.entries(sentences).filter(([mode]) => !sentenceModes.some((each) => each === mode));
  return Object.fromEntries([
    ...others,
    ...typed.filter(([, lines]) => lines.length > 0).map(([mode, lines]) => [mode, sourced(sentences[mode], lines)]),
  ]);
}

/** The name of the form field for a certificate's wording. */
export const certificateField = (act: ActKind, mode: (typeof certificateModes)[number]): string =>
  `certificate_${act}_${mode}`;

function certificatesIn(read: FormReader, { certificates }: StateRules, sourced: Sourcing): CertificateRules {
  const wordingIn = (act: ActKind): Wording =>
    Object.fromEntries(
      certificateModes.flatMap((mode) => {
        const name = certificateField(act, mode);
        const words = read.optional(name, { max: 1000, lines: true })?.replaceAll(/\s+/g, " ") ?? null;
        if (words === null) return [];
        const fault = wordingFault(words, mode);
        if (fault) read.fault(name, fault);
        return [[mode, words] as const];
      }),
    );
  return Object.fromEntries(
    actKinds.flatMap((act) => {
      const wording = wordingIn(act);
      return Object.keys(wording).length > 0 ? [[act, sourced(certificates[act], wording)] as const] : [];
    }),
  );
}

function termsIn(read: FormReader, { terms }: StateRules, sourced: Sourcing): StateRules["terms"] {
  const typed = termNames.map((name) => [name, read.optional(`term_${name}`, { max: 1000, lines: true })] as const);
  return Object.fromEntries(
    typed.flatMap(([name, text]) =>
      text === null ? [] : [[name, sourced(terms[name], text.replaceAll(/\s+/g, " "))] as const],
    ),
  );
}

function onlineIn(read: FormReader, { online }: StateRules, sourced: Sourcing): OnlineRules {
  return Object.fromEntries(
    onlineNames.flatMap((name) => {
      const text = read.optional(`online_${name}`, { max: 1000, lines: true });
      if (text === null) return [];
      const { hint, choices, read: readValue } = onlineForms[name];
      const value = readValue(text.replaceAll("\r", ""));
      if (value === undefined)
        read.fault(
          `online_${name}`,
          choices ? `must be one of ${choices.join(", ")}` : `must be in this form: ${hint}`,
        );
      return [[name, sourced<unknown>(online[name], value)] as const];
    }),
  );
}

const ticked = <T extends string>(typed: Typed, prefix: string, names: readonly T[]): T[] =>
  names.filter((name) => typed[`${prefix}_${name}`] === "on");

function isWebAddress(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : null;
  return url?.protocol === "https:" && url.username === "" && url.password === "" && !/\s/.test(text);
}

/** The values with which the form shows the rules of a state. */
export function typedRules(rules: StateRules): Record<string, string> {
  const { modes, acts, excluded, sentences, certificates, terms, online } = rules;
  const boxes = (prefix: string, names: readonly string[]) => names.map((name) => [`${prefix}_${name}`, "on"]);
  return Object.fromEntries([
    ...boxes("mode", modes.value),
    ...boxes("act", acts.value),
    ...boxes("excluded", excluded?.value ?? []),
    ...sentenceModes.map((mode) => [`sentences_${mode}`, (sentences[mode]?.value ?? []).join("\n")]),
    ...actKinds.flatMap((act) =>
      certificateModes.map((mode) => [certificateField(act, mode), certificates[act]?.value[mode] ?? ""]),
    ),
    ...termNames.map((name: TermName) => [`term_${name}`, terms[name]?.value ?? ""]),
    ...onlineNames.map((name) => [`online_${name}`, onlineText(online, name)]),
  ]);
}

/** The value of an online rule, as the form and the page show it; `""` when the state has no such rule. */
export function onlineText<K extends OnlineName>(online: OnlineRules, name: K): string {
  const rule = online[name];
  return rule ? onlineForms[name].write(rule.value) : "";
}
