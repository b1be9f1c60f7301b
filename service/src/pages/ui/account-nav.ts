import { type Html, html } from "./render.ts";

/**
 * The signed-in person's name, and the button to sign out.
 * @param id the person's id, under which our scripts store drafts in the browser
 */
export const accountNav = (name: string, id?: string): Html =>
  html`<div class="account"${id !== undefined && html` data-account="${id}"`}><span class="account-name">${name}</span><form method="post" action="/sign-out"><button type="submit" class="link-button">Sign out</button></form></div>`;
