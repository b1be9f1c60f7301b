const shape = /^[^\s@<>()[\],;:"\\]+@[^\s@.<>()[\],;:"\\]+(\.[^\s@.<>()[\],;:"\\]+)+$/;

/** The shape of a mail address of any length; no quoted local parts. */
export const hasEmailShape = (text: string): boolean => shape.test(text);

/** An address that mail can be sent to: its shape, and the lengths of RFC 5321. */
export const isEmail = (text: string): boolean => text.length <= 254 && text.indexOf("@") <= 64 && hasEmailShape(text);
