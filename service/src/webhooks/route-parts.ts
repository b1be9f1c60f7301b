import type { onRequestAsyncHookHandler } from "fastify";
import { Type } from "typebox";

export const json = "application/json; charset=utf-8";

export const refusals = { 401: "Sign in to continue.", 429: "Rate limit exceeded. Try again in 42 seconds." };

export type WebhookPath = { Params: { id: string } };
export const webhookParams = Type.Object({ id: Type.String({ description: "The webhook's id." }) });

/** What the session-or-key routes of webhooks have in common. */
export type CommonRouteParts = {
  onRequest: onRequestAsyncHookHandler[];
  about: { tags: string[]; security: Record<string, string[]>[] };
};
