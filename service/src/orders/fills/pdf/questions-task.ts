import { resolve } from "../../../kernel/pdf/objects.ts";
import { PdfRefusal } from "../../../kernel/pdf/refusal.ts";
import { asInteger, entry } from "../../../kernel/pdf/values.ts";
import { lookUpPdf, type PdfLookup } from "../../../kernel/pdf/xref/lookup.ts";
import {
  type AskedField,
  askedFields,
  flag,
  shownWords,
  textAt,
  Unfillable,
  valuesAt,
  wordsIn,
} from "./form-questions.ts";
import { labelsOnPages } from "./page-labels.ts";
import type { Question, WhyNot } from "./question.ts";

export async function run(bytes: Buffer): Promise<{ questions: Question[] } | { whyNot: WhyNot }> {
  try {
    const look = lookUpPdf(bytes);
    const asked = askedFields(look);
    const onPages = await labelsOnPages(bytes, asked);
    return { questions: asked.map((each, index) => questionOf(look, each, { index, ...onPages(each) })) };
  } catch (error) {
    if (error instanceof Unfillable) return { whyNot: error.why };
    if (error instanceof PdfRefusal) return { whyNot: error.reason === "encrypted" ? "encrypted" : "unreadable" };
    throw error;
  }
}

type OnPage = { index: number; label: string; options: readonly string[] };

function questionOf({ file }: PdfLookup, asked: AskedField, onPage: OnPage): Question {
  const { field, kind, widgets, options } = asked;
  const { name, flags, dict } = field;
  const page = widgets[0]?.page ?? 1;
  const isMany = (flags & flag.multiSelect) !== 0;
  const most = asInteger(resolve(file, entry(dict, "MaxLen")));
  const shown = options.map((option, at) => {
    const label = kind === "radio" ? onPage.options[at] || option.label : option.label;
    return { value: option.value, label: shownWords(label) || option.value };
  });
  return {
    name,
    kind: kind !== "choice" ? kind : isMany ? "list" : "dropdown",
    ...labelOf(shownWords(textAt(file, dict, "TU")) || onPage.label, name, `${onPage.index + 1}`),
    required: (flags & flag.required) !== 0,
    page,
    lines: kind === "text" && (flags & flag.multiline) !== 0,
    maxLength: kind === "text" && most !== undefined && most > 0 ? most : null,
    options: shown,
    value: kind === "text" ? valuesAt(file, dict).slice(0, 1) : knownOf(asked, valuesAt(file, dict), isMany),
  };
}

function knownOf({ kind, options, widgets }: AskedField, values: string[], isMany: boolean): string[] {
  const all = kind === "checkbox" ? widgets.map(({ state }) => state) : options.map(({ value }) => value);
  const known = values.filter((value) => all.includes(value));
  return kind === "checkbox" && known.length > 0 ? ["on"] : known.slice(0, isMany ? known.length : 1);
}

/**
 * A usable label has three letters in a row. Field names that software generates often have fewer, and mean nothing to
 * people.
 */
const says = /\p{L}{3}/u;
const saysNothing =
  /^(?:text|field|check ?box|box|undefined|untitled|fill|group|radio|combo|list|dropdown|form|topmost subform)[\s\d]*$/i;

function labelOf(found: string, name: string, number: string): Pick<Question, "label" | "isGuessed"> {
  if (found !== "") return { label: found, isGuessed: false };
  const words = wordsIn(name.slice(name.lastIndexOf(".") + 1));
  return { label: says.test(words) && !saysNothing.test(words) ? words : `${number}.`, isGuessed: true };
}
