/** Where the page of an order at a notary's desk is, and what follows it. */
export const orderPath = (code: string, rest = ""): string => `/operator/notary/orders/${code}${rest}`;
