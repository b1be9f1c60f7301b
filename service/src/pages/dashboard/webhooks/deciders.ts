import { listMembers } from "../../../firms/members/members.ts";
import type { Principal } from "../../../kernel/identity/identity.ts";
import type { Sql } from "../../../kernel/platform/database/database.ts";
import { mayChangeSubscriptions } from "../../../outgoing/webhooks/webhooks.ts";
import { type Html, html } from "../../ui/render.ts";

/** The email addresses of the people who may change the webhooks. Null if the signed-in person is one of them. */
export async function decidersFor(deps: { db: Sql }, principal: Principal): Promise<string[] | null> {
  if (mayChangeSubscriptions(principal)) return null;
  const members = await listMembers(deps, principal.partnerId);
  return members.filter(({ role, liveAccess }) => role === "owner" && liveAccess).map(({ email }) => email);
}

/** Shown instead of the forms for live webhooks, if the signed-in person may not use them. Names the people who may. */
export const askDeciders = (deciders: readonly string[]): Html => {
  const names = deciders.map((email, index) => html`${index > 0 && ", "}<span class="breakable">${email}</span>`);
  return html`<p>Only an owner of the firm with live access can create, rotate or delete live webhooks. ${
    deciders.length > 0 ? html`Ask ${names}.` : "Your firm has none: ask the operator of this service."
  } In test you can do it yourself.</p>`;
};
