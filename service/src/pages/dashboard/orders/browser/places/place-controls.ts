import { make } from "../../../../ui/browser/parts.ts";
import { type Actions, pagesIn } from "./actions.ts";
import { type Control, textControl } from "./controls.ts";
import type { Box, Rect } from "./field.ts";
import type { Store } from "./store.ts";

/** Copies the field to the pages that the sender lists. */
export function copyControl(store: Store, pages: number, { onPages }: Pick<Actions, "onPages">): Control {
  const error = make("p", { className: "field-error", hidden: true });
  error.setAttribute("role", "alert");
  let wanted = "";
  const input = textControl({
    label: "Copy to pages",
    hint: `Such as 2-${Math.max(pages, 2)}, or odd, or even.`,
    read: () => wanted,
    changed: (text) => {
      wanted = text;
    },
  });
  const copy = make("button", { type: "button", className: "quiet-button", textContent: "Copy" });
  const go = () => {
    const box = store.selected();
    const chosen = pagesIn(wanted, pages);
    error.hidden = chosen !== null;
    error.textContent = chosen ? "" : `List pages from 1 to ${pages}, such as 2-${pages}.`;
    if (box && chosen) onPages(box, chosen);
  };
  copy.addEventListener("click", go);
  input.element.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    go();
  });
  return {
    element: make("div", {}, input.element, error, make("div", { className: "form-actions" }, copy)),
    update: input.update,
  };
}

/** The controls for a field's page, position and size. Lengths are in points, from the upper left corner of the page. */
export function placeControls(store: Store, pages: number): Control[] {
  const round = (value: number) => String(Math.round(value * 10) / 10);
  const move = (change: (box: Box, value: number) => { page?: number; rect?: Partial<Rect> }) => (text: string) => {
    const box = store.selected();
    const value = Number(text);
    if (!box || text === "" || !Number.isFinite(value))
      return store.select(box && { id: box.field.id, option: box.option });
    const { page = box.field.page, rect } = change(box, value);
    store.place(box, page, { ...box.rect, ...rect });
  };
  const side = (label: string, name: keyof Rect) =>
    textControl(
      { label, read: (box) => round(box.rect[name]), changed: move((_, value) => ({ rect: { [name]: value } })) },
      { number: true },
    );
  const page = textControl(
    {
      label: "Page",
      read: (box) => String(box.field.page),
      changed: move((_, value) => ({ page: Math.min(Math.max(Math.round(value), 1), pages) })),
    },
    { number: true },
  );
  const all = [
    page,
    side("From the left", "x"),
    side("From the top", "y"),
    side("Width", "width"),
    side("Height", "height"),
  ];
  const summary = make("summary", { textContent: "Page, position and size" });
  const grid = make("div", { className: "place-numbers" }, ...all.map(({ element }) => element));
  const hint = make("p", { className: "hint", textContent: "In points: 72 are an inch." });
  const details = make("details", {}, summary, hint, grid);
  return [
    {
      element: details,
      update(box) {
        for (const { update } of all) update(box);
      },
    },
  ];
}
