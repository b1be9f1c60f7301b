import { membersIn, textIn } from "../../kernel/platform/json.ts";

/** A step of a letter's delivery. */
type LetterTracking = { name: string; at: Date };

/** A letter that Lob has accepted. */
export type AcceptedLetter = {
  letterId: string;
  /** The tracking number of certified mail; null before Lob assigns it, and with a test key. */
  trackingNumber: string | null;
  /** The date of delivery that Lob expects: `YYYY-MM-DD`. */
  expectedDelivery: string | null;
  /** The time when production of the letter starts. Until then the letter can be canceled. */
  sendAt: Date | null;
  isCanceled: boolean;
  tracking: LetterTracking[];
};

export const isLetterId = (text: string): boolean => /^ltr_[A-Za-z0-9]{1,60}$/.test(text);

/** Parses a letter in Lob's answer; undefined when the body is not a letter. */
export function readLetter(body: unknown): { value: AcceptedLetter } | undefined {
  const letter = membersIn(body);
  const letterId = textOf(letter["id"]);
  if (letterId === null || !isLetterId(letterId)) return undefined;
  const expected = textOf(letter["expected_delivery_date"]);
  const events = Array.isArray(letter["tracking_events"]) ? letter["tracking_events"] : [];
  return {
    value: {
      letterId,
      trackingNumber: textOf(letter["tracking_number"]),
      expectedDelivery: expected !== null && /^\d{4}-\d{2}-\d{2}$/.test(expected) ? expected : null,
      sendAt: dateOf(letter["send_date"]) ?? null,
      isCanceled: letter["deleted"] === true,
      tracking: events.flatMap((event) => {
        const { name: sent, time, date_created: created } = membersIn(event);
        const [name, at] = [textOf(sent), dateOf(time) ?? dateOf(created)];
        return name !== null && at ? [{ name, at }] : [];
      }),
    },
  };
}

/** Reads a text of 1 to 500 characters; returns null for anything else. */
export const textOf = (value: unknown): string | null => textIn(value, 500);

/** Reads an instant in ISO 8601. */
export function dateOf(value: unknown): Date | undefined {
  const at = new Date(textOf(value) ?? "");
  return Number.isNaN(at.getTime()) ? undefined : at;
}
