import type { Actions } from "./actions.ts";
import type { Box, Rect } from "./field.ts";
import type { openOverlay } from "./overlay.ts";
import type { Store } from "./store.ts";

export type KeyboardDeps = {
  readonly root: HTMLElement;
  readonly store: Store;
  readonly overlay: ReturnType<typeof openOverlay>;
  readonly say: (text: string) => void;
  readonly actions: Pick<Actions, "duplicate" | "remove">;
  /** Opens the panel with the selected field's settings, and moves the focus to the first setting. */
  readonly edit: () => void;
};

const directions: Readonly<Record<string, readonly [right: number, down: number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};
/** How far an arrow key with Ctrl, Command or Alt moves or resizes a field, in points. */
const longStep = 10;

/**
 * Arrow keys move the focused field; with Shift they change its size. Delete or Backspace removes it, Enter or Space
 * opens its settings, and Ctrl or Command with D duplicates it.
 */
export function followKeys({ root, store, overlay, say, actions, edit }: KeyboardDeps): void {
  root.addEventListener("focusin", ({ target }) => {
    const box = overlay.boxAt(target);
    if (box) store.select({ id: box.field.id, option: box.option });
  });

  root.addEventListener("keydown", (event) => {
    const { key, shiftKey, ctrlKey, metaKey, altKey } = event;
    const isCommand = ctrlKey || metaKey;
    const box = overlay.boxAt(event.target);
    if (!box) return;
    const direction = directions[key];
    if (direction) {
      event.preventDefault();
      step(box, direction, shiftKey, isCommand || altKey ? longStep : 1);
    } else if (key === "Delete" || key === "Backspace") {
      event.preventDefault();
      actions.remove(box);
    } else if (key === "Enter" || key === " ") {
      event.preventDefault();
      edit();
    } else if (isCommand && key.toLowerCase() === "d") {
      event.preventDefault();
      actions.duplicate(box);
    }
  });

  function step(box: Box, [right, down]: readonly [number, number], isSize: boolean, by: number): void {
    const { x, y, width, height } = box.rect;
    const rect: Rect = isSize
      ? { ...box.rect, width: width + right * by, height: height + down * by }
      : { ...box.rect, x: x + right * by, y: y + down * by };
    store.place(box, box.field.page, rect);
    const now = store.selected()?.rect;
    if (!now) return;
    const points = (value: number) => Math.round(value);
    say(
      isSize
        ? `${points(now.width)} wide, ${points(now.height)} high`
        : `${points(now.x)} from the left, ${points(now.y)} from the top`,
    );
  }
}

/**
 * Makes a held Enter key press a button only once. Otherwise, “Place all” and “Undo” would be pressed in turn, because
 * each moves the focus to the other. In a multi-line text field, a held Enter key still repeats.
 */
export function pressOnce(root: HTMLElement): void {
  root.addEventListener(
    "keydown",
    (event) => {
      if (!event.repeat || event.key !== "Enter" || event.target instanceof HTMLTextAreaElement) return;
      event.preventDefault();
      event.stopPropagation();
    },
    { capture: true },
  );
}

type History = { readonly store: Pick<Store, "undo" | "redo">; readonly say: (text: string) => void };

export const undo = ({ store, say }: History): void => say(store.undo() ? "Undone." : "There is nothing to undo.");
export const redo = ({ store, say }: History): void => say(store.redo() ? "Done again." : "There is nothing to redo.");

/** Ctrl+Z undoes a change; Ctrl+Y or Ctrl+Shift+Z redoes it. A focused text input handles these keys itself. */
export function followHistory(root: HTMLElement, history: History): void {
  root.addEventListener("keydown", (event) => {
    const key = event.key.toLowerCase();
    const isCommand = event.ctrlKey || event.metaKey;
    if (!isCommand || event.altKey || (key !== "z" && key !== "y") || isTyping(event.target)) return;
    event.preventDefault();
    if (key === "y" || event.shiftKey) redo(history);
    else undo(history);
  });
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLTextAreaElement || (target instanceof HTMLInputElement && target.type !== "checkbox");
