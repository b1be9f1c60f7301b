/** How a signer is identified, in addition to the mailed link. */
export type SignerAuth = "link" | "mail_code" | "access_code" | "text_code";

/** A language of pages and mails. `pt` is Brazilian Portuguese, and `zh` is Chinese in simplified characters. */
export type Language = "en" | "es" | "fr" | "pt" | "zh" | "vi" | "ko" | "tl";

export type Signer = {
  name: string;
  email: string;
  /**
   * A 10-digit US number, or an international number that starts with `+` and the country code. Required when `auth` is
   * `text_code`.
   */
  phone?: string | undefined;
  /**
   * The signer's turn: 1 to 10. Signers with the same number sign in parallel, after those with lower numbers. Default
   * 1.
   */
  routing?: number | undefined;
  /** The identification of this signer. Default: the order's `signerAuth`. */
  auth?: SignerAuth | undefined;
  /** The code for `auth: "access_code"`. You give it to the signer yourself. */
  accessCode?: string | undefined;
  /** Language of mails and pages. Default `en`. */
  language?: Language | undefined;
};

/**
 * One option of a radio, multiple or dropdown field. In a radio or multiple field, each option has its own place on the
 * page, in points.
 */
export type FieldOption = {
  /** The label of the option. No two options of a field can have the same label. */
  label: string;
  x?: number | undefined;
  y?: number | undefined;
  width?: number | undefined;
  height?: number | undefined;
};

export type NumberFormat = {
  /**
   * How many decimals the signer may type, and how many are shown: 0 to 4. Default with a currency: 2. Default without
   * one: the signer may type up to 4, and the number is shown as typed.
   */
  decimals?: number | undefined;
  min?: number | undefined;
  max?: number | undefined;
  currency?: "USD" | "CAD" | "EUR" | "GBP" | "MXN" | undefined;
};

/**
 * A condition on another field. That field must be for the same signer or for a signer of an earlier turn, or be
 * `readOnly`.
 */
export type ShowWhen = {
  /** The `id` of the other field. */
  field: string;
  operator: "checked" | "unchecked" | "filled" | "empty" | "equals" | "not_equals" | "greater_than" | "less_than";
  /**
   * A text, a number, or the label of an option. Absent for the operators `checked`, `unchecked`, `filled` and `empty`.
   */
  value?: string | number | undefined;
};

/**
 * A field of the document, for one signer. Positions and sizes are in points (1/72 inch); positions are measured from
 * the upper left corner of the page as displayed.
 */
export type SignatureField = {
  kind: "signature" | "initials" | "date" | "name" | "text" | "number" | "checkbox" | "radio" | "multiple" | "dropdown";
  /** The signer's position in `signers`, counted from 1. */
  signer: number;
  /** The page, counted from 1. */
  page: number;
  /** Position and size of the field. Required, except for radio and multiple fields: each option has its own place. */
  x?: number | undefined;
  y?: number | undefined;
  width?: number | undefined;
  height?: number | undefined;
  /** The label by which the signer is asked for the value. */
  label?: string | undefined;
  /** True if the signer must fill in the field. Default: false for a checkbox, true for all other fields. */
  required?: boolean | undefined;
  /** A help text that the signer sees with the field. */
  help?: string | undefined;
  /**
   * Your own value, which is in the document before anybody signs: for a checkbox `true` or `false`, otherwise a text
   * or the label of an option. Not for a signature, initials, a date or a name.
   */
  value?: string | number | boolean | undefined;
  /** True if nobody may change the value. Requires `value`. */
  readOnly?: boolean | undefined;
  /**
   * The format of the value. Only for a date, text or number field. A date is the day of the signature in the firm's
   * time zone.
   */
  format?: "iso" | "us" | "long" | "any" | "email" | "phone_us" | "zip_us" | "ssn_last4" | NumberFormat | undefined;
  /** The 2 to 50 options of a radio, multiple or dropdown field. */
  options?: readonly FieldOption[] | undefined;
  /** The fewest options that the signer must choose in a multiple field. Default 1, or 0 when `required` is false. */
  least?: number | undefined;
  /** The most options that the signer may choose in a multiple field. Default: all. */
  most?: number | undefined;
  /**
   * A name by which `showWhen` and `formula` of other fields refer to this field. No two fields can have the same name.
   */
  id?: string | undefined;
  /**
   * The condition for showing the field. A field that is not shown is neither required nor drawn. Not for a signature
   * or a `readOnly` field.
   */
  showWhen?: ShowWhen | undefined;
  /**
   * The formula of a number field, for example `round(rent * 12, 2)`. The service calculates the value when the field's
   * signer signs.
   */
  formula?: string | undefined;
};

/** The person in a template's role. */
export type RolePerson = Pick<Signer, "name" | "email" | "phone" | "accessCode" | "language">;
