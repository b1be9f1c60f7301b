/** The first digits of an order's code. People refer to an order by them, and the search accepts them. */
export const codeStart = (code: string): string => code.slice(0, codeStartLength);

export const codeStartLength = 6;
