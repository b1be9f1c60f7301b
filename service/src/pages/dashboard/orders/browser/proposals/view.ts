import { make, setNumbers } from "../../../../ui/browser/parts.ts";
import { boxesOf, type Field, kindWords, newField, type Rect, type Size, within } from "../places/field.ts";
import { fitSize, type SizeRules } from "../places/geometry.ts";
import { nameOf, type Signer } from "../places/signers.ts";
import type { Store } from "../places/store.ts";
import { forOne, openAssign } from "./assign.ts";
import { type FoundPlaces, overlaps, type PlacedProposal } from "./found.ts";

export type ProposalsDeps = {
  readonly found: FoundPlaces;
  readonly store: Store;
  readonly rules: SizeRules;
  readonly signers: () => readonly Signer[];
  /** The row of the signer for whom fields are placed if the page does not say whose they are. */
  readonly row: () => number;
  readonly pages: { readonly box: (page: number) => HTMLElement; readonly size: (page: number) => Size };
  readonly say: (text: string) => void;
  /** Moves the focus to the selected field: the pressed button is gone once its proposals are accepted. */
  readonly focus: () => void;
};

/**
 * Shows proposals as dashed boxes on the pages. The sender accepts them one by one or all at once: for the signer whom
 * the page names, else for the chosen signer.
 */
export function showProposals({ found, store, rules, signers, row, pages, say, focus }: ProposalsDeps) {
  const element = make("div", { className: "place-proposals" });
  const said = make("p", { className: "place-found" });
  const all = make("button", { type: "button", className: "quiet-button" });
  const named = make("button", { type: "button" });
  const none = make("button", { type: "button", className: "quiet-button", textContent: "Hide them" });
  element.append(said, make("div", { className: "form-actions" }, named, all, none));
  const elements = new Map<PlacedProposal, HTMLButtonElement>();
  let isHidden = false;
  let owners: ReadonlyMap<PlacedProposal, number> = new Map();
  const assigned = openAssign();
  const free = (shown: readonly PlacedProposal[]) => freeAmong(shown, { found, store, signers, row, owners });
  const ownerOf = (proposal: PlacedProposal): number => owners.get(proposal) ?? row();

  /**
   * The proposals that no field overlaps. So an accepted proposal disappears, and reappears when the sender undoes the
   * acceptance.
   */
  function pending(): PlacedProposal[] {
    if (isHidden) return [];
    const fields = store.fields();
    return found.all().filter((proposal) => !fields.some((field) => isOn(field, proposal)));
  }

  function accept(proposals: readonly PlacedProposal[]): void {
    const fields = proposals.map((proposal) =>
      fieldOf(proposal, { row: ownerOf(proposal), size: pages.size(proposal.page), rules }),
    );
    const [first] = fields;
    if (!first) return;
    store.add(fields);
    focus();
    const what = fields.length === 1 ? kindWords[first.kind] : `${fields.length} fields`;
    const isForOne = fields.every((field) => field.row === first.row);
    say(`${what} placed for ${isForOne ? nameOf(signers(), first.row) : "their signers"}.`);
  }

  function dismiss(proposal: PlacedProposal): void {
    found.dismiss(proposal);
    say("The proposal was removed.");
  }

  named.addEventListener("click", () => accept(pending().filter((each) => owners.has(each))));
  all.addEventListener("click", () => accept(free(pending())));
  none.addEventListener("click", () => {
    isHidden = true;
    refresh();
    say("The proposals are hidden.");
  });

  function refresh(): void {
    const shown = pending();
    const kept = new Set(shown);
    for (const [proposal, made] of elements)
      if (!kept.has(proposal)) {
        made.remove();
        elements.delete(proposal);
      }
    owners = assigned(found.all(), signers());
    for (const proposal of shown) {
      const made = elements.get(proposal) ?? boxOf(proposal, { accept, dismiss });
      if (!elements.has(proposal)) pages.box(proposal.page).append(made);
      elements.set(proposal, made);
      const owner = owners.get(proposal);
      describe(made, proposal, { owner, name: nameOf(signers(), owner ?? row()) });
    }
    element.hidden = isHidden && found.state() !== "picture";
    said.textContent = sentence(shown.length, found);
    const owned = shown.filter((proposal) => owners.has(proposal)).length;
    const own = free(shown).length;
    named.textContent = owned === 1 ? "Place it for the signer named there" : `Place ${owned}, each for its own signer`;
    all.textContent = `Place ${whichOnes(own, { owned, all: shown.length })} for ${nameOf(signers(), row())}`;
    named.hidden = owned === 0;
    all.hidden = own === 0;
    none.hidden = shown.length === 0;
  }

  return { element, refresh, stop: found.watch(refresh) };
}

