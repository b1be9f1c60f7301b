const emailShape = /^[^\s@<>()[\],;:"\\]+@[^\s@.<>()[\],;:"\\]+(\.[^\s@.<>()[\],;:"\\]+)+$/;

/** The shape of a mail address (RFC 5321 lengths; no quoted local parts). */
export const isEmail = (text: string): boolean =>
  text.length <= 254 && text.indexOf("@") <= 64 && emailShape.test(text);
