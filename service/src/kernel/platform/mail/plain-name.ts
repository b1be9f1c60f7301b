const name = /^[\p{L}\p{M}\p{N} .,'’()&-]{1,80}$/u;
const addressLike = /[\p{L}\p{N}-]\.[\p{L}]{2,}|www\.|\/\//iu;
// What would break a line, or turn the direction of what follows.
const unshown = /[\p{Cc}\p{Cs}\u2028-\u202E\u2066-\u2069]/u;
const longestTitle = 120;

// Firms write the names of their clients and documents: what could be read as an address is not sent on in mails of ours.

/** Whether a text may stand in a mail as the name of a person. */
export const isPlainName = (text: string): boolean => name.test(text) && !addressLike.test(text);

/** Whether a text may stand in a mail as what a document is called. */
export const isPlainTitle = (text: string): boolean =>
  text.length <= longestTitle && !unshown.test(text) && !addressLike.test(text);

/** The text where a mail may say it, else other words. */
export const plainTitle = (text: string, otherwise: string): string => (isPlainTitle(text) ? text : otherwise);
