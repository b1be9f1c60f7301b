const name = /^[\p{L}\p{M}\p{N} .,'’()&-]{1,80}$/u;
const addressLike = /[\p{L}\p{N}-]\.[\p{L}]{2,}|www\.|\/\//iu;
// Characters that break a line, or change the direction of the following text.
const unshown = /[\p{Cc}\p{Cs}\u2028-\u202E\u2066-\u2069]/u;
const maxTitleLength = 120;

// Firms choose the names of their clients and documents. Mails omit a name that looks like a web address, because it
// could be used for phishing.

/** True if a mail may use a text as a person's name. */
export const isPlainName = (text: string): boolean => name.test(text) && !addressLike.test(text);

/** True if a mail may use a text as a document's title. */
export const isPlainTitle = (text: string): boolean =>
  text.length <= maxTitleLength && !unshown.test(text) && !addressLike.test(text);

/** The title if a mail may use it, else the fallback. */
export const plainTitle = (text: string, otherwise: string): string => (isPlainTitle(text) ? text : otherwise);

/** True if a mail may quote a firm's own message to its signers. */
export const isPlainMessage = (text: string): boolean => !unshown.test(text) && !addressLike.test(text);
