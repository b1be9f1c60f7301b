import { make, setNumbers } from "../../../../ui/browser/parts.ts";
import { type Box, boxesOf, kindWords } from "./field.ts";
import type { Guide } from "./geometry.ts";
import { nameOf, type Signer } from "./signers.ts";
import type { Store } from "./store.ts";

export type Overlay = {
  /** `elementOf` returns the element that shows a box; `boxAt` returns the box that an element shows. */
  readonly elementOf: (box: Box) => HTMLElement | undefined;
  readonly boxAt: (target: EventTarget | null) => Box | null;
  readonly showGuides: (page: number, guides: readonly Guide[]) => void;
  readonly refresh: () => void;
};

type Shown = {
  readonly store: Store;
  readonly signers: () => readonly Signer[];
  readonly pageBox: (page: number) => HTMLElement;
};

const keyOf = ({ field, option }: Box): string => `${field.id}.${option ?? ""}`;

/** Shows the fields as elements over their pages. A box always keeps its element, so that the focus isn't lost. */
export function openOverlay({ store, signers, pageBox }: Shown): Overlay {
  const elements = new Map<string, HTMLButtonElement>();
  const boxes = new WeakMap<Element, Box>();
  let guides: HTMLElement[] = [];

  function draw(box: Box): void {
    const { field, option, rect } = box;
    const key = keyOf(box);
    const element = elements.get(key) ?? make("button", { type: "button" });
    elements.set(key, element);
    boxes.set(element, box);
    const selected = store.selected();
    const isSelected = selected?.field.id === field.id && selected.option === option;
    element.className = `placed of-${field.row} ${field.kind}${isSelected ? " selected" : ""}${field.error === null ? "" : " refused"}`;
    setNumbers(element, { left: rect.x, top: rect.y, width: rect.width, height: rect.height });
    element.setAttribute("aria-label", spoken(box, signers()));
    element.title = spoken(box, signers());
    element.setAttribute("aria-pressed", String(isSelected));
    const shown = make("span", { className: "placed-text", textContent: textOf(box, signers()) });
    const handle = isSelected ? [make("span", { className: "placed-handle" })] : [];
    element.replaceChildren(shown, ...handle);
    const page = pageBox(field.page);
    if (element.parentElement !== page) page.append(element);
  }

  return {
    elementOf: (box) => elements.get(keyOf(box)),
    boxAt(target) {
      const element = target instanceof Element ? target.closest(".placed") : null;
      return (element && boxes.get(element)) ?? null;
    },
    showGuides(page, lines) {
      for (const guide of guides) guide.remove();
      guides = lines.map(({ axis, at }) => {
        const guide = make("div", { className: `snap-guide along-${axis}` });
        setNumbers(guide, { at });
        pageBox(page).append(guide);
        return guide;
      });
    },
    refresh() {
      const all = store.fields().flatMap(boxesOf);
      const keys = new Set(all.map(keyOf));
      for (const [key, element] of elements)
        if (!keys.has(key)) {
          element.remove();
          elements.delete(key);
        }
      for (const box of all) draw(box);
    },
  };
}

const titleOf = ({ field, option }: Box): string => {
  const label = field.label === "" ? kindWords[field.kind] : field.label;
  return option === null ? label : `${label}: ${field.options[option]?.label ?? ""}`;
};

/** The smallest width, in points, at which a box shows the signer's name. */
const minWidthForName = 100;

/** The text in a box: the value that the sender filled in, or a word for the value that the signer has to fill in. */
function textOf(box: Box, signers: readonly Signer[]): string {
  const { field, option } = box;
  const { kind, value } = field;
  if (kind === "checkbox") return value === "" ? "" : "✓";
  if (kind === "radio") return value !== "" && value === field.options[option ?? 0]?.label ? "●" : "";
  if (kind === "multiple") return "";
  if (value !== "") return value;
  // A wide box shows the signer's name, because not everybody can distinguish signers by color alone.
  const isNamed = signers.length > 1 && box.rect.width >= minWidthForName;
  return isNamed ? `${titleOf(box)}, ${nameOf(signers, field.row)}` : titleOf(box);
}

/**
 * The accessible name begins with the visible text, so that users of voice control can say what they see (WCAG 2.5.3).
 */
function spoken(box: Box, signers: readonly Signer[]): string {
  const { field } = box;
  const kind = field.label === "" ? "" : `${kindWords[field.kind]}, `;
  const must = field.readOnly ? "filled in by you" : field.required ? "required" : "optional";
  const value = box.option === null && field.value !== "" && field.kind !== "checkbox" ? `: ${field.value}` : "";
  const refused = field.error === null ? "" : `. Refused: ${field.error}`;
  return `${titleOf(box)}${value}, ${nameOf(signers, field.row)}, ${kind}${must}, page ${field.page}${refused}`;
}
