import { StartupError } from "../../../../kernel/platform/errors.ts";
import { usStates } from "../../../../orders/pricing/pricing.ts";
import { isDay } from "../../form-reader.ts";
import { onlineForms } from "../online-rules.ts";
import { type TermName, termNames } from "../rules.ts";
import type { Cell, TableRow } from "./records.ts";

/** A table's terms for a jurisdiction. Values that the table lacks are absent. */
export type Jurisdiction = {
  state: string;
  /** True if the table clearly says that remote acts are authorized on the day for which it is read. */
  isRemote: boolean;
  /** The source of the table's statement about the authorization of remote acts. */
  remoteSource: string | null;
  terms: Partial<Record<TermName, Cell>>;
  /** The highest fee for an act online, in cents. */
  feeCapCents?: { value: number; source: string | null };
};

/**
 * A table's rows. `unread` lists columns that could not be interpreted. `doubtful` lists states for which the table
 * does not say clearly whether remote acts are authorized.
 */
export type ReadTable = { jurisdictions: Jurisdiction[]; unread: string[]; doubtful: string[] };

/** The possible names of each column in published tables. */
const columns: Readonly<Record<"state" | "status" | "feeCapCents" | TermName, readonly string[]>> = {
  state: ["state", "jurisdiction", "state_code", "code", "abbreviation", "abbr", "state_name", "name"],
  status: ["ron_status", "ron_authorized", "in_state_ron", "ron", "authorized", "status"],
  effective: ["effective", "effective_date", "ron_effective_date", "effective_dates"],
  feeCap: ["fee_cap", "notary_fee_cap", "notary_fee", "notary_fees", "max_fee", "ron_fee_cap"],
  feeCapCents: ["fee_cap_cents", "ron_fee_cap_cents"],
  identity: ["identity", "identity_verification", "identity_proofing"],
  recording: ["recording", "recording_requirements", "audio_video_recording"],
  retention: ["retention", "record_retention", "recording_retention", "journal_retention"],
  signerLocation: ["signer_location", "location"],
  certificate: ["certificate", "certificate_wording", "notarial_certificate"],
  platform: ["platform", "platform_requirements", "technology_provider"],
  exclusions: ["exclusions", "document_exclusions", "excluded_documents"],
};

/** The names of columns that give the source for a whole row. */
const rowSources = ["statute", "source", "citation", "governing_statute"];

const statesByName = new Map([...usStates].map(([code, { name }]) => [name.toLowerCase(), code]));

function stateOf(text: string): string | undefined {
  const code = text.toUpperCase();
  if (usStates.has(code)) return code;
  return statesByName.get(text.toLowerCase().replace(/^washington,? d\.?c\.?$/, "district of columbia"));
}

/**
 * Reads the rows of a table, from columns with known names.
 * @param today `YYYY-MM-DD`; a law that takes effect later does not count as in force
 * @throws StartupError naming the row and the rule
 */
export function readJurisdictions(rows: readonly TableRow[], today: string, file: string): ReadTable {
  const present = new Set(rows.flatMap((row) => [...row.keys()]));
  const column = (of: keyof typeof columns) => columns[of].find((name) => present.has(name));
  const [state, status, effective] = [column("state"), column("status"), column("effective")];
  const capColumn = column("feeCapCents");
  const statuses = columns.status.filter((name) => present.has(name));
  if (statuses.length > 1)
    throw new StartupError(
      `${file}: ${statuses.join(" and ")} may both say whether remote acts are authorized: leave one`,
    );
  if (!state) throw new StartupError(`${file}: needs a column with the state, such as 'jurisdiction'`);
  if (!status && !effective)
    throw new StartupError(
      `${file}: needs a column that says whether remote acts are authorized, 'status' or 'effective_date'`,
    );
  const termColumns = termNames.map((term) => [term, column(term)] as const);
  const seen = new Set<string>();
  const doubtful: string[] = [];
  const jurisdictions = rows.map((row, index): Jurisdiction => {
    const place = `${file}: row ${index + 1}`;
    const named = row.get(state)?.text ?? "";
    const code = stateOf(named);
    if (!code) throw new StartupError(`${place}: '${named.slice(0, 60)}' is not a US state`);
    if (seen.has(code)) throw new StartupError(`${place}: ${code} is there already`);
    seen.add(code);
    const cell = (name: string | undefined): Cell | undefined => filled(row, name);
    const says = cell(status) ?? cell(effective);
    const isRemote = isInForce(status && (row.get(status)?.text ?? ""), effective && row.get(effective)?.text, today);
    if (isRemote === null)
      doubtful.push(
        `${code}: ${[status, effective]
          .map((name) => name && row.get(name)?.text)
          .filter(Boolean)
          .join("; ")}`,
      );
    return {
      state: code,
      isRemote: isRemote === true,
      remoteSource: says?.source ?? null,
      ...capOf(cell(capColumn), place),
      terms: Object.fromEntries(termColumns.flatMap(([term, name]) => (cell(name) ? [[term, cell(name)]] : []))),
    };
  });
  const read = new Set([state, status, capColumn, ...termColumns.map(([, name]) => name), ...rowSources]);
  const isSource = (name: string) => [...read].some((each) => each && name.startsWith(`${each}_`));
  return { jurisdictions, unread: [...present].filter((name) => !read.has(name) && !isSource(name)), doubtful };
}

