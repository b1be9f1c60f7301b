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
import { type ActKind, actKinds } from "../acts/act.ts";
import { type ActMode, actModes } from "../commissions/expiry.ts";
import { readWording, type Wording } from "./certificates.ts";
import { type OnlineName, type OnlineValue, onlineForms, onlineNames } from "./online-rules.ts";

/** A value of a state's law, with its source and the day on which it was read there. */
export type Sourced<T> = { value: T; asOf: string; source: string };

/**
 * The names of the terms of a state's law on remote acts. The service stores these terms only as words that the notary
 * reads.
 */
export const termNames = [
  "effective",
  "feeCap",
  "identity",
  "recording",
  "retention",
  "signerLocation",
  "certificate",
  "platform",
  "exclusions",
] as const;
export type TermName = (typeof termNames)[number];

export type StateRules = {
  modes: Sourced<ActMode[]>;
  acts: Sourced<ActKind[]>;
  /** Classes of documents that the state does not allow to be notarized by audio and video. */
  excluded: Sourced<string[]> | null;
  /**
   * For each mode, the sentences of which the state requires one in a notarized document. An upload without any of them
   * only causes a warning.
   */
  sentences: Partial<Record<ActMode, Sourced<string[]>>>;
  /** The wording of the state's certificates. Without it, the notary's block shows only the facts of the act. */
  certificates: CertificateRules;
  terms: Partial<Record<TermName, Sourced<string>>>;
  /** Rules for identity checks and acts by audio and video. */
  online: OnlineRules;
  origin: RulesOrigin;
};

export type CertificateRules = { [A in ActKind]?: Sourced<Wording> };

export type OnlineRules = { [K in OnlineName]?: Sourced<OnlineValue<K>> };

/**
 * The origin of a state's rules. `file`: the rules file. `confirmed`: a confirmed change. `altered`: a change was
 * altered outside the service or can't be parsed, so only the default rules apply.
 */
type RulesOrigin = { kind: "file" } | ({ kind: "confirmed" } & ConfirmedChange) | { kind: "altered" };

type ConfirmedChange = {
  version: number;
  /** The name of the operator who confirmed the change. */
  by: string;
  at: Date;
  sourceUrl: string;
  /** `YYYY-MM-DD`: the first day on which the change applies. */
  effectiveOn: string;
};

/** The name of the rules' source, in the wording that the source's license requires. */
export type RulesAttribution = { title: string; license: string; url: string };

export type NotaryRules = {
  /** The documents of the catalog that belong to each class, by the name of the class. */
  classes: ReadonlyMap<string, readonly string[]>;
  /** Returns the rules of a state. Where the state has no rules of its own, the default rules apply. */
  of: (state: string) => StateRules;
  /** The default rules, for a state without rules of its own. */
  base: StateRules;
  /** The U.S. states with rules of their own. */
  states: readonly string[];
  attribution: RulesAttribution | null;
};

/**
 * Loads the notary rules of all U.S. states from a file.
 * @throws DataFileError when the file cannot be read or is not valid; it names the line, the field and the rule
 */
export const loadNotaryRules = (path: string): NotaryRules => parseNotaryRules(readDataFile(path), path);

/**
 * Parses the text of a rules file.
 * @throws DataFileError naming the line, the field and the rule
 */
export function parseNotaryRules(source: string, file: string): NotaryRules {
  const root = fields(parseDataFile(source, file), {
    required: ["classes", "default", "states"],
    optional: ["attribution"],
  });
  const classes = new Map(
    [...members(root.classes)].map(([name, place]) => [name, list(place).map((each) => text(each, 80))] as const),
  );
  const fallback = fields(root.default, { required: ["modes", "acts"] });
  const base: StateRules = {
    modes: modesOf(fallback.modes),
    acts: actsOf(fallback.acts),
    excluded: null,
    sentences: {},
    certificates: {},
    terms: {},
    online: {},
    origin: { kind: "file" },
  };
  const states = new Map(
    [...members(root.states)].map(([code, place]) => {
      if (!isUsState(code)) fail(place, "must be the two-letter code of a US state or territory");
      return [code, stateRules(place, base, classes)] as const;
    }),
  );
  const attribution = root.attribution ? attributionOf(root.attribution) : null;
  return { classes, of: (state) => states.get(state) ?? base, base, states: [...states.keys()], attribution };
}

