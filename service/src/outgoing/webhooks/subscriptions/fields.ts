import { invalid } from "../../../kernel/platform/errors.ts";
import { membersIn } from "../../../kernel/platform/json.ts";
import { isTopic, type Topic, topics } from "../topics.ts";

const urlMessage = "A https:// webhook URL is required.";
const maxUrlLength = 2048;
const notInUrl = /[\p{Cc}\p{Cs}\s]/u;

/**
 * The `url` of a body, trimmed.
 * @throws ServiceError unless it is an absolute https URL of at most 2,048 characters, without user name and password
 */
export function urlField(body: unknown): string {
  const { url: value } = membersIn(body);
  const text = typeof value === "string" ? value.trim() : "";
  const url = notInUrl.test(text) || !/^https:\/\/[^/\\]/i.test(text) ? null : URL.parse(text);
  if (!url) throw invalid(urlMessage);
  if (text.length > maxUrlLength) throw invalid(`url must have at most ${maxUrlLength} characters.`);
  if (url.username !== "" || url.password !== "") throw invalid("url must not contain a user name or a password.");
  return text;
}

/**
 * True if requests to the two URLs have the same destination. The fragment after `#` is never sent, so it is ignored.
 */
export const isSameUrl = (one: string, other: string): boolean => requested(one) === requested(other);

function requested(text: string): string {
  const url = new URL(text);
  url.hash = "";
  return url.href;
}

/**
 * The `topics` of a body, without duplicates.
 * @throws ServiceError for an empty list or an unknown topic
 */
export function topicsField(body: unknown): Topic[] {
  const { topics: value } = membersIn(body);
  const choices = `topics must be a non-empty array of: ${topics.join(", ")}.`;
  if (!Array.isArray(value) || value.length === 0) throw invalid(choices);
  const unknown = value.find((topic) => !isTopic(topic));
  if (unknown !== undefined) throw invalid(choices);
  return [...new Set(value.filter(isTopic))];
}
