import { invalid } from "../../kernel/platform/errors.ts";
import { type Members, membersIn } from "../../kernel/platform/json.ts";
import { hasEmailShape } from "../../kernel/platform/mail/email.ts";
import { isPlainText, isVisible } from "../../kernel/platform/text.ts";

const nameMessage = "A room name (1-200 chars) is required.";
const orderCodeMessage = "A valid orderCode is required.";
const dayMessage = "A valid closing day (YYYY-MM-DD) is required.";
const sealMessage = "sealWhenDone must be true or false.";
const participantNameMessage = "A participant name (1-200 chars) is required.";
const participantEmailMessage = "A valid participant email (at most 320 chars) is required.";

export type NewRoom = {
  name: string;
  reference: string | null;
  /** The day on which the closing is due, such as `2026-11-30`; absent without one. */
  closesOn?: string;
};
export type NewAttachment = { orderCode: string; label: string | null };
/**
 * The correction of an email address. `name`: the only person whose address is corrected; null for everybody who has
 * the address.
 */
export type AddressCorrection = { from: string; to: string; name: string | null };
export type NewParticipant = { name: string; email: string; role: string };

function requireText(field: string, text: string): string {
  if (!isPlainText(text)) throw invalid(`${field} must be UTF-8 text without control characters.`);
  return text;
}

function required(body: Members, field: string, maxLength: number, message: string): string {
  const value = body[field];
  const text = typeof value === "string" ? value.trim() : "";
  if (!isVisible(text) || [...text].length > maxLength) throw invalid(message);
  return requireText(field, text);
}

function optional(body: Members, field: string, maxLength: number): string | null {
  const value = body[field] ?? "";
  const text = typeof value === "string" ? value.trim() : null;
  if (text === null || [...text].length > maxLength)
    throw invalid(`${field} must be text of at most ${maxLength} characters.`);
  return requireText(field, text) || null;
}

/**
 * The day on which a closing is due; null if the field is absent or empty.
 * @throws ServiceError for anything that is not a day of this century
 */
export function closesOnField(body: unknown): string | null {
  const { closesOn: value = null } = membersIn(body);
  const day = typeof value === "string" ? value.trim() : value;
  if (day === null || day === "") return null;
  const isDay = typeof day === "string" && /^20\d\d-\d\d-\d\d$/.test(day) && isoDay(day) === day;
  if (!isDay) throw invalid(dayMessage);
  return day;
}

/** Null for a day that no calendar has, such as `2026-02-30`. */
function isoDay(day: string): string | null {
  const at = new Date(`${day}T00:00:00Z`);
  return Number.isNaN(at.getTime()) ? null : at.toISOString().slice(0, 10);
}

/**
 * Reads the body of `POST /api/rooms/{roomCode}/seal-when-done`.
 * @throws ServiceError for anything but true or false
 */
export function sealWhenDoneField(body: unknown): boolean {
  const { sealWhenDone } = membersIn(body);
  if (typeof sealWhenDone !== "boolean") throw invalid(sealMessage);
  return sealWhenDone;
}

/**
 * Reads the body of `POST /api/rooms` and trims its texts.
 * @throws ServiceError naming the field and the rule
 */
export function newRoomFields(body: unknown): NewRoom {
  const members = membersIn(body);
  const closesOn = closesOnField(members);
  return {
    name: required(members, "name", 200, nameMessage),
    reference: optional(members, "reference", 200),
    ...(closesOn !== null && { closesOn }),
  };
}

/**
 * Reads the body of `POST /api/rooms/{roomCode}/orders`.
 * @throws ServiceError for a code outside 24-64 characters or a bad label
 */
export function attachFields(body: unknown): NewAttachment {
  const members = membersIn(body);
  const { orderCode } = members;
  if (typeof orderCode !== "string" || orderCode.length < 24 || orderCode.length > 64) throw invalid(orderCodeMessage);
  return { orderCode, label: optional(members, "label", 200) };
}

/**
 * Reads the body of `POST /api/rooms/{roomCode}/participants`; lowercases the email.
 * @throws ServiceError naming the field
 */
export function participantFields(body: unknown): NewParticipant {
  const members = membersIn(body);
  const name = required(members, "name", 200, participantNameMessage);
  const email = required(members, "email", 320, participantEmailMessage).toLowerCase();
  if (!hasEmailShape(email) || email.length > 320) throw invalid(participantEmailMessage);
  return { name, email, role: optional(members, "role", 40) ?? "client" };
}

/**
 * Reads the body of `POST /api/rooms/{roomCode}/corrections`.
 * @throws ServiceError naming the field
 */
export function addressFields(body: unknown): AddressCorrection {
  const members = membersIn(body);
  const address = (field: string) =>
    required(members, field, 320, `${field} must be an email address of at most 320 characters.`);
  return { from: address("from"), to: address("to"), name: optional(members, "name", 200) };
}