/**
 * Parses the rules of one state from a text that `rulesText` wrote.
 * @throws DataFileError for a text that is not valid
 */
export const parseStateRules = (source: string, file: string, { base, classes }: NotaryRules): StateRules =>
  stateRules(parseDataFile(source, file), base, classes);

/** The rules of one state as JSON, in the format of the rules file. */
export const rulesText = ({ modes, acts, excluded, sentences, certificates, terms, online }: StateRules): string =>
  JSON.stringify({ modes, acts, ...(excluded && { excluded }), sentences, certificates, terms, online });

function attributionOf(place: Place): RulesAttribution {
  const { title, license, url } = fields(place, { required: ["title", "license", "url"] });
  return {
    title: text(title, 200),
    license: text(license, 100),
    url: matching(url, /^https?:\/\/\S{1,300}$/, "an address"),
  };
}

function stateRules(place: Place, base: StateRules, classes: ReadonlyMap<string, unknown>): StateRules {
  const entries = fields(place, {
    required: [],
    optional: ["modes", "acts", "excluded", "sentences", "certificates", "terms", "online"],
  });
  return {
    modes: entries.modes ? modesOf(entries.modes) : base.modes,
    acts: entries.acts ? actsOf(entries.acts) : base.acts,
    excluded: entries.excluded
      ? sourced(entries.excluded, (each) => {
          const name = text(each, 80);
          if (!classes.has(name)) fail(each, `must be one of the classes (${[...classes.keys()].join(", ")})`);
          return name;
        })
      : null,
    sentences: entries.sentences ? sentencesOf(entries.sentences) : {},
    certificates: entries.certificates ? certificatesOf(entries.certificates) : {},
    terms: entries.terms ? termsOf(entries.terms) : {},
    online: entries.online ? onlineOf(entries.online) : {},
    origin: base.origin,
  };
}

const modesOf = (place: Place) => sourced(place, (each) => oneOf(each, actModes));
const actsOf = (place: Place) => sourced(place, (each) => oneOf(each, actKinds));

function sentencesOf(place: Place): StateRules["sentences"] {
  const entries = fields(place, { required: [], optional: actModes });
  return Object.fromEntries(
    Object.entries(entries).map(([mode, each]) => [mode, sourced(each, (sentence) => text(sentence, 500))]),
  );
}

function certificatesOf(place: Place): CertificateRules {
  const entries = fields(place, { required: [], optional: actKinds });
  return Object.fromEntries(Object.entries(entries).map(([act, each]) => [act, sourcedValue(each, readWording)]));
}

function termsOf(place: Place): StateRules["terms"] {
  const entries = fields(place, { required: [], optional: termNames });
  return Object.fromEntries(
    Object.entries(entries).map(([name, each]) => [name, sourcedValue(each, (value) => text(value, 1000))]),
  );
}

function onlineOf(place: Place): OnlineRules {
  const entries = fields(place, { required: [], optional: onlineNames });
  return Object.fromEntries(
    Object.entries(entries).map(([name, each]) => [
      name,
      sourcedValue<unknown>(each, onlineForms[name as OnlineName].parse),
    ]),
  );
}

const sourced = <T>(place: Place, read: (place: Place) => T): Sourced<T[]> =>
  sourcedValue(place, (value) => {
    const values = list(value).map(read);
    if (values.length === 0) fail(value, "must name at least one");
    return values;
  });

function sourcedValue<T>(place: Place, read: (place: Place) => T): Sourced<T> {
  const { value, asOf, source } = fields(place, { required: ["value", "asOf", "source"] });
  return {
    value: read(value),
    asOf: matching(asOf, /^\d{4}-[01]\d-[0-3]\d$/, "a day like 2026-01-31"),
    source: text(source, 300),
  };
}