function filled(row: TableRow, name: string | undefined): Cell | undefined {
  const cell = name === undefined ? undefined : row.get(name);
  if (!cell || cell.text === "" || /^(n\/?a|none|-|—|unknown)$/i.test(cell.text)) return undefined;
  const source = rowSources.map((each) => row.get(each)?.text).find((each) => each);
  return { text: cell.text, source: cell.source ?? source ?? null };
}

/**
 * Reads the highest fee from a cell of the table.
 * @throws StartupError for an amount that is not a whole number of cents up to 100,000
 */
function capOf(cell: Cell | undefined, place: string): Pick<Jurisdiction, "feeCapCents"> {
  if (!cell) return {};
  const value = onlineForms.feeCapCents.read(cell.text);
  if (value === undefined) throw new StartupError(`${place}: fee_cap_cents must be a whole number up to 100000`);
  return { feeCapCents: { value, source: cell.source } };
}

const yes = /^(?:yes|true|full(?:y authorized)?|(?:fully )?authorized|authorised|permitted|in force|active)$/i;
const no =
  /^(?:no|false|none|not (?:yet )?(?:authorized|authorised|permitted|in force)|pending|prohibited|n\/?a|-|—)$/i;
/** Matches a text that states nothing but a first day, such as `effective 2026-07-01` or `since July 1, 2026`. */
const sinceDay = /^(?:(?:effective|since|from|on)[ :]+)?(?:on )?(\d{4}-\d{2}-\d{2}|[a-z]{3,9}\.? \d{1,2}, \d{4})$/i;

/**
 * True if the law on remote acts is in force; null for an ambiguous text. If the table states both a status and a first
 * day, both must say that the law is in force.
 * @param status undefined when the table has no such column
 */
function isInForce(status: string | undefined, effective: string | undefined, today: string): boolean | null {
  if (status !== undefined) {
    if (no.test(status)) return false;
    const [, word = "", rest] = /^(.*?)(?:[ ,;(]+((?:effective|since|from)\b.*?)\)?)?$/i.exec(status) ?? [];
    if (!yes.test(word)) return null;
    if (rest !== undefined && !isEffective(rest, today)) return isEffective(rest, today);
    if (effective === undefined || effective === "") return true;
  }
  return effective === undefined || effective === "" ? null : isEffective(effective, today);
}

function isEffective(text: string, today: string): boolean | null {
  if (no.test(text)) return false;
  const [, written] = sinceDay.exec(text) ?? [];
  const day = written === undefined ? null : dayOf(written);
  return day === null ? null : day <= today;
}

const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/** Parses a day, and returns it as `YYYY-MM-DD`. Null for a day that does not exist. */
function dayOf(text: string): string | null {
  const [, month = "", date = "", year = ""] = /^([a-z]+)\.? (\d{1,2}), (\d{4})$/i.exec(text) ?? [];
  const n = months.indexOf(month.slice(0, 3).toLowerCase()) + 1;
  const day = month === "" ? text : `${year}-${String(n).padStart(2, "0")}-${date.padStart(2, "0")}`;
  return isDay(day) ? day : null;
}
