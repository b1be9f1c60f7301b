import { type Html, html } from "../render.ts";

type ButtonOptions = {
  /** The values that the form sends in hidden fields, keyed by name. */
  fields?: Readonly<Record<string, string>>;
  /** A class in forms.css, for less prominent or destructive buttons. */
  kind?: string;
  /** Distinguishes the button from other buttons with the same label, for screen readers. */
  about?: string;
};

/** A form that consists of one button. */
export function buttonForm(action: string, label: string, { fields = {}, kind = "", about }: ButtonOptions = {}): Html {
  const more = about && html`<span class="visually-hidden"> ${about}</span>`;
  return html`<form class="button-form form-actions" method="post" action="${action}">${hiddenFields(fields)}<button type="submit" class="${kind}">${label}${more}</button></form>`;
}

export const hiddenFields = (fields: Readonly<Record<string, string>>): Html =>
  html`${Object.entries(fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}`;
