import { minuteMs } from "../../../kernel/platform/clock.ts";
import { slotMinutes } from "../schedule/hours.ts";

export type CalendarEntry = {
  /** The id of the calendar entry. It stays the same in all versions of the entry. */
  uid: string;
  sequence: number;
  isCanceled: boolean;
  startsAt: Date;
  /** The time when this version of the calendar entry was written. */
  stampedAt: Date;
  summary: string;
  description: string;
  location: string;
  organizer: string;
  attendee: string;
};

/**
 * Writes an iTIP message (RFC 5545, RFC 5546). A message with a higher sequence number replaces the entry in the
 * calendar; CANCEL removes it.
 */
export function icsOf(entry: CalendarEntry): string {
  const { uid, sequence, isCanceled, startsAt, stampedAt, summary, description, location, organizer, attendee } = entry;
  const endsAt = new Date(startsAt.getTime() + slotMinutes * minuteMs);
  return [
    "BEGIN:VCALENDAR",
    "VERSION:2.0",
    "PRODID:-//SignSealShip//Appointments//EN",
    `METHOD:${isCanceled ? "CANCEL" : "REQUEST"}`,
    "BEGIN:VEVENT",
    `UID:${uid}`,
    `SEQUENCE:${sequence}`,
    `DTSTAMP:${utc(stampedAt)}`,
    `DTSTART:${utc(startsAt)}`,
    `DTEND:${utc(endsAt)}`,
    `STATUS:${isCanceled ? "CANCELLED" : "CONFIRMED"}`,
    `SUMMARY:${escaped(summary)}`,
    `DESCRIPTION:${escaped(description)}`,
    `LOCATION:${escaped(location)}`,
    `ORGANIZER:mailto:${organizer}`,
    `ATTENDEE;ROLE=REQ-PARTICIPANT:mailto:${attendee}`,
    "END:VEVENT",
    "END:VCALENDAR",
    "",
  ]
    .map(folded)
    .join("\r\n");
}

const utc = (at: Date): string => at.toISOString().replaceAll(/[-:]|\.\d{3}/g, "");

const escaped = (text: string): string =>
  text.replaceAll(/[\\;,]/g, (character) => `\\${character}`).replaceAll(/\r?\n/g, "\\n");

/** Folds a line of the calendar file into lines of at most 75 octets (RFC 5545, section 3.1). No character is split. */
function folded(line: string): string {
  const parts: string[] = [];
  let part = "";
  for (const character of line) {
    if (Buffer.byteLength(part + character) > (parts.length === 0 ? 75 : 74)) {
      parts.push(part);
      part = "";
    }
    part += character;
  }
  return [...parts, part].join("\r\n ");
}
