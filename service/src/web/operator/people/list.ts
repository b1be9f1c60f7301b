import { type ListedOperator, may, type Operator } from "../../../operators/operators.ts";
import { card, emptyState, pageHead, statusBadge } from "../../ui/components.ts";
import { shortTime } from "../../ui/format.ts";
import { errorSummary, field } from "../../ui/forms/fields.ts";
import type { FormValues } from "../../ui/forms/form-body.ts";
import { records } from "../../ui/records.ts";
import { type Html, html } from "../../ui/render.ts";
import { roleBoxes, roleField } from "./roles.ts";

export type PeopleView = {
  operators: readonly ListedOperator[];
  operator: Operator;
  problem: { error: string; typed: FormValues } | undefined;
};

/** Everybody who runs the service, or did, and a form that adds somebody. */
export const listBody = ({ operators, operator, problem }: PeopleView): Html =>
  html`${pageHead("People", "Who runs this service. Every change is mailed to all admins.")}
${errorSummary(problem?.error)}
<div class="panels">
${card("operators", "Operators", operators.length === 0 ? emptyState("Nobody yet", "Add the first operator below.") : table(operators))}
${may(operator, "people.manage") && card("add", "Add an operator", addForm(problem?.typed ?? {}))}
</div>`;

const table = (operators: readonly ListedOperator[]): Html =>
  records(
    "Operators, the active first",
    [
      { label: "Name" },
      { label: "Email" },
      { label: "Roles" },
      { label: "Passkeys", number: true },
      { label: "Signed in", utc: true },
    ],
    operators.map(({ id, name, email, roles, active, passkeys, lastSignIn }) => [
      html`<a class="breakable" href="/operator/people/${id}">${name}</a>`,
      html`<span class="breakable">${email}</span>`,
      active ? roles.join(", ") : statusBadge("stopped", "No access"),
      String(passkeys),
      lastSignIn ? shortTime(lastSignIn) : "Not now",
    ]),
  );

const addForm = (typed: FormValues): Html =>
  html`<form class="form" method="post" action="/operator/people">
${field({ name: "email", label: "Work email", type: "email", value: typed["email"], required: true, maxLength: 254, autocomplete: "off" })}
${field({ name: "name", label: "Name", value: typed["name"], required: true, maxLength: 100, autocomplete: "off" })}
${roleBoxes((role) => typed[roleField(role)] !== undefined)}
<div class="form-actions"><button type="submit">Add the operator</button></div>
</form>`;
