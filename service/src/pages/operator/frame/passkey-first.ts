import type { FastifyInstance } from "fastify";
import { returnPath } from "../../../firms/members/members.ts";
import {
  may,
  mayNow,
  mustAddPasskey,
  type Operator,
  type Permission,
  passkeyPermissions,
} from "../../../firms/operators/operators.ts";
import { isRecentPasskey } from "../../../kernel/platform/recent-proof.ts";
import { notice } from "../../ui/components.ts";
import { buttonForm } from "../../ui/forms/button-form.ts";
import { type Html, html } from "../../ui/render.ts";
import { type ConsoleFrame, consoleRoute } from "./console.ts";

const path = "/operator/passkey";

/**
 * Asks for the operator's passkey above a form with a file. Other forms are sent again by the page that asks for the
 * passkey, but that page can't contain a file.
 * @param returnTo the page with the form
 * @returns false for an operator who needs no passkey, or has just used it
 */
export function passkeyFirst({ session }: Pick<Operator, "session">, now: Date, returnTo: string): Html | false {
  if (session === null || isRecentPasskey(session.proof, now)) return false;
  const text =
    "Use your passkey before you choose a file. Otherwise you must choose the file again. The passkey counts for 15 minutes.";
  return html`${notice("attention", "This needs a passkey", text)}
${buttonForm(path, "Use your passkey", { fields: { return_to: returnTo }, kind: "quiet-button" })}`;
}

/** The link that an operator without a passkey gets in place of a button that needs one. */
export const addPasskeyLink = (): Html => html`<a href="/operator/security">Add a passkey first</a>`;

/** Tells an operator without a passkey to add one. Shown in place of the buttons that decide about money. */
export const passkeyForMoney = (operator: Operator): Html | false =>
  may(operator, "money.decide") &&
  mustAddPasskey(operator, "money.decide") &&
  html`<p>To decide about money, you need a passkey of your own. ${addPasskeyLink()}.</p>`;

/**
 * True if the operator may use a permission about money that only a person with a name can use. An operator who signed
 * in by a link from the command line has no name.
 */
export const mayByName = (operator: Operator, permission: Permission): boolean =>
  operator.id !== null && mayNow(operator, permission);

/**
 * Says why the forms about money are missing: the operator signed in by a link from the command line, or has no
 * passkey.
 * @param needed the sentence for an operator who signed in by such a link
 */
export const missingForMoney = (operator: Operator, needed: string): Html | false =>
  operator.id === null ? html`<p>${needed}</p>` : passkeyForMoney(operator);

/** Adds the route of the button that `passkeyFirst` shows. The route redirects back after the passkey was used. */
export function passkeyFirstRoute(scope: FastifyInstance, frame: ConsoleFrame): void {
  consoleRoute(scope, frame, {
    method: "POST",
    url: path,
    permission: passkeyPermissions,
    handle: async ({ form }) => ({ redirect: returnPath(form["return_to"] ?? "/operator") }),
  });
}
