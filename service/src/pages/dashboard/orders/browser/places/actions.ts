import { type Box, copied, type Field, type Kind, kindWords, newField, type Rect, startSize, within } from "./field.ts";
import { fitSize, type SizeRules } from "./geometry.ts";
import type { OpenDocument } from "./opened.ts";
import { nameOf, type Signer } from "./signers.ts";
import type { Store } from "./store.ts";

export type ActionDeps = {
  readonly opened: OpenDocument;
  readonly store: Store;
  readonly rules: SizeRules;
  readonly signers: () => readonly Signer[];
  /** The row of the signer for whom new fields are placed, and the page in view. */
  readonly row: () => number;
  readonly page: () => number;
  readonly say: (text: string) => void;
  /** Moves the focus to the selected field, or to the pages. */
  readonly focus: () => void;
};

export type Actions = ReturnType<typeof openActions>;

/** The distance of a copy from its field, in points. */
const copyStep = 12;

/** The actions that change fields, for mouse, touch and keyboard alike. They also tell screen readers what happened. */
export function openActions({ opened, store, rules, signers, row, page: current, say, focus }: ActionDeps) {
  const { pageSize, document: pdf } = opened;
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
    /** Puts the field in the middle of the page in view, or lower if a field is already there. */
    putInMiddle(kind: Kind): void {
      const page = current();
      const size = pageSize(page);
      const own = fitSize(kind, startSize(kind), size, rules);
      const x = (size.width - own.width) / 2;
      let y = (size.height - own.height) / 2;
      const taken = store.fields().filter((field) => field.page === page);
      const isTaken = () =>
        taken.some(({ rect }) => Math.abs(rect.x - x) < own.width && Math.abs(rect.y - y) < own.height);
      while (isTaken() && y + own.height < size.height) y += own.height + copyStep / 2;
      put(kind, page, within({ x, y, ...own }, size));
    },
    duplicate({ field }: Box): void {
      const copy = copied(field, field.page, { x: copyStep, y: field.rect.height + copyStep }, pageSize(field.page));
      store.add([copy]);
      focus();
      announce(copy, "duplicated.");
    },
    onEveryPage({ field, option }: Box): void {
      const copies: Field[] = [];
      for (let page = 1; page <= pdf.numPages; page++) {
        const size = pageSize(page);
        const fits = field.rect.x + field.rect.width <= size.width && field.rect.y + field.rect.height <= size.height;
        if (page !== field.page && fits) copies.push(copied(field, page, { x: 0, y: 0 }, size));
      }
      store.add(copies);
      store.select({ id: field.id, option });
      const left = pdf.numPages - 1 - copies.length;
      announce(field, `is on ${copies.length + 1} pages now.${left > 0 ? ` ${left} pages are too small for it.` : ""}`);
    },
    remove({ field }: Box): void {
      store.remove(field.id);
      announce(field, "deleted. Control and Z bring it back.");
      focus();
    },
  };
}
