import { make, setNumbers } from "../../../../ui/browser/parts.ts";
import { boxesOf, type Field, kindWords, newField, type Rect, type Size, within } from "../places/field.ts";
import { fitSize, type SizeRules } from "../places/geometry.ts";
import { undo } from "../places/keyboard.ts";
import { nameOf, type Signer, unsigned } from "../places/signers.ts";
import type { Store } from "../places/store.ts";
import { forOne, openAssign } from "./assign.ts";
import { type FoundPlaces, overlaps, type ProposalOnPage } from "./found.ts";
import { countsOf, openPanel, sentence } from "./panel.ts";
import { askRoles, placesFor, withRoles } from "./roles.ts";

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
 * the page names by name or by role, else for the chosen signer.
 */
export function showProposals({ found, store, rules, signers: named, row, pages, say, focus }: ProposalsDeps) {
  const signers = () => withRoles(found, named());
  const roles = askRoles({ found, signers: named, say });
  const panel = openPanel(roles.element, () => {
    undo({ store, say });
    panel.focus();
  });
  const placing = openPlacing({ store, signers, say, focus, panel });
  const boxes = openBoxes(pages, { accept, dismiss });
  let isHidden = false;
  let owners: ReadonlyMap<ProposalOnPage, number> = new Map();
  const assigned = openAssign();
  const free = (shown: readonly ProposalOnPage[]) => freeAmong(shown, { found, store, signers, row, owners });

  /**
   * The proposals that no field overlaps. So an accepted proposal disappears, and reappears when the sender undoes the
   * acceptance.
   */
  function pending(places = placesFor(found, signers())): ProposalOnPage[] {
    if (isHidden) return [];
    const fields = store.fields();
    return places.filter((proposal) => !fields.some((field) => isOn(field, proposal)));
  }

  function accept(proposals: readonly ProposalOnPage[]): void {
    const fields = proposals.map((proposal) =>
      fieldOf(proposal, { row: owners.get(proposal) ?? row(), size: pages.size(proposal.page), rules }),
    );
    placing.add(fields);
  }

  function dismiss(proposal: ProposalOnPage): void {
    found.dismiss(proposal);
    say("The proposal was removed.");
  }

  panel.owned.addEventListener("click", () => accept(pending().filter((each) => owners.has(each))));
  panel.free.addEventListener("click", () => accept(free(pending())));
  panel.none.addEventListener("click", () => {
    isHidden = true;
    refresh();
    say("The proposals are hidden.");
  });

  function refresh(): void {
    placing.refresh();
    const shown = pending();
    owners = assigned(placesFor(found, signers()), signers());
    boxes.show(shown, (proposal) => {
      const owner = owners.get(proposal);
      return { owner, name: nameOf(signers(), owner ?? row()) };
    });
    panel.element.hidden = isHidden && found.state() !== "picture";
    const ofWitnesses = pending(found.all(true)).length - shown.length;
    const isUnsigned = unsigned(signers(), store.fields()).length > 0;
    roles.refresh(shown.length > 0 || (isUnsigned && ofWitnesses > 0));
    panel.refresh({
      said: sentence(shown.length, { found, ofWitnesses: isUnsigned ? ofWitnesses : 0 }),
      owners: shown.flatMap((proposal) => owners.get(proposal) ?? []),
      ...{ all: shown.length, free: free(shown).length, signers: signers(), row: row() },
    });
  }

  return {
    ...{ element: panel.element, refresh, stop: found.watch(refresh) },
    showFirst: (): boolean => boxes.scrollTo(pending()[0]) !== null,
    /** Moves the focus to the first signature proposed for the chosen signer. @returns whether there is one */
    goToSignature(): boolean {
      const shown = pending();
      const own = [...shown.filter((each) => owners.get(each) === row()), ...free(shown)];
      const box = boxes.scrollTo(own.find(({ kind }) => kind === "signature"));
      box?.focus({ preventScroll: true });
      return box !== null;
    },
  };
}

/** Adds accepted fields. Several are reported, with a button that undoes them, and none of them is selected. */
function openPlacing({
  store,
  signers,
  say,
  focus,
  panel,
}: Pick<ProposalsDeps, "store" | "signers" | "say" | "focus"> & { readonly panel: ReturnType<typeof openPanel> }) {
  let reported: readonly Field[] | null = null;
  return {
    add(fields: readonly Field[]): void {
      const [first, ...others] = fields;
      if (!first) return;
      store.add(fields);
      if (others.length === 0) {
        focus();
        say(`${kindWords[first.kind]} placed for ${nameOf(signers(), first.row)}.`);
        return;
      }
      store.select(null);
      const rows = fields.map(({ row }) => row);
      const result = `${fields.length} fields placed${countsOf(rows, signers())}.`;
      reported = store.fields();
      panel.report(result);
      say(`${result} “Undo” removes them.`);
    },
    /** Ends the report after any later change. */
    refresh(): void {
      if (reported !== store.fields()) panel.endReport();
    },
  };
}

