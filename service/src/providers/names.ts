/** The display name of each provider. */
export const providerNames = {
  easypost: "EasyPost",
  lob: "Lob",
  telnyx: "Telnyx",
  stripe_identity: "Stripe Identity",
  quiz: "Knowledge-based questions",
} as const;

export type ProviderName = keyof typeof providerNames;

export const allProviders = Object.keys(providerNames) as ProviderName[];

export const isProviderName = (text: string): text is ProviderName => Object.hasOwn(providerNames, text);
