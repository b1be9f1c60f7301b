import { make } from "../../../../ui/browser/parts.ts";
import { type Kind, kinds, kindWords } from "./field.ts";
import { nameOf, type Signer } from "./signers.ts";
import type { Store } from "./store.ts";

export type ToolsDeps = {
  readonly store: Store;
  readonly signers: () => readonly Signer[];
  readonly zoom: (by: number) => void;
  /** The element that says which page is in view. */
  readonly place: HTMLElement;
  readonly putInMiddle: (kind: Kind) => void;
  readonly say: (text: string) => void;
  readonly close: () => void;
  readonly changed: () => void;
};

/** The toolbar of the editor, with the tools that put fields on pages for the chosen signer. */
export function openTools({ store, signers, zoom, place, putInMiddle, say, close, changed }: ToolsDeps) {
  let armed: Kind | null = null;
  let row = signers()[0]?.row ?? 1;
  let viewer: number | null = null;
  const arm = (kind: Kind | null) => {
    armed = kind;
    changed();
  };
  const view = (as: number | null) => {
    viewer = as;
    armed = null;
    store.select(null);
    say(as === null ? "You can place fields again." : `Shown as ${nameOf(signers(), as)} fills it in.`);
  };

  const whose = chooser("place-signer", "Fields for", (value) => {
    row = Number(value);
    changed();
  });
  const swatch = make("span", { className: "place-swatch" });
  whose.element.append(swatch);
  const shows = chooser("place-preview", "Show", (value) => view(value === "" ? null : Number(value)));
  const buttons = toolButtons((kind, isAtOnce) => {
    if (isAtOnce || armed === kind) {
      armed = null;
      putInMiddle(kind);
      return;
    }
    arm(kind);
    say(`${kindWords[kind]}: click its place on a page, or press the tool again for the middle of the page.`);
  });
  const undo = () => say(store.undo() ? "Undone." : "There is nothing to undo.");
  const bar = make(
    "div",
    { className: "place-bar form-actions" },
    make("h2", { id: "place-editor-title", textContent: "Fields on the pages" }),
    place,
    quietButton("−", () => zoom(-1), "Smaller"),
    quietButton("+", () => zoom(1), "Larger"),
    quietButton("Undo", undo),
    shows.element,
    mainButton("Done", close),
  );
  const missing = make("p", { className: "place-missing" });
  const filled = make("div", { className: "place-filled" });
  const legend = make("legend", { className: "visually-hidden", textContent: "Fields" });
  const group = make("fieldset", { className: "place-buttons" }, legend, ...buttons.values());
  const hint = make("p", {
    className: "place-hint",
    textContent: "Drag a field onto a page, or click it and then its place.",
  });

  return {
    bar,
    palette: make("div", { className: "place-palette" }, whose.element, group, hint, missing, filled),
    arm,
    tool: () => armed,
    row: () => row,
    /** The row of the signer whose view is shown; null while fields are edited. */
    preview: () => viewer,
    reset: () => view(null),
    buttonOf: (kind: Kind) => buttons.get(kind) ?? group,
    refresh() {
      const all = signers();
      if (!all.some((signer) => signer.row === row)) row = all[0]?.row ?? 1;
      whose.fill(
        all.map((signer) => [String(signer.row), signer.name]),
        String(row),
      );
      swatch.className = `place-swatch of-${row}`;
      const views = all.map((signer) => [String(signer.row), `As ${signer.name} sees it`] as const);
      shows.fill([["", "All fields, to edit"], ...views], viewer === null ? "" : String(viewer));
      for (const [kind, button] of buttons) button.setAttribute("aria-pressed", String(armed === kind));
      missing.textContent = viewer === null ? missingIn(store, all) : "";
      filled.replaceChildren(...(viewer === null ? [] : filledBy(store, viewer, all)));
    },
  };
}

function toolButtons(used: (kind: Kind, isAtOnce: boolean) => void): Map<Kind, HTMLButtonElement> {
  const made = kinds.map((kind) => {
    const button = make("button", { type: "button", className: "place-tool", textContent: kindWords[kind] });
    // A click by keyboard has no point on the page, so the field gets a default place.
    button.addEventListener("click", ({ detail }) => used(kind, detail === 0));
    return [kind, button] as const;
  });
  return new Map(made);
}

function mainButton(text: string, click: () => void): HTMLButtonElement {
  const button = make("button", { type: "button", textContent: text });
  button.addEventListener("click", click);
  return button;
}

function quietButton(text: string, click: () => void, label = text): HTMLButtonElement {
  const button = mainButton(text, click);
  button.className = "quiet-button";
  button.setAttribute("aria-label", label);
  button.title = label;
  return button;
}

type Choices = readonly (readonly [value: string, label: string])[];

/**
 * A dropdown with its label. Its choices are replaced only when they differ, because replacing them closes an open
 * dropdown.
 */
function chooser(id: string, label: string, chosen: (value: string) => void) {
  const select = make("select", { id });
  select.addEventListener("change", () => chosen(select.value));
  let shown = "";
  return {
    element: make("div", { className: "place-choice" }, make("label", { htmlFor: id, textContent: label }), select),
    fill(choices: Choices, value: string): void {
      const key = JSON.stringify(choices);
      if (key !== shown)
        select.replaceChildren(...choices.map(([each, text]) => make("option", { value: each, textContent: text })));
      shown = key;
      select.value = value;
    },
  };
}

/** Names the signers who have no signature field yet; empty when nobody has a field. */
function missingIn(store: Store, signers: readonly Signer[]): string {
  const fields = store.fields();
  if (fields.length === 0) return "";
  const without = signers.filter(({ row }) => !fields.some((field) => field.row === row && field.kind === "signature"));
  return without.map(({ name }) => `${name} has no signature yet.`).join(" ");
}

function filledBy(store: Store, row: number, signers: readonly Signer[]): HTMLElement[] {
  const own = store.fields().filter((field) => field.row === row && !field.readOnly);
  const items = own.map(({ kind, label, required, page }) => {
    const name = label === "" ? kindWords[kind] : label;
    return make("li", { textContent: `${name}, page ${page}${required ? "" : " (optional)"}` });
  });
  const count = own.length === 1 ? "1 field" : `${own.length} fields`;
  return [make("p", { textContent: `${nameOf(signers, row)} fills in ${count}:` }), make("ul", {}, ...items)];
}