/** The field that an accepted proposal becomes. */
export function fieldOf(
  { kind, page, rect, label, options }: PlacedProposal,
  { row, size, rules }: { readonly row: number; readonly size: Size; readonly rules: SizeRules },
): Field {
  const fitted = { ...rect, ...fitSize(kind, rect, size, rules) };
  // The line of the blank becomes the lower edge of the field.
  const placed = within({ ...fitted, y: rect.y + rect.height - fitted.height }, size);
  const field = { ...newField({ kind, row, page, rect: placed }), label };
  const fit = (place: Rect) => within({ ...place, ...fitSize(kind, place, size, rules) }, size);
  return options.length === 0
    ? field
    : { ...field, options: options.map((each) => ({ label: each.label, rect: each.rect && fit(each.rect) })) };
}

type Uses = {
  readonly accept: (proposals: readonly PlacedProposal[]) => void;
  readonly dismiss: (proposal: PlacedProposal) => void;
};

function boxOf(proposal: PlacedProposal, { accept, dismiss }: Uses): HTMLButtonElement {
  const { rect } = proposal;
  const made = make("button", { type: "button" });
  made.append(make("span", { className: "placed-text" }));
  setNumbers(made, { left: rect.x, top: rect.y, width: rect.width, height: rect.height });
  made.addEventListener("click", (event) => {
    event.stopPropagation();
    accept([proposal]);
  });
  made.addEventListener("keydown", (event) => {
    if (event.key !== "Delete" && event.key !== "Backspace") return;
    event.preventDefault();
    dismiss(proposal);
  });
  return made;
}

/**
 * Writes what a box proposes, and for whom. Repeated for each change, because the sender may choose another signer.
 * @param owner the row of the signer whom the page names; undefined if it names nobody
 */
function describe(
  made: HTMLButtonElement,
  { kind, page, label }: PlacedProposal,
  { owner, name }: { readonly owner: number | undefined; readonly name: string },
): void {
  const title = label || kindWords[kind];
  const text = owner === undefined ? `${title}?` : `${title}, ${name}?`;
  const spoken = `${title}? Proposed on page ${page}: place it for ${name}`;
  if (made.ariaLabel === spoken && made.title === text) return;
  made.className = `proposal ${kind}${owner === undefined ? "" : ` of-${owner}`}`;
  made.ariaLabel = spoken;
  made.title = text;
  made.querySelector(".placed-text")?.replaceChildren(text);
}

/** The pending proposals that one click places for the chosen signer. */
function freeAmong(
  shown: readonly PlacedProposal[],
  {
    found,
    store,
    signers,
    row,
    owners,
  }: Pick<ProposalsDeps, "found" | "store" | "signers" | "row"> & { owners: ReadonlyMap<PlacedProposal, number> },
): PlacedProposal[] {
  const fields = store.fields();
  const known = new Map(owners);
  for (const proposal of found.all()) {
    const field = fields.find((each) => isOn(each, proposal));
    if (field) known.set(proposal, field.row);
  }
  const own = forOne(row(), { proposals: found.all(), owners: known, signers: signers() });
  return own.filter((each) => shown.includes(each));
}

/** Whether a field is on the place of a proposal. */
const isOn = (field: Field, { page, rect }: PlacedProposal): boolean =>
  field.page === page && boxesOf(field).some((box) => overlaps(box.rect, rect));

/** @param owned how many of `all` proposals have a signer of their own */
function whichOnes(count: number, { owned, all }: { readonly owned: number; readonly all: number }): string {
  if (count + owned < all) return `${count} of them`;
  if (owned > 0) return count === 1 ? "the other" : `the other ${count}`;
  return count === 1 ? "it" : `all ${count}`;
}

function sentence(count: number, { state: stateOf, all }: FoundPlaces): string {
  const state = stateOf();
  if (state === "picture") return "The pages are pictures: place the fields by hand.";
  const places = count === 1 ? "1 place to fill in was found." : `${count} places to fill in were found.`;
  if (state === "reading") return count === 0 ? "Looking for places to fill in…" : places;
  const rest = state === "partly" ? " Not all pages could be looked at." : "";
  if (count > 0) return `${places}${rest}`;
  return all().length === 0 ? `No lines to sign on were found.${rest}` : rest.trim();
}
