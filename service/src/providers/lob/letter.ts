import { dateOf, membersOf, textOf } from "./values.ts";

/** What happened to a letter, as it lists it. */
export type LetterTracking = { name: string; at: Date };

/** A letter that Lob has accepted. */
export type AcceptedLetter = {
  letterId: string;
  /** Of certified mail; null before there is one, and for letters of a test key. */
  trackingNumber: string | null;
  /** `YYYY-MM-DD`; Lob's estimate. */
  expectedDelivery: string | null;
  /** When it goes into production: until then it can be cancelled. */
  sendAt: Date | null;
  isCancelled: boolean;
  tracking: LetterTracking[];
};

export const isLetterId = (text: string): boolean => /^ltr_[A-Za-z0-9]{1,60}$/.test(text);

/** Undefined for what is no letter. */
export function readLetter(body: unknown): { value: AcceptedLetter } | undefined {
  const letter = membersOf(body);
  const letterId = textOf(letter["id"]);
  if (letterId === undefined || !isLetterId(letterId)) return undefined;
  const expected = textOf(letter["expected_delivery_date"]);
  const events = Array.isArray(letter["tracking_events"]) ? letter["tracking_events"] : [];
  return {
    value: {
      letterId,
      trackingNumber: textOf(letter["tracking_number"]) ?? null,
      expectedDelivery: expected !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(expected) ? expected : null,
      sendAt: dateOf(letter["send_date"]) ?? null,
      isCancelled: letter["deleted"] === true,
      tracking: events.flatMap((event) => {
        const { name, time, date_created: created } = membersOf(event);
        const at = dateOf(time) ?? dateOf(created);
        return textOf(name) && at ? [{ name: textOf(name) ?? "", at }] : [];
      }),
    },
  };
}
