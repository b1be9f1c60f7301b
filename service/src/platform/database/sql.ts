/** A statement, or a part of one, whose values never become part of its text. */
export class Statement {
  readonly strings: readonly string[];
  readonly values: readonly unknown[];
  #text: string | undefined;

  constructor(strings: readonly string[], values: readonly unknown[]) {
    this.strings = strings;
    this.values = values;
  }

  /** The text with PostgreSQL's numbered parameters: `$1`, `$2`, ... */
  get text(): string {
    this.#text ??= this.strings.reduce((text, part, i) => `${text}$${i}${part}`);
    return this.#text;
  }
}

/**
 * Makes a statement of a template: a value becomes a parameter, a statement becomes a part of the text.
 * The text depends on the template and its parts alone, so equal statements share one prepared plan.
 */
export function sql(template: TemplateStringsArray, ...values: readonly unknown[]): Statement {
  if (!values.some((value) => value instanceof Statement)) return new Statement(template, values);
  const strings = [template[0] ?? ""];
  const parameters: unknown[] = [];
  const append = (text: string) => strings.push((strings.pop() ?? "") + text);
  values.forEach((value, i) => {
    if (value instanceof Statement) {
      const [first = "", ...rest] = value.strings;
      append(first);
      strings.push(...rest);
      parameters.push(...value.values);
    } else {
      parameters.push(value);
      strings.push("");
    }
    append(template[i + 1] ?? "");
  });
  return new Statement(strings, parameters);
}

/** Nothing, where a part may be left out. */
export const nothing: Statement = sql``;

/** A value, or a part of a statement that stands for one: a column, an expression. */
export type Part<T> = T | Statement;

/** A time as the interface writes it: ISO 8601 in UTC, to the millisecond. */
export const isoTime = (column: Statement): Statement =>
  sql`to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
