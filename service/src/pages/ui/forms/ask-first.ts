import { type Html, html } from "../render.ts";
import { buttonForm } from "./button-form.ts";

export type Question = {
  /**
   * The label that a person clicks to open the question. For screen readers, `about` tells this question apart from
   * others with the same label.
   */
  label: string;
  about?: string;
  /** The effect of the action, in words. */
  text: string;
  /** A list of the things that the action changes, below the text. */
  details?: Html;
  /** The label of the button that performs the action. */
  confirm: string;
  action: string;
  /** Hidden fields of the button's form. */
  fields?: Readonly<Record<string, string>>;
};

/** An action that asks for confirmation. Its button is hidden until the person opens the question. */
export const askFirst = ({ label, about = "", text, details, confirm, action, fields = {} }: Question): Html =>
  html`<details class="question"><summary>${label}${about && html`<span class="visually-hidden"> ${about}</span>`}</summary>
<div><p>${text}</p>${details}${buttonForm(action, confirm, { kind: "danger-button", about, fields })}</div></details>`;
