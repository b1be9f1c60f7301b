import { invalid } from "../../kernel/platform/errors.ts";
import { isPlainLines, isPlainText, isVisible } from "../../kernel/platform/text.ts";

/** The typed values, by the names of the fields. */
export type Typed = Readonly<Record<string, string>>;

/** The errors of a form: for each wrong field, the rule that it violates. */
export type Faults = Readonly<Record<string, string>>;

export type Read<T> = { ok: true; value: T } | { ok: false; faults: Faults };

type Text = { max?: number; lines?: boolean };

/**
 * True if a text is a valid date, `YYYY-MM-DD`, from 1900 to 2200. Other years are probably typing errors, and
 * PostgreSQL has no year 0.
 */
export function isDay(text: string): boolean {
  const at = /^(?:19\d{2}|2[01]\d{2}|2200)-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  // Date.parse would turn February 31 into March 3, so the result is compared with the text.
  return !Number.isNaN(at) && new Date(at).toISOString().slice(0, 10) === text;
}

/**
 * Reads the fields of a form one by one and collects all faults. The value that a function returns for a wrong field
 * has no meaning: `done` rejects the form.
 */
export function formReader(typed: Typed) {
  const faults: Record<string, string> = {};
  const fault = (name: string, rule: string) => {
    faults[name] ??= rule;
  };
  const typedIn = (name: string) => (typed[name] ?? "").trim();

  function optional(name: string, { max = 200, lines = false }: Text = {}): string | null {
    const value = typedIn(name);
    if (value === "") return null;
    if (value.length > max) fault(name, `must have at most ${max} characters`);
    else if (!(lines ? isPlainLines(value) : isPlainText(value)) || !isVisible(value))
      fault(name, "must be plain text that can be seen");
    return value;
  }

  function requireValue<T>(name: string, value: T | null, missing: T): T {
    if (value === null) fault(name, "is required");
    return value ?? missing;
  }

  function matching(name: string, pattern: RegExp, rule: string): string | null {
    const value = optional(name);
    if (value !== null && !pattern.test(value)) fault(name, rule);
    return value;
  }

  function date(name: string): string | null {
    const value = typedIn(name);
    if (value === "") return null;
    if (!isDay(value)) fault(name, "must be a day like 2026-01-31");
    return value;
  }

  /** Reads an instant in UTC, written `2026-01-31T14:05`, with or without seconds and `Z`; null for an empty field. */
  function instant(name: string): string | null {
    const value = typedIn(name);
    if (value === "") return null;
    const [, day, hour] = /^(\d{4}-\d{2}-\d{2})T(\d{2}):\d{2}(?::\d{2}(?:\.\d+)?)?Z?$/.exec(value) ?? [];
    const at = Date.parse(value.endsWith("Z") ? value : `${value}Z`);
    if (day === undefined || !isDay(day) || hour === "24" || Number.isNaN(at)) {
      fault(name, "must be a time like 2026-01-31T14:05");
      return value;
    }
    return new Date(at).toISOString();
  }

  function oneOf<T extends string>(name: string, choices: readonly T[]): T | null {
    const value = typedIn(name);
    if (value === "") return null;
    const choice = choices.find((each) => each === value);
    if (choice === undefined) fault(name, `must be one of ${choices.join(", ")}`);
    return choice ?? null;
  }

  return {
    fault,
    optional,
    matching,
    date,
    instant,
    oneOf,
    required: (name: string, text?: Text) => requireValue(name, optional(name, text), ""),
    requiredDate: (name: string) => requireValue(name, date(name), ""),
    requiredInstant: (name: string) => requireValue(name, instant(name), ""),
    requiredOneOf: <T extends string>(name: string, choices: readonly [T, ...T[]]): T =>
      requireValue<T>(name, typedIn(name) === "" ? null : (oneOf(name, choices) ?? choices[0]), choices[0]),
    /** The value if the form has no faults; otherwise the faults. */
    done: <T>(value: T): Read<T> => (Object.keys(faults).length > 0 ? { ok: false, faults } : { ok: true, value }),
  };
}

export type FormReader = ReturnType<typeof formReader>;

/** All faults as one text: each field with its rule. */
const faultsText = (faults: Faults): string =>
  Object.entries(faults)
    .map(([name, rule]) => `${name} ${rule}.`)
    .join(" ");

/**
 * The value of a form that was read without faults.
 * @throws ServiceError `validation` naming every wrong field and its rule
 */
export function accepted<T>(read: Read<T>): T {
  if (!read.ok) throw invalid(faultsText(read.faults));
  return read.value;
}
