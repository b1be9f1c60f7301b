import { make } from "../../../../ui/browser/parts.ts";
import { quietButton } from "../places/controls.ts";
import { nameOf, type Signer } from "../places/signers.ts";
import type { FoundPlaces } from "./found.ts";

type Shown = {
  readonly message: string;
  /** `all` is the number of shown proposals. `free` is how many of them one click places for the chosen signer. */
  readonly all: number;
  readonly free: number;
  /** For each proposal with a known signer: the row of that signer. */
  readonly owners: readonly number[];
  readonly signers: readonly Signer[];
  /** The row of the chosen signer. */
  readonly row: number;
};

/** The part of the toolbar with the number of proposals, and the buttons that place them. */
export function openPanel(roles: HTMLElement, undoPlacing: () => void) {
  const report = make("p", { className: "place-report", hidden: true });
  const back = quietButton("Undo", undoPlacing, "Undo the placing");
  const statusLine = make("p", { className: "place-found" });
  const free = make("button", { type: "button", className: "quiet-button" });
  const owned = make("button", { type: "button" });
  const none = make("button", { type: "button", className: "quiet-button", textContent: "Hide them" });
  const actions = make("div", { className: "form-actions" }, owned, free, none);
  return {
    owned,
    free,
    none,
    element: make("div", { className: "place-proposals" }, report, statusLine, roles, actions),
    /**
     * Reports the fields that one click placed. The clicked button has disappeared, so the focus moves to the undo
     * button.
     */
    report(text: string): void {
      report.replaceChildren(text, " ", back);
      report.hidden = false;
      back.focus({ preventScroll: true });
    },
    endReport(): void {
      report.hidden = true;
    },
    /** Moves the focus to the first button that is shown. */
    focus(): void {
      [owned, free, none].find((button) => !button.hidden)?.focus();
    },
    refresh(shown: Shown): void {
      const { owners, signers, row, all } = shown;
      statusLine.textContent = shown.message;
      owned.textContent = ownersWords(owners, { all, signers });
      free.textContent = `Place ${whichOnes(shown.free, { owned: owners.length, all })} for ${nameOf(signers, row)}`;
      owned.hidden = owners.length === 0;
      free.hidden = shown.free === 0;
      none.hidden = all === 0;
    },
  };
}

/** A button names at most this many signers. */
const maxNamed = 4;

/**
 * The label of the button that places all proposals with a known signer, such as "Place all 15: 8 for Jane Roe, 7 for
 * Max Doe".
 * @param rows for each of these proposals, the row of its signer
 */
function ownersWords(
  rows: readonly number[],
  { all, signers }: { readonly all: number; readonly signers: readonly Signer[] },
): string {
  const which = rows.length < all ? `${rows.length} of ${all}` : all === 1 ? "it" : `all ${all}`;
  return `Place ${which}${countsOf(rows, signers)}`;
}

/**
 * Words that say for whom fields are: " for Jane Roe", or ": 8 for Jane Roe, 7 for Max Doe".
 * @param rows for each field, the row of its signer
 */
export function countsOf(rows: readonly number[], signers: readonly Signer[]): string {
  const counts = [...Map.groupBy(rows, (row) => row)].sort(([a], [b]) => a - b);
  const [[first] = []] = counts;
  if (counts.length === 1 && first !== undefined) return ` for ${nameOf(signers, first)}`;
  if (counts.length > maxNamed) return ", each for its own signer";
  return `: ${counts.map(([row, { length }]) => `${length} for ${nameOf(signers, row)}`).join(", ")}`;
}

/**
 * Words for the proposals that the chosen signer gets, such as "all 5" or "the other 3".
 * @param owned how many of `all` proposals have a known signer
 */
function whichOnes(count: number, { owned, all }: { readonly owned: number; readonly all: number }): string {
  if (count + owned < all) return `${count} of them`;
  if (owned > 0) return count === 1 ? "the other" : `the other ${count}`;
  return count === 1 ? "it" : `all ${count}`;
}

/**
 * The sentence with the number of found places.
 * @param ofWitnesses the number of additional places for witnesses, whom the form does not name
 */
export function sentence(
  count: number,
  { found: { state: stateOf, all }, ofWitnesses }: { readonly found: FoundPlaces; readonly ofWitnesses: number },
): string {
  const state = stateOf();
  if (state === "picture") return "The pages are pictures: place the fields by hand.";
  const places = count === 1 ? "1 place to fill in was found." : `${count} places to fill in were found.`;
  if (state === "reading") return count === 0 ? "Looking for places to fill in…" : places;
  const left = ofWitnesses === 0 ? "" : ` ${ofWitnesses} more ${ofWitnesses === 1 ? "is" : "are"} for witnesses.`;
  const rest = `${left}${state === "partly" ? " Not all pages could be looked at." : ""}`;
  if (count > 0) return `${places}${rest}`;
  return all().length === 0 ? `No lines to sign on were found.${rest}` : rest.trim();
}
