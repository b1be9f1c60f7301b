import { type Html, html } from "./render.ts";

// 24 by 24, drawn in the text's colour. Each meaning has a shape of its own, so that colour is never alone.
const shapes = {
  waiting: html`<circle cx="12" cy="12" r="9"/><path d="M12 7v5l3 2"/>`,
  progress: html`<circle cx="12" cy="12" r="9"/><path d="M12 3a9 9 0 0 1 0 18z" fill="currentColor"/>`,
  done: html`<circle cx="12" cy="12" r="9"/><path d="m8 12.5 2.7 2.7L16 9.5"/>`,
  attention: html`<path d="M12 3.5 22 20.5H2z"/><path d="M12 10v5m0 2.5v.2"/>`,
  stopped: html`<rect x="4" y="4" width="16" height="16" rx="3"/><path d="M8.5 12h7"/>`,
  failed: html`<path d="M8 2.5h8l5.5 5.5v8L16 21.5H8L2.5 16V8z"/><path d="m9 9 6 6m0-6-6 6"/>`,
  unchecked: html`<circle cx="12" cy="12" r="9" stroke-dasharray="3.2 3.2"/><path d="M9.6 9.5a2.5 2.5 0 1 1 3.4 2.6c-.7.3-1 .7-1 1.6m0 2.6v.2"/>`,
  info: html`<circle cx="12" cy="12" r="9"/><path d="M12 11v5m0-8.5v.2"/>`,
  upcoming: html`<circle cx="12" cy="12" r="5"/>`,
  sign: html`<path d="M3 20.5h18M5 16.5l1-4L15.5 3l3.5 3.5L9.5 16z"/>`,
  notarize: html`<circle cx="12" cy="9" r="6"/><path d="m8.5 14-1.5 7.5 5-2.5 5 2.5-1.5-7.5M9.8 9l1.6 1.6L14.5 7.5"/>`,
  ship: html`<path d="M3 7.5 12 3l9 4.5v9L12 21l-9-4.5zM3 7.5 12 12l9-4.5M12 12v9"/>`,
  evidence: html`<path d="M12 3 4 6v6c0 4.5 3.3 7.7 8 9 4.7-1.3 8-4.5 8-9V6z"/><path d="m8.5 12 2.5 2.5 4.5-5"/>`,
} as const;

export type IconName = keyof typeof shapes;

/** A decorative icon; the words beside it carry the meaning. */
export const icon = (name: IconName): Html =>
  html`<svg class="icon" viewBox="0 0 24 24" width="24" height="24" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" focusable="false">${shapes[name]}</svg>`;
