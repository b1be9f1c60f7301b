import type { onRequestAsyncHookHandler } from "fastify";
import { Type } from "typebox";

export const json = "application/json; charset=utf-8";

export { portalRefusals as refusals } from "../http/portal.ts";

export type WebhookPath = { Params: { id: string } };
export const webhookParams = Type.Object({ id: Type.String({ description: "The webhook's id." }) });

/** What the session-or-key routes of webhooks have in common. */
export type CommonRouteParts = {
  onRequest: onRequestAsyncHookHandler[];
  about: { tags: string[]; security: Record<string, string[]>[] };
};
