/**
 * The element of the page with this id.
 * @throws Error when the page has no such element
 */
export function part<Kind extends HTMLElement = HTMLElement>(id: string): Kind {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return found as Kind;
}

/** Creates an element, with properties and children. */
export function make<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: Partial<HTMLElementTagNameMap[Tag]> = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

/** Replaces each `{name}` in a sentence by its value. */
export const say = (sentence: string, values: Readonly<Record<string, string | number>>): string =>
  sentence.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? ""));

/** Sets CSS variables of an element by script, because the page's content security policy forbids style attributes. */
export function setNumbers(element: HTMLElement, numbers: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(numbers)) element.style.setProperty(`--${name}`, String(value));
}

/** Creates a bar with one button, which stays visible while the reader scrolls. */
export function wayOn(click: (press: MouseEvent) => void): { bar: HTMLElement; button: HTMLButtonElement } {
  const button = make("button", { type: "button" });
  button.addEventListener("click", click);
  return { bar: make("div", { className: "viewer-bar no-print" }, button), button };
}

/** Uses the tab's storage. Ignores errors, because storage may be full or forbidden, and is only a convenience. */
export function storage<T>(work: (tab: Storage) => T): T | undefined {
  try {
    return work(sessionStorage);
  } catch {
    return undefined;
  }
}
