import { topics } from "@signsealship/sdk";
import { nearest } from "../../kernel/platform/nearest-name.ts";
import { UsageError } from "../verb.ts";

/** All topics of events that a receiver can get. */
export const allTopics: readonly string[] = [...topics, "webhook.test"];

/**
 * Checks that a topic exists.
 * @throws UsageError that lists the topics and suggests the closest one
 */
export function requireTopic(flag: string, topic: string): string {
  if (allTopics.includes(topic)) return topic;
  const near = nearest(topic, allTopics);
  const meant = near === null ? "" : ` Did you mean ${near}?`;
  throw new UsageError(
    `${flag} must be a topic, not ${topic || "nothing"}.${meant} Topics:\n  ${allTopics.join("\n  ")}`,
  );
}
