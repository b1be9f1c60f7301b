import {
  type Box,
  boxesOf,
  copied,
  type Field,
  type Kind,
  kindWords,
  newField,
  type Rect,
  type Size,
  startSize,
  within,
} from "./field.ts";
import { fitSize, type SizeRules } from "./geometry.ts";
import type { OpenDocument } from "./opened.ts";
import { nameOf, type Signer } from "./signers.ts";
import type { Store } from "./store.ts";

export type ActionDeps = {
  readonly opened: OpenDocument;
  readonly store: Store;
  readonly rules: SizeRules;
  readonly signers: () => readonly Signer[];
  /** `row` returns the row of the signer for whom new fields are placed, and `page` the page in view. */
  readonly row: () => number;
  readonly page: () => number;
  readonly say: (text: string) => void;
  /** Moves the focus to the selected field, or to the pages. */
  readonly focus: () => void;
};

export type Actions = ReturnType<typeof openActions>;

/**
 * Reads a text that lists pages, such as "2-5, 8", "3-", "odd" or "all".
 * @param count how many pages the document has
 * @returns the page numbers, ascending; null for any other text
 */
export function pagesIn(text: string, count: number): number[] | null {
  const words = text.trim().toLowerCase();
  const every = Array.from({ length: count }, (_, index) => index + 1);
  if (words === "all") return every;
  if (words === "odd" || words === "even") return every.filter((page) => page % 2 === (words === "odd" ? 1 : 0));
  const chosen = new Set<number>();
  for (const part of words.split(/\s*[,;]\s*/)) {
    const [whole, first = "", dash = "", last = ""] = /^(\d{0,6})(?:\s*([-–])\s*(\d{0,6}))?$/.exec(part) ?? [];
    if (whole === undefined || first + last === "") return null;
    const from = first === "" ? 1 : Number(first);
    const to = dash === "" ? from : last === "" ? count : Number(last);
    if (from < 1 || to > count || from > to) return null;
    for (let page = from; page <= to; page++) chosen.add(page);
  }
  return every.filter((page) => chosen.has(page));
}

/**
 * How far a copied field moves on a page of another size, so that its distance to the nearest corner stays the same.
 * Null if the field does not fit there.
 */
export function toSameCorner(field: Field, from: Size, to: Size): { x: number; y: number } | null {
  const rects = boxesOf(field).map(({ rect }) => rect);
  const [left, top] = [Math.min(...rects.map(({ x }) => x)), Math.min(...rects.map(({ y }) => y))];
  const right = Math.max(...rects.map(({ x, width }) => x + width));
  const bottom = Math.max(...rects.map(({ y, height }) => y + height));
  const x = left + right > from.width ? to.width - from.width : 0;
  const y = top + bottom > from.height ? to.height - from.height : 0;
  const fits = left + x >= 0 && top + y >= 0 && right + x <= to.width && bottom + y <= to.height;
  return fits ? { x, y } : null;
}

/**
 * A duplicate is this many points further right than the original, and begins this many points below its lower edge.
 */
const copyStep = 12;

const isSame = (a: Field, b: Field): boolean =>
  a.kind === b.kind &&
  a.row === b.row &&
  a.page === b.page &&
  Math.abs(a.rect.x - b.rect.x) < 1 &&
  Math.abs(a.rect.y - b.rect.y) < 1;

/** The actions that change fields, for mouse, touch and keyboard. Each is also announced to screen readers. */
export function openActions({ opened, store, rules, signers, row, page: current, say, focus }: ActionDeps) {
  const { pageSize } = opened;
  const announce = (field: Field, done: string) =>
    say(`${kindWords[field.kind]} for ${nameOf(signers(), field.row)} ${done}`);

  function put(kind: Kind, page: number, rect: Rect): void {
    const field = newField({ kind, row: row(), page, rect });
    store.add([field]);
    focus();
    announce(field, `placed on page ${page}. Arrow keys move it, with Shift they resize it.`);
  }

  return {
    put,
    /** Places a new field in the middle of the page in view, or lower if a field is already there. */
    putInMiddle(kind: Kind): void {
      const page = current();
      const size = pageSize(page);
      const own = fitSize(kind, startSize(kind), size, rules);
      const x = (size.width - own.width) / 2;
      let y = (size.height - own.height) / 2;
      const onPage = store.fields().filter((field) => field.page === page);
      const isOccupied = () =>
        onPage.some(({ rect }) => Math.abs(rect.x - x) < own.width && Math.abs(rect.y - y) < own.height);
      while (isOccupied() && y + own.height < size.height) y += own.height + copyStep / 2;
      put(kind, page, within({ x, y, ...own }, size));
    },
    duplicate({ field }: Box): void {
      const copy = copied(field, field.page, { x: copyStep, y: field.rect.height + copyStep }, pageSize(field.page));
      store.add([copy]);
      focus();
      announce(copy, "duplicated.");
    },
    /**
     * Copies the field to other pages, at the same distance to the nearest corner. Skips pages on which it doesn't fit
     * or already exists.
     */
    onPages({ field, option }: Box, pages: readonly number[]): void {
      const others = pages.filter((page) => page !== field.page);
      const copies = others.flatMap((page) => {
        const by = toSameCorner(field, pageSize(field.page), pageSize(page));
        return by ? [copied(field, page, by, pageSize(page))] : [];
      });
      const more = copies.filter((copy) => !store.fields().some((each) => isSame(each, copy)));
      if (more.length > 0) store.add(more);
      store.select({ id: field.id, option });
      const left = others.length - copies.length;
      announce(field, `is on ${copies.length + 1} pages now.${left > 0 ? ` ${left} pages are too small for it.` : ""}`);
    },
    remove({ field }: Box): void {
      store.remove(field.id);
      announce(field, "deleted. Control and Z bring it back.");
      focus();
    },
  };
}
