import type { Language } from "../../../kernel/platform/languages.ts";
/** The formats of a date: `iso` 2026-01-05, `us` 01/05/2026, `long` January 5, 2026. */
export const dateFormats = ["iso", "us", "long"] as const;
export const textFormats = ["any", "email", "phone_us", "zip_us", "ssn_last4"] as const;
export const currencies = ["USD", "CAD", "EUR", "GBP", "MXN"] as const;

/** Decimal numbers are stored as texts, because canonical JSON has no fractions. */
export type NumberFormat = {
  readonly decimals?: number;
  readonly min?: string;
  readonly max?: string;
  readonly currency?: (typeof currencies)[number];
};
type TextFormat = (typeof textFormats)[number];
export type FieldFormat = (typeof dateFormats)[number] | TextFormat | NumberFormat;

/**
 * The rule that a text breaks. `limit` is the limit of the rules `decimals`, `min` and `max`, and empty for other
 * rules.
 */
export type ValueFault = {
  readonly rule: Exclude<TextFormat, "any"> | "number" | "decimals" | "min" | "max" | "option";
  readonly limit: string;
};

/** The rules for the texts that a field accepts. */
export type ValueRules = {
  readonly kind: string;
  readonly format?: FieldFormat | undefined;
  readonly options?: readonly string[] | undefined;
};

export const maxDecimals = 4;
/**
 * The most digits before the decimal point. With `maxDecimals` decimals these are 15 digits, the most that a
 * JavaScript number represents exactly.
 */
const maxDigits = 11;

const patterns: Readonly<Record<Exclude<TextFormat, "any">, RegExp>> = {
  email: /^[^\s@]{1,64}@[^\s@.]+(?:\.[^\s@.]+)+$/,
  phone_us: /^(?:\+?1[ .-]?)?(?:\(\d{3}\) ?|\d{3}[ .-]?)\d{3}[ .-]?\d{4}$/,
  zip_us: /^\d{5}(?:-\d{4})?$/,
  ssn_last4: /^\d{4}$/,
};

/**
 * Reads a text as the value of a field.
 * @param text not empty
 * @returns the value as it is written into the document, or the rule that the text breaks
 */
export function readFieldValue(
  { kind, format, options = [] }: ValueRules,
  text: string,
): { readonly value: string } | ValueFault {
  if (kind === "dropdown") return options.includes(text) ? { value: text } : { rule: "option", limit: "" };
  if (kind === "number") return readNumber(text, typeof format === "object" ? format : {});
  if (kind !== "text" || typeof format !== "string") return { value: text };
  const rule = textFormats.find((each) => each === format);
  if (rule === undefined || rule === "any" || patterns[rule].test(text)) return { value: text };
  return { rule, limit: "" };
}

/** `-1,234.50`, optionally with a dollar sign before it or a currency code after it. */
const number = /^(-?)\$?((?:\d{1,3}(?:,\d{3})+|\d+))(?:\.(\d+))?(?: ?[A-Z]{3})?$/;

function readNumber(text: string, format: NumberFormat): { readonly value: string } | ValueFault {
  const [, minus = "", grouped = "", fraction = ""] = number.exec(text) ?? [];
  const whole = grouped.replaceAll(",", "").replace(/^0+(?=\d)/, "");
  if (whole === "" || whole.length > maxDigits) return { rule: "number", limit: "" };
  const suffix = /[A-Z]{3}$/.exec(text)?.[0];
  if ((suffix && suffix !== format.currency) || (text.includes("$") && format.currency !== "USD"))
    return { rule: "number", limit: "" };
  const decimals = format.decimals ?? (format.currency ? 2 : maxDecimals);
  if (fraction.length > decimals) return { rule: "decimals", limit: `${decimals}` };
  const value = scaled(`${minus}${whole}.${fraction}`);
  if (format.min !== undefined && value < scaled(format.min)) return { rule: "min", limit: format.min };
  if (format.max !== undefined && value > scaled(format.max)) return { rule: "max", limit: format.max };
  const isFixed = format.decimals !== undefined || format.currency !== undefined;
  const shown = isFixed ? fraction.padEnd(decimals, "0") : fraction;
  const sign = value < 0n ? "-" : "";
  const digits = `${whole.replace(/\B(?=(?:\d{3})+$)/g, ",")}${shown === "" ? "" : `.${shown}`}`;
  if (format.currency === "USD") return { value: `${sign}$${digits}` };
  return { value: `${sign}${digits}${format.currency ? ` ${format.currency}` : ""}` };
}

/** The value of a decimal number in ten-thousandths: `1.5` gives 15000. */
export function scaled(decimal: string): bigint {
  const [whole = "", fraction = ""] = decimal.split(".");
  return BigInt(whole + fraction.padEnd(maxDecimals, "0"));
}

const english = "January February March April May June July August September October November December".split(" ");
const spanish = "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre".split(" ");
const french = "janvier février mars avril mai juin juillet août septembre octobre novembre décembre".split(" ");
const portuguese = "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro".split(
  " ",
);
const tagalog = "Enero Pebrero Marso Abril Mayo Hunyo Hulyo Agosto Setyembre Oktubre Nobyembre Disyembre".split(" ");

/**
 * The names of months are written out here. A new release of the runtime then can't change how a signed document states
 * its date.
 */
const longDates: Readonly<Record<Language, (day: number, month: number, year: string) => string>> = {
  en: (day, month, year) => `${english[month - 1]} ${day}, ${year}`,
  es: (day, month, year) => `${day} de ${spanish[month - 1]} de ${year}`,
  fr: (day, month, year) => `${day === 1 ? "1er" : day} ${french[month - 1]} ${year}`,
  pt: (day, month, year) => `${day} de ${portuguese[month - 1]} de ${year}`,
  zh: (day, month, year) => `${year}年${month}月${day}日`,
  vi: (day, month, year) => `ngày ${day} tháng ${month} năm ${year}`,
  ko: (day, month, year) => `${year}년 ${month}월 ${day}일`,
  tl: (day, month, year) => `${tagalog[month - 1]} ${day}, ${year}`,
};

/**
 * The date of an instant, written in the field's format.
 * @param zone the time zone of the date, such as `America/New_York`
 */
export function dateText(
  at: Date,
  { format, language, zone }: { format: FieldFormat | undefined; language: Language; zone: string },
): string {
  const digits = { year: "numeric", month: "2-digit", day: "2-digit" } as const;
  const parts = new Intl.DateTimeFormat("en-US", { ...digits, timeZone: zone }).formatToParts(at);
  const part = (type: "year" | "month" | "day") => parts.find((one) => one.type === type)?.value ?? "";
  const [year, month, day] = [part("year"), part("month"), part("day")];
  if (format === "us") return `${month}/${day}/${year}`;
  if (format !== "long") return `${year}-${month}-${day}`;
  return longDates[language](Number(day), Number(month), year);
}
