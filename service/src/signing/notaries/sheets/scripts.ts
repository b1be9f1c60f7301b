import {
  fail,
  fields,
  isUsState,
  list,
  matching,
  members,
  oneOf,
  type Place,
  parseDataFile,
  readDataFile,
  text,
} from "../../../orders/pricing/pricing.ts";
import { type ActKind, actKinds, identityBases } from "../acts/act.ts";

/** The modes of an act with a run sheet: `ipen` in person on one device, or `ron` by audio and video. */
const sheetModes = ["ipen", "ron"] as const;
export type SheetMode = (typeof sheetModes)[number];

/**
 * The conditions that a step may require before it is marked. `seen`: the notary's page shows a moving picture of the
 * signer.
 */
const needs = ["identity", "consent", "present", "recording", "seen"] as const;
export type Need = (typeof needs)[number];

const stepNames = [
  "open",
  "appear",
  "appear_online",
  "identify",
  "credential",
  "alone",
  "willing",
  "read",
  "own_signature",
  "oath",
  "oath_alone",
  "sign",
  "acknowledge",
  "compare",
  "close",
  "notary_signs",
] as const;
export type StepName = (typeof stepNames)[number];

/** Words of a step in English and Spanish, the two languages of the run sheets. */
export type Words = { readonly en: string; readonly es: string };

export type ScriptStep = {
  readonly name: StepName;
  readonly by: "notary" | "signer";
  readonly per: "act" | "signer";
  readonly words: Words;
  readonly needs: readonly Need[];
  /** The choices of a step. The mark of the step must name one of them. Empty for a step without a choice. */
  readonly choices: readonly string[];
};

/**
 * The steps of one act. A run sheet stores its script, so that the steps stay the same from the first mark to the last.
 */
export type Script = {
  readonly act: ActKind;
  readonly mode: SheetMode;
  readonly state: string;
  readonly version: string;
  readonly steps: readonly ScriptStep[];
  /**
   * Small movements. The notary asks each signer to make one of them. Absent for acts in person, in run sheets that
   * earlier releases opened, and if the file of scripts has none.
   */
  readonly requests?: readonly Words[];
};

type ScriptQuestion = {
  act: ActKind;
  mode: SheetMode;
  state: string;
  /**
   * True if the document was already signed before the act. False if it is unsigned, or its signers sign it again
   * during the act.
   */
  isSigned: boolean;
};

export type Scripts = {
  /** The script of an act. Null for an act without a script, such as a jurat on a document that was signed earlier. */
  readonly of: (question: ScriptQuestion) => Script | null;
};

/**
 * Loads the scripts of all acts from a file.
 * @throws DataFileError when the file cannot be read or is not valid; it names the line, the field and the rule
 */
export const loadScripts = (path: string): Scripts => parseScripts(readDataFile(path), path);

/** A step with its words for acts in person and, if they differ, those for acts by audio and video. */
type FileStep = { step: ScriptStep; online: Words | null };
type Steps = ReadonlyMap<string, FileStep>;
type StateWords = ReadonlyMap<string, ReadonlyMap<string, Words>>;
type Documents = { signed: readonly StepName[] | null; unsigned: readonly StepName[] };
type Acts = ReadonlyMap<string, ReadonlyMap<string, Documents>>;

/**
 * Parses the text of a file of scripts.
 * @throws DataFileError naming the line, the field and the rule
 */
export function parseScripts(source: string, file: string): Scripts {
  const root = fields(parseDataFile(source, file), {
    required: ["version", "steps", "acts", "states"],
    optional: ["requests"],
  });
  const version = matching(root.version, /^\d{4}-[01]\d-[0-3]\d$/, "a day like 2026-01-31");
  const requests = root.requests ? requestsOf(root.requests) : [];
  const steps: Steps = new Map(
    [...members(root.steps)].map(([name, place]) => {
      const listed = stepNames.find((each) => each === name);
      if (!listed) fail(place, `must be one of the steps that are known (${stepNames.join(", ")})`);
      return [name, stepOf(listed, place)] as const;
    }),
  );
  const acts: Acts = new Map(
    [...members(root.acts)].map(([name, place]) => {
      if (!actKinds.some((each) => each === name)) fail(place, `must be one of the acts (${actKinds.join(", ")})`);
      return [name, modesOf(place, steps)] as const;
    }),
  );
  const states = new Map(
    [...members(root.states)].map(([code, place]) => {
      if (!isUsState(code)) fail(place, "must be the two-letter code of a US state or territory");
      return [code, wordsOfState(place, steps)] as const;
    }),
  );
  return {
    of({ act, mode, state, isSigned }) {
      const documents = acts.get(act)?.get(mode);
      const names = isSigned ? documents?.signed : documents?.unsigned;
      if (!names) return null;
      const own = states.get(state)?.get(mode);
      const chosen = names.flatMap((name) => {
        const found = steps.get(name);
        if (!found) return [];
        const { step, online } = found;
        return [{ ...step, words: own?.get(name) ?? (mode === "ron" && online ? online : step.words) }];
      });
      return { act, mode, state, version, steps: chosen, ...(mode === "ron" && requests.length > 0 && { requests }) };
    },
  };
}

