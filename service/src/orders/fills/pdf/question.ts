/** A question of an online form: a field of a PDF and its label. */
export type Question = {
  /** The field's full name in the PDF. */
  readonly name: string;
  readonly kind: "text" | "checkbox" | "radio" | "dropdown" | "list";
  readonly label: string;
  /** True if no label was found in the form. The label is then derived from the field's name, or is only a number. */
  readonly isGuessed: boolean;
  readonly required: boolean;
  /** The page of the field, counted from 1. Each page with questions is a step. */
  readonly page: number;
  /** True if the answer may have several lines of text. */
  readonly lines: boolean;
  readonly maxLength: number | null;
  /** The options of radio buttons, dropdowns and lists. */
  readonly options: readonly { readonly value: string; readonly label: string }[];
  /** The values that the field has in the uploaded form; only a list may have several. */
  readonly value: readonly string[];
};

/** Answers by field name. A Map, because a field may have the name of an object's built-in member. */
export type Answers = ReadonlyMap<string, readonly string[]>;

/** The reason why a form can't be filled in online. The worker reports it. */
export type WhyNot = "encrypted" | "signed" | "no_fields" | "secret_fields" | "too_many" | "unreadable";
