import { hash } from "node:crypto";
import type { SealedKind } from "../sealed-text.ts";

/**
 * SQL text with PostgreSQL's numbered parameters (`$1`, `$2`, ...), and the name of the prepared statement: a hash of
 * the text.
 */
type Prepared = { readonly text: string; readonly name: string };

const prepared = new WeakMap<readonly string[], Prepared>();

function preparedOf(strings: readonly string[]): Prepared {
  const cached = prepared.get(strings);
  if (cached) return cached;
  const text = strings.reduce((before, part, i) => `${before}$${i}${part}`);
  const statement = { text, name: hash("sha256", text, "base64url").slice(0, 20) };
  prepared.set(strings, statement);
  return statement;
}

/** A statement, or a part of one, whose values never become part of its text. */
export class Statement {
  readonly strings: readonly string[];
  readonly values: readonly unknown[];

  constructor(strings: readonly string[], values: readonly unknown[]) {
    this.strings = strings;
    this.values = values;
  }

  get text(): string {
    return preparedOf(this.strings).text;
  }

  /** The name under which the statement is prepared, because PostgreSQL plans unnamed statements again each time. */
  get name(): string {
    return preparedOf(this.strings).name;
  }
}

/**
 * A node of the tree that caches the texts of composed templates. The path to a text begins with the template's
 * strings. Each interpolated part adds a step: a statement's strings, or `value` for a plain value.
 */
type Composed = { strings: readonly string[] | undefined; readonly by: WeakMap<readonly string[], Composed> };

const value: readonly string[] = [];
const composed = new WeakMap<readonly string[], Composed>();

const next = (map: Composed["by"], key: readonly string[]): Composed => {
  const step = map.get(key) ?? { strings: undefined, by: new WeakMap() };
  map.set(key, step);
  return step;
};

/**
 * Makes a statement from a template: a value becomes a parameter, a statement becomes a part of the text. The text
 * depends only on the template and its parts and is built once, so equal statements share one prepared plan.
 */
export function sql(template: TemplateStringsArray, ...interpolated: readonly unknown[]): Statement {
  if (!interpolated.some((each) => each instanceof Statement)) return new Statement(template, interpolated);
  const values: unknown[] = [];
  let found = next(composed, template);
  for (const each of interpolated) {
    if (each instanceof Statement) values.push(...each.values);
    else values.push(each);
    found = next(found.by, each instanceof Statement ? each.strings : value);
  }
  found.strings ??= joined(template, interpolated);
  return new Statement(found.strings, values);
}

function joined([start = "", ...template]: readonly string[], interpolated: readonly unknown[]): string[] {
  const strings = [start];
  const append = (text: string) => strings.push((strings.pop() ?? "") + text);
  interpolated.forEach((each, i) => {
    const [first = "", ...rest] = each instanceof Statement ? each.strings : ["", ""];
    append(first);
    strings.push(...rest);
    append(template[i] ?? "");
  });
  return strings;
}

/**
 * A value that is encrypted before it is sent to the database. `forms`: `current` sends the text encrypted under the
 * current key; `all` sends an array with the text encrypted under each key.
 */
export class ToSeal {
  readonly kind: SealedKind;
  readonly text: string;
  readonly forms: "current" | "all";

  constructor(kind: SealedKind, text: string, forms: "current" | "all") {
    this.kind = kind;
    this.text = text;
    this.forms = forms;
  }
}

/** Several texts to encrypt and send as one array, which contains each text encrypted under each key. */
export class AllToSeal {
  readonly texts: readonly ToSeal[];

  constructor(kind: SealedKind, texts: readonly string[]) {
    this.texts = texts.map((text) => new ToSeal(kind, text, "all"));
  }
}

/** A text that is stored encrypted. Select it `AS "name@kind"` to read it decrypted as `name`. */
export const sealed = (kind: SealedKind, text: string): ToSeal => new ToSeal(kind, text, "current");

/** SQL condition: a column of sealed texts equals this text. It can use an index on the column. */
export const isSealed = (column: Statement, kind: SealedKind, text: string): Statement =>
  sql`${column} = ANY (${new ToSeal(kind, text, "all")}::text[])`;

/** SQL condition: a column of sealed texts equals one of these texts. It can use an index on the column. */
export const isSealedAny = (column: Statement, kind: SealedKind, texts: readonly string[]): Statement =>
  sql`${column} = ANY (${new AllToSeal(kind, texts)}::text[])`;

/** An empty statement, in place of an optional part that is absent. */
export const nothing: Statement = sql``;

/** Columns or values, separated by commas; at least one. */
export const listed = (statements: readonly Statement[]): Statement =>
  statements.reduce((all, one) => sql`${all}, ${one}`);

const texts = new Map<string, Statement>();

/**
 * A constant part of a statement's text. Equal texts give the same object, so that statements made from them share one
 * prepared plan.
 */
export function textual(text: string): Statement {
  const cached = texts.get(text) ?? sql(Object.assign([text], { raw: [text] }));
  texts.set(text, cached);
  return cached;
}

/** A constant name as a quoted identifier. */
export const quoted = (name: string): Statement => textual(`"${name}"`);

export const unionAll = (statements: readonly Statement[]): Statement =>
  statements.reduce((all, one) => sql`${all} UNION ALL ${one}`);

/** A value, or an SQL expression for it, such as a column. */
export type Part<T> = T | Statement;

/** A time as the interface writes it: ISO 8601 in UTC, to the millisecond. */
export const isoTime = (column: Statement): Statement =>
  sql`to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** A time as `timestamp` in UTC, because the text of a `timestamptz` depends on the time zone of the session. */
export const instant = (at: Statement): Statement => sql`(${at} AT TIME ZONE 'UTC')`;

export const hex = (bytes: Statement): Statement => sql`encode(${bytes}, 'hex')`;
