const shape = /^[^\s@<>()[\],;:"\\]+@[^\s@.<>()[\],;:"\\]+(\.[^\s@.<>()[\],;:"\\]+)+$/;

/** True if the text has the shape of an email address, of any length. Quoted local parts are not accepted. */
export const hasEmailShape = (text: string): boolean => shape.test(text);

/** True if mail can be sent to the address: it has the shape of one, and the lengths that RFC 5321 allows. */
export const isEmail = (text: string): boolean => text.length <= 254 && text.indexOf("@") <= 64 && hasEmailShape(text);
