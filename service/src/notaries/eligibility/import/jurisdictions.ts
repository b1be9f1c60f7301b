import { StartupError } from "../../../platform/errors.ts";
import { usStates } from "../../../pricing/pricing.ts";
import { type TermName, termNames } from "../rules.ts";
import type { Cell, TableRow } from "./records.ts";

/** What a table says of a jurisdiction; a value that it does not have is not there. */
export type Jurisdiction = {
  state: string;
  /** Whether remote acts are authorized, as of the day of the import. */
  isRemote: boolean;
  /** Where it says so. */
  remoteSource: string | null;
  terms: Partial<Record<TermName, Cell>>;
};

export type ReadTable = { jurisdictions: Jurisdiction[]; unread: string[] };

/** The names that a column may have, in the words of published tables. */
const columns: Readonly<Record<"state" | "status" | TermName, readonly string[]>> = {
  state: ["state", "jurisdiction", "state_code", "code", "abbreviation", "abbr", "state_name", "name"],
  status: ["status", "ron_status", "authorized", "ron_authorized", "ron", "in_state_ron"],
  effective: ["effective", "effective_date", "ron_effective_date", "effective_dates"],
  feeCap: ["fee_cap", "notary_fee_cap", "notary_fee", "notary_fees", "max_fee", "ron_fee_cap"],
  identity: ["identity", "identity_verification", "identity_proofing"],
  retention: ["retention", "record_retention", "recording_retention", "journal_retention"],
  signerLocation: ["signer_location", "location"],
  exclusions: ["exclusions", "document_exclusions", "excluded_documents"],
};

/** Columns about a whole row. */
const rowSources = ["statute", "source", "citation", "governing_statute"];

const statesByName = new Map([...usStates].map(([code, { name }]) => [name.toLowerCase(), code]));

function stateOf(text: string): string | undefined {
  const code = text.toUpperCase();
  if (usStates.has(code)) return code;
  return statesByName.get(text.toLowerCase().replace(/^washington,? d\.?c\.?$/, "district of columbia"));
}

/**
 * What the rows say, by columns that are known by their names.
 * @param today `YYYY-MM-DD`: what takes effect later is not in force yet
 * @throws StartupError naming the row and the rule
 */
export function readJurisdictions(rows: readonly TableRow[], today: string, file: string): ReadTable {
  const present = new Set(rows.flatMap((row) => [...row.keys()]));
  const column = (of: keyof typeof columns) => columns[of].find((name) => present.has(name));
  const [state, status, effective] = [column("state"), column("status"), column("effective")];
  if (!state) throw new StartupError(`${file}: needs a column with the state, such as 'jurisdiction'`);
  if (!status && !effective)
    throw new StartupError(
      `${file}: needs a column that says whether remote acts are authorized, 'status' or 'effective_date'`,
    );
  const termColumns = termNames.map((term) => [term, column(term)] as const);
  const seen = new Set<string>();
  const jurisdictions = rows.map((row, index): Jurisdiction => {
    const place = `${file}: row ${index + 1}`;
    const named = row.get(state)?.text ?? "";
    const code = stateOf(named);
    if (!code) throw new StartupError(`${place}: '${named.slice(0, 60)}' is no US state`);
    if (seen.has(code)) throw new StartupError(`${place}: ${code} is there already`);
    seen.add(code);
    const cell = (name: string | undefined): Cell | undefined => filled(row, name);
    const says = cell(status) ?? cell(effective);
    return {
      state: code,
      isRemote: isInForce(cell(status)?.text, cell(effective)?.text, today),
      remoteSource: says?.source ?? null,
      terms: Object.fromEntries(termColumns.flatMap(([term, name]) => (cell(name) ? [[term, cell(name)]] : []))),
    };
  });
  const read = new Set([state, status, ...termColumns.map(([, name]) => name), ...rowSources]);
  const isSource = (name: string) => [...read].some((each) => each && name.startsWith(`${each}_`));
  return { jurisdictions, unread: [...present].filter((name) => !read.has(name) && !isSource(name)) };
}

function filled(row: TableRow, name: string | undefined): Cell | undefined {
  const cell = name === undefined ? undefined : row.get(name);
  if (!cell || cell.text === "" || /^(n\/?a|none|-|—|unknown)$/i.test(cell.text)) return undefined;
  const source = rowSources.map((each) => row.get(each)?.text).find((each) => each);
  return { text: cell.text, source: cell.source ?? source ?? null };
}

/** Doubt is no: what can't be read as authorized now is not offered. */
function isInForce(status: string | undefined, effective: string | undefined, today: string): boolean {
  const isNo = /\b(no|not|never|pending|prohibited|repealed|expired|limited)\b/i;
  if (
    status !== undefined &&
    (isNo.test(status) || !/\b(yes|full|fully|authorized|authorised|permitted|in force|active)\b/i.test(status))
  )
    return false;
  if (effective === undefined) return status !== undefined;
  const day = dayOf(effective);
  return day !== null && day <= today && !isNo.test(effective);
}

const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/** The one day that a text names, as `YYYY-MM-DD`; null for none or more than one. */
function dayOf(text: string): string | null {
  const written = /\b([A-Z][a-z]{2})[a-z]*\.? (\d{1,2}), (\d{4})\b/g;
  const days = [
    ...[...text.matchAll(/\b(\d{4}-\d{2}-\d{2})\b/g)].map(([, day = ""]) => day),
    ...[...text.matchAll(written)].flatMap(([, month = "", day = "", year = ""]) => {
      const n = months.indexOf(month.toLowerCase()) + 1;
      return n === 0 ? [] : [`${year}-${String(n).padStart(2, "0")}-${day.padStart(2, "0")}`];
    }),
  ];
  return days.length === 1 ? (days[0] ?? null) : null;
}
