/** The address of an order's page at a notary's desk; `rest` follows it. */
export const orderPath = (code: string, rest = ""): string => `/operator/notary/orders/${code}${rest}`;
