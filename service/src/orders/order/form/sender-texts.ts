type SenderText = {
  /**
   * The text's name in API answers and in the rows that queries return. Its form field and its database column have
   * another name: its key in `senderTexts`.
   */
  readonly member: string;
  readonly maxLength: number;
  readonly example: string;
  /** The published descriptions of the text: `sent` in the order form, and `answered` in API answers. */
  readonly sent: string;
  readonly answered: string;
};

/**
 * The sender's own texts, by their names in the order form. The service stores them as sent and repeats them to the
 * firm, but never acts on them. This table defines them for the order form and its check, the columns, the API answers,
 * and the firm's web form and page.
 */
export const senderTexts = {
  external_reference: {
    member: "externalReference",
    maxLength: 120,
    example: "FILE-2207",
    sent: "Your own reference, at most 120 characters. Lists, the order and its events repeat it.",
    answered: "Your own reference; null when none was sent.",
  },
} as const satisfies Readonly<Record<string, SenderText>>;

export type SenderTextName = keyof typeof senderTexts;

export const senderTextNames = Object.keys(senderTexts) as readonly SenderTextName[];

type Member = (typeof senderTexts)[SenderTextName]["member"];

/** The sender's texts of an order; null for one that was not sent. */
export type SenderTexts = { [Name in Member]: string | null };

/**
 * Makes an object with one value for each of the sender's texts. Its keys are the texts' `member` names, as in API
 * answers and database rows.
 */
export const byMember = <T>(make: (name: SenderTextName) => T): { [Name in Member]: T } =>
  Object.fromEntries(senderTextNames.map((name) => [senderTexts[name].member, make(name)])) as {
    [Name in Member]: T;
  };

/** Selects the sender's texts from a form or a row. */
export const senderTextsOf = (from: SenderTexts): SenderTexts => byMember((name) => from[senderTexts[name].member]);
