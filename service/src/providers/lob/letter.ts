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
  isCancelled: boolean;
  tracking: LetterTracking[];
};

export const isLetterId = (text: string): boolean => /^ltr_[A-Za-z0-9]{1,60}$/.test(text);

/** Parses a letter in Lob's answer; undefined when the body is not a letter. */
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

/** Reads the members of a JSON object; returns an empty object for any other value. */
export const membersOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};

/** Reads a text of 1 to 500 characters; returns undefined for anything else. */
export const textOf = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" && value.length <= 500 ? value : undefined;

/** Reads an instant in ISO 8601. */
export function dateOf(value: unknown): Date | undefined {
  const at = new Date(textOf(value) ?? "");
  return Number.isNaN(at.getTime()) ? undefined : at;
}
