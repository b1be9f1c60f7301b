import { type Flow, type Look, muted } from "./flow.ts";

// How the parts of a certificate look.
export const body: Look = { size: 9.5 };
export const fine: Look = { size: 8.5 };
export const code: Look = { size: 8, mono: true, leading: 1.6 };
export const quiet: Look = { size: 9, colour: muted };
export const heading: Look = { size: 12, weight: "semibold", leading: 1.7 };
export const titleLook: Look = { size: 20, weight: "semibold", leading: 1.25 };

/** Begins a section, on a page that has room for so much of it. */
export function section(flow: Flow, title: string, least: number): void {
  flow.keep(least);
  flow.rule();
  flow.skip(12);
  flow.text(title, heading);
  flow.skip(2);
}