function stepOf(name: StepName, place: Place): FileStep {
  const entries = fields(place, { required: ["by", "per", "words"], optional: ["needs", "choices", "online"] });
  const choices = entries.choices ? list(entries.choices).map((each) => text(each, 60)) : [];
  if (name === "identify" && choices.some((each) => !identityBases.some((basis) => basis === each)))
    fail(place, `must have choices of ${identityBases.join(", ")}`);
  const step: ScriptStep = {
    name,
    by: oneOf(entries.by, ["notary", "signer"] as const),
    per: oneOf(entries.per, ["act", "signer"] as const),
    words: wordsOf(entries.words),
    needs: entries.needs ? list(entries.needs).map((each) => oneOf(each, needs)) : [],
    choices,
  };
  return { step, online: entries.online ? wordsOf(entries.online) : null };
}

function wordsOf(place: Place): Words {
  const { en, es } = fields(place, { required: ["en", "es"] });
  return { en: spoken(en), es: spoken(es) };
}

function requestsOf(place: Place): Words[] {
  const requests = list(place).map((each) => {
    const words = wordsOf(each);
    if (`${words.en}${words.es}`.includes("{")) fail(each, "must have no slots");
    return words;
  });
  if (requests.length < 4) fail(place, "must have at least four, so that none can be foretold");
  return requests;
}

const slots = ["notary", "county", "state", "act", "document", "signer", "date", "request"];

function spoken(place: Place): string {
  const words = text(place, 600);
  for (const [, slot = ""] of words.matchAll(/\{([^}]*)\}/g))
    if (!slots.includes(slot)) fail(place, `names {${slot}}, which is not one of the slots (${slots.join(", ")})`);
  return words;
}

function modesOf(place: Place, steps: Steps): ReadonlyMap<string, Documents> {
  const entries = fields(place, { required: [], optional: sheetModes });
  return new Map(
    Object.entries(entries).map(([mode, each]) => {
      const { signed, unsigned } = fields(each, { required: ["unsigned"], optional: ["signed"] });
      return [mode, { unsigned: namesOf(unsigned, steps), signed: signed ? namesOf(signed, steps) : null }] as const;
    }),
  );
}

/**
 * Reads the names of an act's steps. The first one must be `open`, and the last two must be `close` and `notary_signs`.
 * `identify` must be among them.
 */
function namesOf(place: Place, steps: Steps): StepName[] {
  const names = list(place).map((each) => {
    const name = oneOf(each, stepNames);
    if (!steps.has(name)) fail(each, "must be one of the steps above");
    return name;
  });
  if (new Set(names).size < names.length) fail(place, "must name each step once");
  if (names[0] !== "open" || names.at(-2) !== "close" || names.at(-1) !== "notary_signs")
    fail(place, "must begin with open, and end with close and notary_signs");
  if (!names.includes("identify")) fail(place, "must have identify");
  return names;
}

function wordsOfState(place: Place, steps: Steps): StateWords {
  const entries = fields(place, { required: [], optional: sheetModes });
  return new Map(Object.entries(entries).map(([mode, each]) => [mode, wordsOfMode(each, steps)] as const));
}

function wordsOfMode(place: Place, steps: Steps): ReadonlyMap<string, Words> {
  return new Map(
    [...members(place)].map(([name, each]) => {
      if (!steps.has(name)) fail(each, "must be one of the steps above");
      const { words, asOf, source } = fields(each, { required: ["words", "asOf", "source"] });
      matching(asOf, /^\d{4}-[01]\d-[0-3]\d$/, "a day like 2026-01-31");
      text(source, 300);
      return [name, wordsOf(words)] as const;
    }),
  );
}

/** The words of a step, with the facts filled in. */
export const filled = (words: string, facts: Readonly<Record<string, string>>): string =>
  words.replaceAll(/\{([a-z]+)\}/g, (_, slot: string) => facts[slot] ?? "");
