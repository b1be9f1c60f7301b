import { make } from "../../../../ui/browser/parts.ts";
import { chooser, mainButton, quietButton } from "./controls.ts";
import { type Kind, kinds, kindWords } from "./field.ts";
import { redo, undo } from "./keyboard.ts";
import { type Signer, unsigned } from "./signers.ts";
import type { Store } from "./store.ts";

export type ToolsDeps = {
  readonly store: Store;
  readonly signers: () => readonly Signer[];
  readonly view: {
    readonly zoom: (by: number) => void;
    /** The element that shows the number of the page in view. */
    readonly place: HTMLElement;
    /**
     * Moves the focus to the first proposed signature for the chosen signer.
     * @returns true if there is one
     */
    readonly goToSignature: () => boolean;
  };
  readonly putInMiddle: (kind: Kind) => void;
  readonly say: (text: string) => void;
  /** Opens the preview of the page that the signer in this row will see. */
  readonly preview: (row: number) => void;
  readonly close: () => void;
  readonly changed: () => void;
};

/** The toolbar of the editor, with the tools that place fields on pages for the chosen signer. */
export function openTools({ store, signers, view, putInMiddle, say, preview, close, changed }: ToolsDeps) {
  let armed: Kind | null = null;
  let row = signers()[0]?.row ?? 1;
  const arm = (kind: Kind | null) => {
    armed = kind;
    changed();
  };

  const choose = (value: number) => {
    row = value;
    changed();
  };
  const signerChooser = chooser("place-signer", "Fields for", (value) => choose(Number(value)));
  const swatch = make("span", { className: "place-swatch" });
  signerChooser.element.append(swatch);
  const buttons = toolButtons((kind, isAtOnce) => {
    if (isAtOnce || armed === kind) {
      armed = null;
      putInMiddle(kind);
      return;
    }
    arm(kind);
    say(`${kindWords[kind]}: click its place on a page, or press the tool again for the middle of the page.`);
  });
  const bar = make(
    "div",
    { className: "place-bar form-actions" },
    make("h2", { id: "place-editor-title", textContent: "Fields on the pages" }),
    view.place,
    quietButton("−", () => view.zoom(-1), "Smaller"),
    quietButton("+", () => view.zoom(1), "Larger"),
    quietButton("Undo", () => undo({ store, say })),
    quietButton("Redo", () => redo({ store, say })),
    quietButton("Preview", () => preview(row), "Preview as the signers see it"),
    mainButton("Done", close),
  );
  let shownMissing = "";
  const missing = make("p", { className: "place-missing" });
  const chooseToSign = (value: number) => {
    choose(value);
    if (view.goToSignature()) return;
    arm("signature");
    buttons.get("signature")?.focus();
  };
  const legend = make("legend", { className: "visually-hidden", textContent: "Fields" });
  const group = make("fieldset", { className: "place-buttons" }, legend, ...buttons.values());
  const hint = make("p", {
    className: "place-hint",
    textContent: "Drag a field onto a page, or click it and then its place.",
  });

  return {
    bar,
    palette: make("div", { className: "place-palette" }, signerChooser.element, group, hint, missing),
    arm,
    tool: () => armed,
    row: () => row,
    buttonOf: (kind: Kind) => buttons.get(kind) ?? group,
    refresh() {
      const all = signers();
      if (!all.some((signer) => signer.row === row)) row = all[0]?.row ?? 1;
      signerChooser.fill(
        all.map((signer) => [String(signer.row), signer.name]),
        String(row),
      );
      swatch.className = `place-swatch of-${row}`;
      for (const [kind, button] of buttons) button.setAttribute("aria-pressed", String(armed === kind));
      const without = missingIn(store, all);
      const key = JSON.stringify(without);
      // Replacing a focused button would lose the focus.
      if (key !== shownMissing) missing.replaceChildren(...missingPart(without, chooseToSign));
      shownMissing = key;
    },
  };
}

function toolButtons(used: (kind: Kind, isAtOnce: boolean) => void): Map<Kind, HTMLButtonElement> {
  const buttons = kinds.map((kind) => {
    const button = make("button", { type: "button", className: "place-tool", textContent: kindWords[kind] });
    // A click made by keyboard has no point on the page. So the field is placed at once, in the middle of the page.
    button.addEventListener("click", ({ detail }) => used(kind, detail === 0));
    return [kind, button] as const;
  });
  return new Map(buttons);
}

/** The signers who have no signature field yet. Empty while the document has no fields at all. */
function missingIn(store: Store, signers: readonly Signer[]): readonly Signer[] {
  const fields = store.fields();
  return fields.length === 0 ? [] : unsigned(signers, fields);
}

/** Names the signers without a signature. A click on a name selects that signer, and moves to a place to sign. */
function missingPart(missing: readonly Signer[], choose: (row: number) => void): (HTMLElement | string)[] {
  if (missing.length === 0) return [];
  const names = missing.map(({ row, name }) => {
    const button = quietButton(name, () => choose(row), `${name} has no signature yet: place one`);
    button.classList.add("place-name", `of-${row}`);
    return button;
  });
  return ["No signature yet: ", ...names];
}
