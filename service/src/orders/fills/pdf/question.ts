/** A question of an online form: a field of a PDF, in words. */
export type Question = {
  /** The field's full name in the PDF. */
  readonly name: string;
  readonly kind: "text" | "checkbox" | "radio" | "dropdown" | "list";
  readonly label: string;
  /** Whether the label was made of the field's name, as the form has no words for it. */
  readonly isGuessed: boolean;
  readonly required: boolean;
  /** From 1: each page of the form is a step. */
  readonly page: number;
  /** Text of several lines. */
  readonly lines: boolean;
  readonly maxLength: number | null;
  /** The options of radios, dropdowns and lists. */
  readonly options: readonly { readonly value: string; readonly label: string }[];
  /** As the form comes: more than one only of a list. */
  readonly value: readonly string[];
};

/** Answers by the names of fields: a name may be that of any member of an object. */
export type Answers = ReadonlyMap<string, readonly string[]>;

/** Why a form can't be filled in online, as a worker says it. */
export type WhyNot = "encrypted" | "signed" | "no_fields" | "secret_fields" | "too_many" | "unreadable";
