/**
 * The outcome of a text message. `refused`: the number takes none. `away`: nothing was sent, and it may be tried again. `unknown`:
 * it may have been sent.
 */
export type TextOutcome = "sent" | "refused" | "away" | "unknown";

/** Sends text messages. */
export type Texts = {
  /** Never rejects. */
  send: (message: { to: string; text: string }) => Promise<TextOutcome>;
  /** Whether any are sent to the number's country. */
  reaches: (phone: string) => boolean;
};

/** As much of a number as pages and records show. @param phone E.164 */
export const endingOf = (phone: string): string => phone.slice(-2);
