import type { Claimed } from "../../../signing/notaries/notaries.ts";

/** The URL of an order's page at a notary's desk, followed by `rest`. */
export const orderPath = (code: string, rest = ""): string => `/operator/notary/orders/${code}${rest}`;

/** The document's name with the firm's reference, such as "Warranty deed, 26-10417"; null without both. */
export const documentWords = ({ title, order: { reference } }: Pick<Claimed, "title" | "order">): string | null =>
  title === null || reference === null || title === reference ? (title ?? reference) : `${title}, ${reference}`;