/** The boxes of the proposals on the pages. A box stays as long as its proposal, so that it keeps the focus. */
function openBoxes(pages: ProposalsDeps["pages"], uses: Uses) {
  const elements = new Map<ProposalOnPage, HTMLButtonElement>();
  return {
    show(shown: readonly ProposalOnPage[], ownerOf: (proposal: ProposalOnPage) => Owner): void {
      const shownNow = new Set(shown);
      for (const [proposal, box] of elements)
        if (!shownNow.has(proposal)) {
          box.remove();
          elements.delete(proposal);
        }
      for (const proposal of shown) {
        const box = elements.get(proposal) ?? boxOf(proposal, uses);
        if (!elements.has(proposal)) pages.box(proposal.page).append(box);
        elements.set(proposal, box);
        describe(box, proposal, ownerOf(proposal));
      }
    },
    /** @returns the box of a proposal; null if none is shown */
    scrollTo(proposal: ProposalOnPage | undefined): HTMLElement | null {
      const box = (proposal && elements.get(proposal)) ?? null;
      box?.scrollIntoView({ block: "center", inline: "nearest" });
      return box;
    },
  };
}

/** The field that an accepted proposal becomes. */
export function fieldOf(
  { kind, page, rect, label, options }: ProposalOnPage,
  { row, size, rules }: { readonly row: number; readonly size: Size; readonly rules: SizeRules },
): Field {
  const fitted = { ...rect, ...fitSize(kind, rect, size, rules) };
  // The line of the blank becomes the lower edge of the field.
  const onBlank = within({ ...fitted, y: rect.y + rect.height - fitted.height }, size);
  const field = { ...newField({ kind, row, page, rect: onBlank }), label };
  const fit = (place: Rect) => within({ ...place, ...fitSize(kind, place, size, rules) }, size);
  return options.length === 0
    ? field
    : { ...field, options: options.map((each) => ({ label: each.label, rect: each.rect && fit(each.rect) })) };
}

type Uses = {
  readonly accept: (proposals: readonly ProposalOnPage[]) => void;
  readonly dismiss: (proposal: ProposalOnPage) => void;
};

function boxOf(proposal: ProposalOnPage, { accept, dismiss }: Uses): HTMLButtonElement {
  const { rect } = proposal;
  const button = make("button", { type: "button" });
  button.append(make("span", { className: "placed-text" }));
  setNumbers(button, { left: rect.x, top: rect.y, width: rect.width, height: rect.height });
  button.addEventListener("click", (event) => {
    event.stopPropagation();
    accept([proposal]);
  });
  button.addEventListener("keydown", (event) => {
    if (event.key !== "Delete" && event.key !== "Backspace") return;
    event.preventDefault();
    dismiss(proposal);
  });
  return button;
}

/** `owner`: the row of the signer whom the page names; undefined if it names nobody. */
type Owner = { readonly owner: number | undefined; readonly name: string };

/** Writes what a box proposes, and for whom. Repeated for each change, because the sender may choose another signer. */
function describe(button: HTMLButtonElement, { kind, page, label }: ProposalOnPage, { owner, name }: Owner): void {
  const title = label || kindWords[kind];
  const text = owner === undefined ? `${title}?` : `${title}, ${name}?`;
  const spoken = `${text} Proposed on page ${page}: place it for ${name}`;
  if (button.ariaLabel === spoken && button.title === text) return;
  button.className = `proposal ${kind}${owner === undefined ? "" : ` of-${owner}`}`;
  button.ariaLabel = spoken;
  button.title = text;
  button.querySelector(".placed-text")?.replaceChildren(text);
}

/** The pending proposals that one click places for the chosen signer. */
function freeAmong(
  shown: readonly ProposalOnPage[],
  {
    found,
    store,
    signers,
    row,
    owners,
  }: Pick<ProposalsDeps, "found" | "store" | "signers" | "row"> & { owners: ReadonlyMap<ProposalOnPage, number> },
): ProposalOnPage[] {
  const fields = store.fields();
  const earlierOwners = new Map(owners);
  const proposals = placesFor(found, signers());
  for (const proposal of proposals) {
    const field = fields.find((each) => isOn(each, proposal));
    if (field) earlierOwners.set(proposal, field.row);
  }
  const own = forOne(row(), { proposals, owners: earlierOwners, signers: signers() });
  return own.filter((each) => shown.includes(each));
}

/** Whether a field is on the place of a proposal. */
const isOn = (field: Field, { page, rect }: ProposalOnPage): boolean =>
  field.page === page && boxesOf(field).some((box) => overlaps(box.rect, rect));
