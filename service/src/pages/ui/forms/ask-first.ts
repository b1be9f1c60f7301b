import { type Html, html } from "../render.ts";
import { buttonForm } from "./button-form.ts";

export type Question = {
  /** The label that opens the question. `about` distinguishes it for screen readers. */
  label: string;
  about?: string;
  /** The effect, in words. */
  text: string;
  /** The button that does it. */
  confirm: string;
  action: string;
  /** Hidden fields of the button's form. */
  fields?: Readonly<Record<string, string>>;
};

/** An action that asks first: its button shows when the question is opened. */
export const askFirst = ({ label, about = "", text, confirm, action, fields = {} }: Question): Html =>
  html`<details class="question"><summary>${label}${about && html`<span class="visually-hidden"> ${about}</span>`}</summary>
<div><p>${text}</p>${buttonForm(action, confirm, { kind: "danger-button", about, fields })}</div></details>`;
