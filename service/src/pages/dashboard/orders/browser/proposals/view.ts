import { make, setNumbers } from "../../../../ui/browser/parts.ts";
import { boxesOf, type Field, kindWords, newField, type Size, within } from "../places/field.ts";
import { fitSize, type SizeRules } from "../places/geometry.ts";
import { nameOf, type Signer } from "../places/signers.ts";
import type { Store } from "../places/store.ts";
import { type FoundPlaces, overlaps, type PlacedProposal } from "./found.ts";

export type ProposalsDeps = {
  readonly found: FoundPlaces;
  readonly store: Store;
  readonly rules: SizeRules;
  readonly signers: () => readonly Signer[];
  /** The row of the signer for whom accepted fields are placed. */
  readonly row: () => number;
  readonly pageBox: (page: number) => HTMLElement;
  readonly pageSize: (page: number) => Size;
  readonly say: (text: string) => void;
};

/**
 * Shows proposals as dashed boxes on the pages. The sender accepts them for the chosen signer, one by one or all at
 * once.
 */
export function showProposals({ found, store, rules, signers, row, pageBox, pageSize, say }: ProposalsDeps) {
  const element = make("div", { className: "place-proposals" });
  const said = make("p", { className: "place-found" });
  const all = make("button", { type: "button", className: "quiet-button" });
  const none = make("button", { type: "button", className: "quiet-button", textContent: "Hide them" });
  element.append(said, make("div", { className: "form-actions" }, all, none));
  const elements = new Map<PlacedProposal, HTMLButtonElement>();
  let isHidden = false;

  /**
   * The proposals that no field overlaps. So an accepted proposal disappears, and reappears when the sender undoes the
   * acceptance.
   */
  function pending(): PlacedProposal[] {
    if (isHidden) return [];
    const fields = store.fields();
    const isTaken = ({ page, rect }: PlacedProposal) =>
      fields.some((field) => field.page === page && boxesOf(field).some((box) => overlaps(box.rect, rect)));
    return found.all().filter((proposal) => !isTaken(proposal));
  }

  function fieldOf({ kind, page, rect, label }: PlacedProposal): Field {
    const size = pageSize(page);
    const fitted = { ...rect, ...fitSize(kind, rect, size, rules) };
    // The line of the blank becomes the lower edge of the field.
    const placed = within({ ...fitted, y: rect.y + rect.height - fitted.height }, size);
    return { ...newField({ kind, row: row(), page, rect: placed }), label };
  }

  function accept(proposals: readonly PlacedProposal[]): void {
    const fields = proposals.map(fieldOf);
    store.add(fields);
    const [first] = fields;
    const what = fields.length === 1 && first ? kindWords[first.kind] : `${fields.length} fields`;
    say(`${what} placed for ${nameOf(signers(), row())}.`);
  }

  function draw(proposal: PlacedProposal): HTMLButtonElement {
    const { kind, page, rect, label } = proposal;
    const made = make("button", { type: "button", className: `proposal ${kind}` });
    made.append(make("span", { className: "placed-text", textContent: `${label || kindWords[kind]}?` }));
    setNumbers(made, { left: rect.x, top: rect.y, width: rect.width, height: rect.height });
    made.addEventListener("click", (event) => {
      event.stopPropagation();
      accept([proposal]);
    });
    made.addEventListener("keydown", (event) => {
      if (event.key !== "Delete" && event.key !== "Backspace") return;
      event.preventDefault();
      found.dismiss(proposal);
      say("The proposal is gone.");
    });
    pageBox(page).append(made);
    return made;
  }

  all.addEventListener("click", () => accept(pending()));
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
    const name = nameOf(signers(), row());
    for (const proposal of shown) {
      const made = elements.get(proposal) ?? draw(proposal);
      elements.set(proposal, made);
      const title = `${proposal.label || kindWords[proposal.kind]}?`;
      const spoken = `${title} Proposed on page ${proposal.page}: place it for ${name}`;
      if (made.ariaLabel !== spoken) made.ariaLabel = spoken;
    }
    element.hidden = isHidden && found.state() !== "picture";
    said.textContent = sentence(shown.length, found);
    all.textContent = shown.length === 1 ? `Place it for ${name}` : `Place all ${shown.length} for ${name}`;
    for (const button of [all, none]) button.hidden = shown.length === 0;
  }

  return { element, refresh, stop: found.watch(refresh) };
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
