import type { AnySession, Passkey } from "../../../firms/members/members.ts";
import {
  type ListedOperator,
  may,
  type Operator,
  type OperatorRole,
  passkeySubjects,
} from "../../../firms/operators/operators.ts";
import { card, emptyState, pageHead, statusBadge } from "../../ui/components.ts";
import { shortTime } from "../../ui/format.ts";
import { askFirst } from "../../ui/forms/ask-first.ts";
import { buttonForm } from "../../ui/forms/button-form.ts";
import { errorSummary, field } from "../../ui/forms/fields.ts";
import type { FormValues } from "../../ui/forms/form-body.ts";
import { records } from "../../ui/records.ts";
import { type Html, html } from "../../ui/render.ts";
import { roleBoxes, roleField } from "./roles.ts";

type PeopleView = {
  operators: readonly ListedOperator[];
  operator: Operator;
  problem: { error: string; typed: FormValues } | undefined;
};

/** A list of all operators, including former ones, and a form that adds an operator. */
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

type PersonView = {
  person: { id: string; email: string; name: string; roles: readonly OperatorRole[]; active: boolean };
  sessions: readonly AnySession[];
  passkeys: readonly Passkey[];
  operator: Operator;
  error: string | undefined;
};

/** The page of an operator, with the changes that an admin may make. */
export function personBody(view: PersonView): Html {
  const { person, operator, error } = view;
  const mayManage = may(operator, "people.manage");
  return html`${pageHead(person.name, html`<span class="breakable">${person.email}</span>`, person.active ? "" : statusBadge("stopped", "No access"))}
${errorSummary(error)}
<div class="panels">
${card("roles", "Roles", mayManage && person.id !== operator.id ? rolesForm(person) : html`<p>${person.roles.join(", ")}</p>${mayManage && html`<p class="quiet">Nobody changes their own roles.</p>`}`)}
${card("sessions", "Sessions", sessionsPart(view, mayManage))}
${card("passkeys", "Passkeys", passkeysPart(view, mayManage))}
${mayManage && person.id !== operator.id && card("access", "Access", accessPart(person))}
</div>`;
}

const pathOf = ({ id }: PersonView["person"]): string => `/operator/people/${id}`;

const rolesForm = (person: PersonView["person"]): Html =>
  html`<form class="form" method="post" action="${pathOf(person)}/roles">
${field({ name: "name", label: "Name", value: person.name, required: true, maxLength: 100, autocomplete: "off" })}
${roleBoxes((role) => person.roles.includes(role))}
<div class="form-actions"><button type="submit">Save the roles</button></div>
</form>`;

const sessionsPart = ({ person, sessions, operator }: PersonView, mayManage: boolean): Html =>
  sessions.length === 0
    ? emptyState("Not signed in", "Sessions are listed while they last.")
    : records(
        "Sessions, the latest first",
        [{ label: "Browser" }, { label: "Since", utc: true }, { label: "Last seen", utc: true }, { label: "Action" }],
        sessions.map(({ sessionId, device, createdAt, lastSeenAt }) => [
          device,
          shortTime(createdAt),
          shortTime(lastSeenAt),
          sessionId === operator.sessionId
            ? "This one"
            : html`${mayManage && buttonForm(`${pathOf(person)}/sessions/${sessionId}/end`, "Sign out", { kind: "quiet-button", about: device })}`,
        ]),
      );

const passkeysPart = ({ person, passkeys, operator }: PersonView, mayManage: boolean): Html =>
  passkeys.length === 0
    ? emptyState("No passkeys", `Until there is one, this person can’t work on ${passkeySubjects}.`)
    : html`<ul>${passkeys.map(({ name, createdAt }) => html`<li><span class="breakable">${name}</span>, added ${shortTime(createdAt)}</li>`)}</ul>
${
  mayManage &&
  person.id !== operator.id &&
  askFirst({
    label: "Remove all passkeys",
    text: "For a person who has lost them. The recovery codes are deleted, too, and the person is signed out. Make sure, by another way than mail, that the request comes from that person.",
    confirm: "Remove the passkeys",
    action: `${pathOf(person)}/passkeys/remove`,
  })
}`;

const accessPart = (person: PersonView["person"]): Html =>
  person.active
    ? askFirst({
        label: "End the access",
        text: "The person is signed out everywhere and sees nothing of the console any more. What they did stays on record.",
        confirm: "End the access now",
        action: `${pathOf(person)}/remove`,
      })
    : buttonForm(`${pathOf(person)}/restore`, "Give the access back");
