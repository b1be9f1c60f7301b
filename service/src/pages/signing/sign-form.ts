import { invalid } from "../../kernel/platform/errors.ts";
import { isPlainText, isVisible, wholeNumberIn } from "../../kernel/platform/text.ts";
import { type Calculated, readFieldValue } from "../../orders/order/order.ts";
import type { ShownField, SignatureMark, SigningView, SignRequest } from "../../signing/envelopes/envelopes.ts";
import type { FormValues } from "../ui/forms/form-body.ts";
import { readDrawn } from "./drawn.ts";
import { pictureMark } from "./picture-mark.ts";
import { filledIn, inputOf, labelOf, maxValueLength, on, optionsOf, rulesOf } from "./steps/fields.ts";
import { maxNameLength } from "./steps/sign.ts";
import type { Words } from "./words/en.ts";

const off = "Off";

export const isLine = (text: string, maxLength: number): boolean =>
  [...text].length <= maxLength && isPlainText(text) && isVisible(text);

/**
 * Validates the signing form.
 * @throws ServiceError `validation` in the reader's language
 */
export function signRequest(
  form: FormValues,
  view: Pick<SigningView, "fields" | "referenced">,
  words: Words,
): SignRequest {
  const { fields } = view;
  const revision = wholeNumberIn(form["revision"], 0, 999_999_999);
  if (revision === undefined) throw invalid(words.refused.again);
  const rules = rulesOf(view, (one) => typedIn(form, one));
  const values = new Map(
    filledIn(fields).map((one): [string, string] => {
      if (!rules.isShown(one)) return [one.name, one.kind === "checkbox" || one.kind === "radio" ? off : ""];
      if (one.formula === undefined) return [one.name, valueIn(form, one, words)];
      return [one.name, requireSeen(typedIn(form, one), one, rules.calculate(one), words)];
    }),
  );
  for (const one of fields) if (rules.isShown(one)) requireChoice(form, one, fields, words);
  return { revision, mark: signatureMark(form, words), values };
}

/** The value of a field in the sent form. A radio option is `On` or `Off`, and a checkbox `On` or empty. */
function typedIn(form: FormValues, one: ShownField): string {
  const value = (form[inputOf(one)] ?? "").trim();
  return one.kind === "radio" ? (value === one.name ? on : off) : value;
}

/**
 * Rejects the form if a calculated number differs from the one that the page displayed, so that nobody signs an unseen
 * number. Also rejects a number that breaks the field's rules, and an empty value in a required field.
 * @param seen the number that the form sent
 * @returns the number; empty for none
 */
function requireSeen(seen: string, one: ShownField, result: Calculated, { refused, ...words }: Words): string {
  const label = labelOf(one, { refused, ...words });
  if (typeof result === "object" && "rule" in result) throw invalid(refused.value[result.rule](label, result.limit));
  if (result === "no value" && one.required) throw invalid(refused.noResult(label));
  const value = result === "no value" ? "" : result.value;
  if (seen !== value) throw invalid(refused.calculated(label, value));
  return value;
}

/**
 * Reads the value of a field.
 * @returns the typed or chosen text; `On` or `Off` for a checkbox or a radio option
 */
function valueIn(form: FormValues, one: ShownField, words: Words): string {
  const { refused } = words;
  const value = typedIn(form, one);
  const label = labelOf(one, words);
  if (one.kind === "radio") return value;
  if (one.kind === "checkbox") {
    if (one.required && !one.choices && value !== on) throw invalid(refused.unchecked(label));
    return value === on ? on : off;
  }
  if (value === "" && one.required) throw invalid(refused.missing(label));
  if (value === "") return value;
  if (!isLine(value, maxValueLength)) throw invalid(refused.tooLong(label));
  const read = readFieldValue(one, value);
  if ("rule" in read) throw invalid(refused.value[read.rule](label, read.limit));
  return value;
}

function requireChoice(form: FormValues, one: ShownField, fields: readonly ShownField[], words: Words): void {
  if (one.choices) {
    const { least, most } = one.choices;
    const chosen = optionsOf(one, fields).filter((each) => typedIn(form, each) === on).length;
    if (chosen < least || chosen > most) throw invalid(words.refused.pick(labelOf(one, words), least, most));
  }
  if (one.kind !== "radio") return;
  const value = form[inputOf(one)] ?? "";
  const isOption = optionsOf(one, fields).some(({ name }) => name === value);
  if (value === "" ? one.required : !isOption) throw invalid(words.refused.missing(labelOf(one, words)));
}

function signatureMark({ drawn = "", picture = "", name = "" }: FormValues, words: Words): SignatureMark {
  if (picture !== "") {
    const mark = pictureMark(picture);
    if (!mark) throw invalid(words.refused.picture.broken);
    return mark;
  }
  if (drawn !== "") {
    const strokes = readDrawn(drawn);
    if (!strokes) throw invalid(words.refused.drawn);
    return { kind: "drawn", ...strokes };
  }
  const text = name.trim();
  if (!isLine(text, maxNameLength)) throw invalid(words.refused.name);
  return { kind: "typed", text };
}
