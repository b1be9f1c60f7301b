export const providerNames = {
  easypost: "EasyPost",
  lob: "Lob",
  telnyx: "Telnyx",
  stripe_identity: "Stripe Identity",
  quiz: "Knowledge-based questions",
} as const;

/** For each kind of act, the words that describe it to people, as in "Lob is doing this now (mailing the letter)". */
export const actWords: Readonly<Record<string, string>> = {
  "label.buy": "buying the label",
  "label.refund": "giving the label back",
  "letter.send": "mailing the letter",
  "letter.cancel": "stopping the letter",
  "fax.send": "sending the fax",
};

export const actWordsOf = (act: string): string => actWords[act] ?? "another request";

export type ProviderName = keyof typeof providerNames;

export const allProviders = Object.keys(providerNames) as ProviderName[];

export const isProviderName = (text: string): text is ProviderName => Object.hasOwn(providerNames, text);
