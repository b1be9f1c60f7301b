import { type Html, html } from "./render.ts";

// Icons of 24 by 24 units, drawn in the text's color. Each meaning has its own shape, so that color is never the only
// difference.
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
  lock: html`<rect x="4.5" y="10.5" width="15" height="10.5" rx="2.5"/><path d="M8 10.5V7.5a4 4 0 0 1 8 0v3M12 14.5v2.5"/>`,
  home: html`<path d="m3 11.5 9-8 9 8M5.5 9.5v11h13v-11M10 20.5v-6h4v6"/>`,
  orders: html`<path d="M6 2.5h8.5L19 7v14.5H6zM14 2.5V7.5h5M9.5 12h6m-6 4h6"/>`,
  rooms: html`<path d="M5.5 21.5v-19h13v19M3 21.5h18M14.5 12v.2"/>`,
  webhooks: html`<path d="M13 2.5 4.5 14H12l-1 7.5L19.5 10H12z"/>`,
  analytics: html`<path d="M3.5 3v17.5H21M8 16.5v-5m4.5 5v-9m4.5 9v-7"/>`,
  people: html`<circle cx="9" cy="8" r="3.5"/><path d="M2.5 20c.4-4 3-6 6.5-6s6.1 2 6.5 6M16 4.8a3.5 3.5 0 0 1 0 6.400M18 14.5c2 .8 3.200 2.6 3.5 5.5"/>`,
  key: html`<circle cx="8" cy="15.5" r="5"/><path d="M11.5 12 20.5 3M16.5 7l3 3"/>`,
  settings: html`<path d="M3 7h10m6 0h2M3 17h2m6 0h10"/><circle cx="16" cy="7" r="3"/><circle cx="8" cy="17" r="3"/>`,
  money: html`<rect x="2.5" y="5.5" width="19" height="13" rx="2"/><circle cx="12" cy="12" r="2.8"/><path d="M6 9v.2m12 5.6v.2"/>`,
  firm: html`<path d="M3 21.5h18M5 21.5v-17l9-2v19M14 8.5h5v13M8.5 8v.2m0 4.300v.2m0 4.300v.2"/>`,
  health: html`<path d="M2.5 12.5h4.5l2.5-7 4.5 13 2.5-6h5"/>`,
  book: html`<path d="M12 5.5C9.5 3.8 6.5 3.300 3 3.5v15c3.5-.2 6.5.3 9 2 2.5-1.700 5.5-2.200 9-2v-15c-3.5-.2-6.5.3-9 2zM12 5.5v15"/>`,
  play: html`<circle cx="12" cy="12" r="9"/><path d="M10 8.2v7.6l6.2-3.8z" fill="currentColor"/>`,
} as const;

export type IconName = keyof typeof shapes;

/** A decorative icon, hidden from screen readers. The words next to it have the same meaning. */
export const icon = (name: IconName): Html =>
  html`<svg class="icon" viewBox="0 0 24 24" width="24" height="24" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" focusable="false">${shapes[name]}</svg>`;
