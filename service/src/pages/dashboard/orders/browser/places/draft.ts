import { storage } from "../../../../ui/browser/parts.ts";
import { hashOf } from "../../../../ui/browser/viewer/room.ts";
import { type Field, readWritten, written } from "./field.ts";
import type { OpenDocument } from "./opened.ts";

/**
 * The fields that the sender placed, stored for the tab until the form is sent or the member signs out. After a reload,
 * the file must be chosen again. Therefore a hash of the file's bytes identifies the draft.
 */
type Draft = {
  /**
   * The fields that the service wrote into the form. If a reloaded form contains other fields, the draft is outdated.
   */
  readonly base: string;
  readonly fields: string;
};

export type PlacesDraft = {
  /**
   * Chooses the document whose fields `save` stores from now on.
   * @param key the document's key from `keyOf`; with null, `save` stores nothing
   * @returns the fields of the document's draft; null without one
   */
  readonly open: (key: string | null) => Field[] | null;
  readonly save: (fields: readonly Field[]) => void;
  /** True if these are the fields that the service wrote into the form. */
  readonly isBase: (fields: readonly Field[]) => boolean;
  /** Deletes the draft, because the form is being sent. After that, `save` stores nothing until `open` is called. */
  readonly discard: () => void;
};

/**
 * The name of a draft in the tab's storage. It contains the id of the signed-in member, because fields may contain
 * personal values that nobody else in this tab may see.
 */
const nameOf = (key: string): string => {
  const account = document.querySelector<HTMLElement>("[data-account]")?.dataset["account"] ?? "";
  return `places:${account}:${location.pathname}:${key}`;
};

/**
 * A draft identifies signers by their rows. Signer numbers count only the rows with a name, and a reloaded form may
 * have lost the names.
 */
const sameRow = (row: number): number => row;
const textOf = (fields: readonly Field[]): string => written(fields, sameRow);

/**
 * The draft's key for a document that was chosen in the form: the hash of its bytes. Null if the browser can't compute
 * hashes.
 */
export const keyOf = async ({ document }: OpenDocument): Promise<string | null> => hashOf(await document.getData());

/**
 * Opens the drafts of a form's placed fields.
 * @param start the fields that the service wrote into the form
 */
export function openDraft(start: readonly Field[]): PlacesDraft {
  const base = textOf(start);
  let key: string | null = null;
  const remove = (name: string) => storage((tab) => tab.removeItem(name));

  return {
    open(next) {
      key = next;
      if (next === null) return null;
      const read = (tab: Storage) => {
        const draft = JSON.parse(tab.getItem(nameOf(next)) ?? "null") as Draft | null;
        return draft?.base === base ? readWritten(draft.fields, sameRow) : null;
      };
      return storage(read) ?? null;
    },
    save(fields) {
      if (key === null) return;
      const name = nameOf(key);
      const draft: Draft = { base, fields: textOf(fields) };
      if (draft.fields === base) remove(name);
      else storage((tab) => tab.setItem(name, JSON.stringify(draft)));
    },
    isBase: (fields) => textOf(fields) === base,
    discard() {
      if (key !== null) remove(nameOf(key));
      key = null;
    },
  };
}
