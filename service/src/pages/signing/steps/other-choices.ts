import { hiddenFields } from "../../ui/forms/button-form.ts";
import { field, radios, textArea } from "../../ui/forms/fields.ts";
import { type Html, html } from "../../ui/render.ts";
import type { PageState } from "../frame.ts";

export const maxReasonLength = 1000;

/**
 * The signer's choices other than signing, such as declining. Each is collapsed, and shows its button only when opened,
 * to prevent accidental clicks. A refused suggestion of another signer stays open.
 */
export function otherChoices({ token, view, words, typed }: PageState): Html {
  const { other } = words;
  const decline = (kind: string, fields: Html | "" = "") => ({ action: "decline", hidden: { kind }, fields });
  const because = textArea({
    name: "reason",
    label: other.decline.reason,
    hint: other.decline.hint,
    required: "sometimes",
    maxLength: maxReasonLength,
    rows: 3,
  });
  const someone = html`${field({ name: "other_name", label: other.propose.name, required: true, maxLength: 100, value: typed["other_name"] })}
${field({ name: "other_email", type: "email", label: other.propose.email, required: true, maxLength: 254, value: typed["other_email"] })}`;
  const isOpen = typed["other_name"] !== undefined;
  const { session } = words;
  const several = view.session !== null && view.session.documents.length > 1;
  const scope =
    several &&
    radios({
      name: "scope",
      label: session.scope.label,
      value: "this",
      options: [
        { value: "this", label: session.scope.this },
        { value: "all", label: session.scope.all },
      ],
    });
  const choices = [
    { ...other.paper, ...decline("paper") },
    view.consent && { ...other.withdraw, ...(several && { text: session.withdraw }), ...decline("withdrawn") },
    { ...other.decline, ...decline("declined", html`${scope}${because}`) },
    { ...other.propose, action: "propose", hidden: {}, fields: someone, isOpen },
    { ...other.notMe, ...(several && { text: session.notMe }), ...decline("not_me") },
  ];
  return html`<section class="card other-choices no-print" aria-labelledby="other-title"><h2 id="other-title">${other.title}</h2>
${choices.map((choice) => choice && question(token, choice))}
</section>`;
}

type Question = {
  label: string;
  text: string;
  go: string;
  action: string;
  hidden: Readonly<Record<string, string>>;
  fields: Html | "";
  isOpen?: boolean;
};

const question = (token: string, { label, text, go, action, hidden, fields, isOpen = false }: Question): Html =>
  html`<details class="question"${isOpen && html` open`}><summary>${label}</summary>
<form class="form" method="post" action="/sign/${token}/${action}">${hiddenFields(hidden)}<p>${text}</p>
${fields}
<div class="form-actions"><button type="submit" class="${action === "decline" ? "danger-button" : ""}">${go}</button></div></form></details>`;
