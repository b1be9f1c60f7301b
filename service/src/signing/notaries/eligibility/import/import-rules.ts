import { parse, stringify } from "yaml";
import { readDataFile } from "../../../../orders/pricing/pricing.ts";
import { parseNotaryRules } from "../rules.ts";
import { type Jurisdiction, readJurisdictions } from "./jurisdictions.ts";
import { tableRows } from "./records.ts";

/** The name of the table's source, in the wording that the source's license requires. */
type Attribution = { title: string; license: string; url: string };

export type ImportOptions = {
  attribution: Attribution;
  /** `YYYY-MM-DD`: the day for which the table is valid. */
  asOf: string;
};

/** The resulting rules file. The import could not interpret the columns in `unread` and the states in `doubtful`. */
export type ImportedRules = { yaml: string; states: string[]; remote: string[]; unread: string[]; doubtful: string[] };

type Entry = { value: unknown; asOf: string; source: string };
type State = {
  modes?: Entry;
  excluded?: Entry;
  terms?: Record<string, Entry>;
  online?: Record<string, Entry>;
} & Record<string, unknown>;
type RulesFile = { states: Record<string, State>; default: { modes: { value: string[] } }; classes: object };

/**
 * For each class of documents in the shipped rules file, a pattern that recognizes it in a law's text about excluded
 * documents. Other classes are not recognized.
 */
const classWords: Readonly<Record<string, RegExp>> = {
  real_estate: /\breal (estate|property)\b/i,
  vehicle_title: /\bvehicle|\bmotor|certificates? of title/i,
  will: /\bwills?\b|testament/i,
  deposition: /\bdeposition/i,
};

/**
 * Merges a published table of the U.S. states' laws on remote acts into a rules file. For each state, the table says
 * whether such acts are authorized, and which classes of documents are excluded. It also gives the highest fee in
 * cents, and the terms for fees, identity and records. All other terms in the file stay as they are.
 * @param table the text of a CSV or JSON file
 * @throws StartupError naming the row or field, and the rule
 */
export function importRules(
  table: string,
  names: { table: string; rules: string },
  { attribution, asOf }: ImportOptions,
): ImportedRules {
  const { jurisdictions, unread, doubtful } = readJurisdictions(tableRows(table, names.table), asOf, names.table);
  const source = readDataFile(names.rules);
  parseNotaryRules(source, names.rules);
  const file: RulesFile = parse(source);
  const classNames = Object.keys(file.classes);
  const entry = (value: unknown, from: string | null): Entry => ({
    value,
    asOf,
    source: [from, attribution.title].filter(Boolean).join("; ").slice(0, 300),
  });
  for (const each of jurisdictions) {
    const before = file.states[each.state] ?? {};
    file.states[each.state] = {
      ...before,
      modes: entry(modesOf(before.modes?.value ?? file.default.modes.value, each), each.remoteSource),
      ...excludedOf(each, before.excluded, classNames, entry),
      ...(each.feeCapCents && {
        online: { ...before.online, feeCapCents: entry(each.feeCapCents.value, each.feeCapCents.source) },
      }),
      terms: {
        ...before.terms,
        ...Object.fromEntries(
          Object.entries(each.terms).map(([name, cell]) => [name, entry(cell.text.slice(0, 1000), cell.source)]),
        ),
      },
    };
  }
  const yaml = stringify({ ...file, attribution });
  parseNotaryRules(yaml, names.rules);
  return {
    yaml,
    states: jurisdictions.map(({ state }) => state).toSorted(),
    remote: jurisdictions.flatMap(({ state, isRemote }) => (isRemote ? [state] : [])).toSorted(),
    unread,
    doubtful,
  };
}

function modesOf(before: unknown, { isRemote }: Jurisdiction): string[] {
  const others = (before as string[]).filter((mode) => mode !== "ron");
  return isRemote ? ["ron", ...others] : others;
}

/**
 * The new list of the classes of documents that a state excludes. It adds the classes that the table's text names to
 * those in the rules file. If the text names no known class, the result is empty, and the file's list stays. The text
 * is then only a term for the notary to read.
 */
function excludedOf(
  { terms: { exclusions } }: Jurisdiction,
  before: Entry | undefined,
  classNames: readonly string[],
  entry: (value: unknown, from: string | null) => Entry,
): { excluded?: Entry } {
  const named = classNames.filter((name) => exclusions && classWords[name]?.test(exclusions.text));
  if (!exclusions || named.length === 0) return {};
  const excludedBefore = (before?.value ?? []) as string[];
  const source = [exclusions.source, before?.source].filter(Boolean).join("; ") || null;
  return { excluded: entry([...new Set([...excludedBefore, ...named])], source) };
}
