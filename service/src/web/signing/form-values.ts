import type { SignatureMark, SigningView, SignRequest } from "../../envelopes/envelopes.ts";
import { invalid } from "../../platform/errors.ts";
import { isPlainLines, isPlainText, isVisible } from "../../platform/text.ts";
import type { FormValues } from "../ui/forms/form-body.ts";
import { readDrawn } from "./drawn.ts";
import { pictureMark } from "./picture-mark.ts";
import { longestReason } from "./steps/other-choices.ts";
import { filledIn, inputOf, labelOf, longestName, longestValue } from "./steps/sign.ts";
import type { Words } from "./words/words.ts";

const isLine = (text: string, longest: number): boolean =>
  text.length <= longest && isPlainText(text) && isVisible(text);

/** What a signer signs with. @throws ServiceError `validation` in the reader's language, as all of these */
export function signRequest(form: FormValues, { fields }: Pick<SigningView, "fields">, words: Words): SignRequest {
  const revision = Number(form["revision"]);
  if (!Number.isSafeInteger(revision) || revision < 0) throw invalid(words.refused.again);
  const values = new Map(
    filledIn(fields).map((field) => {
      const value = (form[inputOf(field)] ?? "").trim();
      const label = labelOf(field, words);
      if (value === "" && field.required) throw invalid(words.refused.missing(label));
      if (value !== "" && !isLine(value, longestValue)) throw invalid(words.refused.tooLong(label));
      return [field.name, value];
    }),
  );
  return { revision, mark: signatureMark(form, words), values };
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

/** Why a signer does not sign, in their words; cut, since nobody is held up by a long one. */
export const reasonOf = ({ reason = "" }: FormValues): string =>
  isPlainLines(reason) ? reason.trim().slice(0, longestReason) : "";

export function otherSigner(form: FormValues, words: Words): { name: string; email: string } {
  const [name = "", email = ""] = [form["other_name"]?.trim(), form["other_email"]?.trim()];
  if (!isLine(name, longestName) || !isLine(email, 254) || !/^[^\s@]+@[^\s@]+$/.test(email))
    throw invalid(words.refused.other);
  return { name, email };
}
