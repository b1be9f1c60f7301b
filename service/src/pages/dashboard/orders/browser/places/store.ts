import { type Box, boxesOf, type Field, isSpread, moved, type Rect, type Size, within, withRect } from "./field.ts";
import { fitSize, type SizeRules } from "./geometry.ts";

type Selection = { readonly id: number; readonly option: number | null } | null;

/** The fields of the form, the selected box, and the changes that can be undone. */
export type Store = {
  readonly fields: () => readonly Field[];
  readonly selected: () => Box | null;
  readonly select: (selection: Selection) => void;
  readonly add: (fields: readonly Field[]) => void;
  readonly change: (id: number, to: (field: Field) => Field) => void;
  /** Moves and resizes a box. If an option moves to another page, the field's other options move there as well. */
  readonly place: (box: Box, page: number, rect: Rect) => void;
  readonly remove: (id: number) => void;
  readonly replace: (fields: readonly Field[]) => void;
  readonly undo: () => boolean;
  /** Redoes the change that was undone last; impossible after any new change. */
  readonly redo: () => boolean;
  /**
   * Calls `watcher` after each change of the fields or of the selection.
   * @returns a function that stops the calls
   */
  readonly watch: (watcher: () => void) => () => void;
};

const maxUndone = 100;
const typingMs = 1000;

/**
 * Creates the store of a document's placed fields.
 * @param pageSize returns the size of a page, counted from 1
 */
export function openStore(start: readonly Field[], pageSize: (page: number) => Size, rules: SizeRules): Store {
  let fields = start;
  let selection: Selection = null;
  let changed = { id: 0, at: 0 };
  const past: (readonly Field[])[] = [];
  const undone: (readonly Field[])[] = [];
  const watchers = new Set<() => void>();
  const tell = () => {
    for (const watcher of watchers) watcher();
  };
  const find = (id: number) => fields.find((field) => field.id === id);
  const set = (to: readonly Field[]) => {
    past.push(fields);
    if (past.length > maxUndone) past.shift();
    undone.length = 0;
    fields = to;
    tell();
  };
  const go = (from: (readonly Field[])[], back: (readonly Field[])[]): boolean => {
    const to = from.pop();
    if (!to) return false;
    back.push(fields);
    fields = to;
    // After an undo or a redo, further typing begins a new undo step.
    changed = { id: 0, at: 0 };
    if (selection && !find(selection.id)) selection = null;
    tell();
    return true;
  };

  return {
    fields: () => fields,
    selected() {
      const field = selection && find(selection.id);
      const boxes = field ? boxesOf(field) : [];
      return boxes.find(({ option }) => option === selection?.option) ?? boxes[0] ?? null;
    },
    select(to) {
      selection = to;
      tell();
    },
    add(more) {
      const [first] = more;
      if (!first) return;
      selection = { id: first.id, option: isSpread(first) ? 0 : null };
      set([...fields, ...more]);
    },
    change(id, to) {
      const isTyped = past.length > 0 && changed.id === id && performance.now() - changed.at < typingMs;
      changed = { id, at: performance.now() };
      set(fields.map((field) => (field.id === id ? to(field) : field)));
      // Undo returns to the state before the first of these changes: drops the entry that `set` just pushed.
      if (isTyped) past.pop();
    },
    place({ field, option, rect: before }, page, wanted) {
      const size = pageSize(page);
      const rect = within({ ...wanted, ...fitSize(field.kind, wanted, size, rules) }, size);
      if (page === field.page || option === null) {
        set(fields.map((each) => (each.id === field.id ? { ...withRect(each, option, rect), page } : each)));
        return;
      }
      const there = moved(field, page, { x: rect.x - before.x, y: rect.y - before.y }, size);
      set(fields.map((each) => (each.id === field.id ? there : each)));
    },
    remove(id) {
      if (selection?.id === id) selection = null;
      set(fields.filter((field) => field.id !== id));
    },
    replace(to) {
      selection = null;
      set(to);
    },
    undo: () => go(past, undone),
    redo: () => go(undone, past),
    watch(watcher) {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
  };
}
