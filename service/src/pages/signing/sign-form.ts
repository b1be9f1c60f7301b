import { invalid } from "../../kernel/platform/errors.ts";
import { isPlainText, isVisible } from "../../kernel/platform/text.ts";
import { readFieldValue } from "../../orders/order/order.ts";
import type { ShownField, SignatureMark, SigningView, SignRequest } from "../../signing/envelopes/envelopes.ts";
import type { FormValues } from "../ui/forms/form-body.ts";
import { readDrawn } from "./drawn.ts";
import { pictureMark } from "./picture-mark.ts";
import { filledIn, inputOf, labelOf, longestValue, on, optionsOf } from "./steps/fields.ts";
import { longestName } from "./steps/sign.ts";
import type { Words } from "./words/en.ts";

const off = "Off";

export const isLine = (text: string, longest: number): boolean =>
  [...text].length <= longest && isPlainText(text) && isVisible(text);

/** Validates the signing form. @throws ServiceError `validation` in the reader's language */
export function signRequest(form: FormValues, { fields }: Pick<SigningView, "fields">, words: Words): SignRequest {
  const revision = Number(form["revision"]);
  if (!Number.isSafeInteger(revision) || revision < 0) throw invalid(words.refused.again);
  const values = new Map(filledIn(fields).map((one) => [one.name, valueIn(form, one, words)]));
  for (const one of fields) requireChoice(form, one, fields, words);
  return { revision, mark: signatureMark(form, words), values };
}

/** @returns text as it was typed or chosen; the state of a checkbox or of a radio's option */
function valueIn(form: FormValues, one: ShownField, words: Words): string {
  const { refused } = words;
  const value = (form[inputOf(one)] ?? "").trim();
  const label = labelOf(one, words);
  if (one.kind === "radio") return value === one.name ? on : off;
  if (one.kind === "checkbox") {
    if (one.required && value !== on) throw invalid(refused.unchecked(label));
    return value === on ? on : off;
  }
  if (value === "" && one.required) throw invalid(refused.missing(label));
  if (value === "") return value;
  if (!isLine(value, longestValue)) throw invalid(refused.tooLong(label));
  const read = readFieldValue(one, value);
  if ("rule" in read) throw invalid(refused.value[read.rule](label, read.limit));
  return value;
}

function requireChoice(form: FormValues, one: ShownField, fields: readonly ShownField[], words: Words): void {
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
  if (!isLine(text, longestName)) throw invalid(words.refused.name);
  return { kind: "typed", text };
}
