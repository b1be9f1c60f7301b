import { type Html, html } from "./render.ts";

export const accountNav = (name: string): Html =>
  html`<div class="account"><span class="account-name">${name}</span><form method="post" action="/sign-out"><button type="submit" class="link-button">Sign out</button></form></div>`;
