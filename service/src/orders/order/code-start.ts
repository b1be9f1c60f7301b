/** The first digits of an order's code. People name orders by them, and search accepts these or more digits. */
export const codeStart = (code: string): string => code.slice(0, codeStartLength);

export const codeStartLength = 6;
