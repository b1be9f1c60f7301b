import type { FastifyInstance, onRequestAsyncHookHandler } from "fastify";
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

/** For routes that take no body: whatever comes, of whatever type, is read and left aside. */
export function acceptNoBody(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser("*", { parseAs: "string" }, (_request, _body, done) => done(null, undefined));
}
