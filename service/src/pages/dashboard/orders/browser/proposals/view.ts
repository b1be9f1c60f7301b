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
  /** The row of the signer for whom fields are placed if the page names no signer. */
  readonly row: () => number;
  readonly pages: { readonly box: (page: number) => HTMLElement; readonly size: (page: number) => Size };
  readonly say: (text: string) => void;
  /** Moves the focus to the selected field, because an accepted proposal's button disappears. */
  readonly focus: () => void;
};

/**
 * Shows proposals as dashed boxes on the pages. The sender accepts them one by one or all at once. An accepted proposal
 * becomes a field of the signer whom the page names by name or role, otherwise of the chosen signer.
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
  const free = (shown: readonly ProposalOnPage[], people = signers()) =>
    freeAmong(shown, { proposals: placesFor(found, people), store, signers: people, row, owners });
  const pending = (places = placesFor(found, signers())) => (isHidden ? [] : unplaced(places, store.fields()));

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
    const people = signers();
    const places = placesFor(found, people);
    const shown = pending(places);
    owners = assigned(places, people);
    const chosen = row();
    boxes.show(shown, (proposal) => {
      const owner = owners.get(proposal);
      return { owner, name: nameOf(people, owner ?? chosen) };
    });
    panel.element.hidden = isHidden && found.state() !== "picture";
    const ofWitnesses = pending(found.all(true)).length - shown.length;
    const isUnsigned = unsigned(people, store.fields()).length > 0;
    roles.refresh(shown.length > 0 || (isUnsigned && ofWitnesses > 0));
    panel.refresh({
      message: sentence(shown.length, { found, ofWitnesses: isUnsigned ? ofWitnesses : 0 }),
      owners: shown.flatMap((proposal) => owners.get(proposal) ?? []),
      all: shown.length,
      free: free(shown, people).length,
      signers: people,
      row: chosen,
    });
  }

  return {
    element: panel.element,
    refresh,
    stop: followSearch(found, refresh),
    /** Scrolls to the first proposal. @returns true if there is one */
    showFirst(): boolean {
      const [first] = pending();
      if (first) refresh();
      return boxes.scrollTo(first);
    },
    /** Moves the focus to the first signature proposed for the chosen signer. @returns true if there is one */
    goToSignature(): boolean {
      const shown = pending();
      const own = [...shown.filter((each) => owners.get(each) === row()), ...free(shown)];
      return boxes.focus(own.find(({ kind }) => kind === "signature"));
    },
  };
}

/**
 * Refreshes after each report of `found`. While the search runs, `found` reports each page with places. During that
 * time, refreshes run at most every tenth of a second, as separate tasks, to avoid dropped frames.
 * @returns a function that stops the refreshes
 */
function followSearch(found: FoundPlaces, refresh: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | null = null;
  const unwatch = found.watch(() => {
    if (found.state() !== "reading") return refresh();
    timer ??= setTimeout(() => {
      timer = null;
      refresh();
    }, 100);
  });
  return () => {
    unwatch();
    clearTimeout(timer ?? undefined);
  };
}

/** The proposals that no field overlaps. So an accepted proposal disappears, and reappears after an undo. */
function unplaced(places: readonly ProposalOnPage[], fields: readonly Field[]): ProposalOnPage[] {
  const fieldsOn = Map.groupBy(fields, ({ page }) => page);
  return places.filter((proposal) => !fieldsOn.get(proposal.page)?.some((field) => isOn(field, proposal)));
}

/** Adds accepted fields. If there are several, shows a report with an undo button, and selects none of them. */
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
    /** Hides the report after any later change. */
    refresh(): void {
      if (reported !== store.fields()) panel.endReport();
    },
  };
}

/** The boxes of the proposals on the pages. A proposal always keeps its box, so that the focus isn't lost. */
function openBoxes(pages: ProposalsDeps["pages"], uses: Uses) {
  const elements = new Map<ProposalOnPage, HTMLButtonElement>();
  const boxInView = (proposal: ProposalOnPage | undefined): HTMLElement | undefined => {
    const box = proposal && elements.get(proposal);
    box?.scrollIntoView({ block: "center", inline: "nearest" });
    return box;
  };
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
    /** Scrolls to the box of a proposal. @returns true if it has one */
    scrollTo: (proposal: ProposalOnPage | undefined): boolean => boxInView(proposal) !== undefined,
    /** Scrolls to the box of a proposal, and moves the focus to it. @returns true if it has one */
    focus(proposal: ProposalOnPage | undefined): boolean {
      const box = boxInView(proposal);
      box?.focus({ preventScroll: true });
      return box !== undefined;
    },
  };
}

/** The field that an accepted proposal becomes. */
export function fieldOf(
  { kind, page, rect, label, options }: ProposalOnPage,
  { row, size, rules }: { readonly row: number; readonly size: Size; readonly rules: SizeRules },
): Field {
  const fitted = { ...rect, ...fitSize(kind, rect, size, rules) };
  // The field's lower edge is placed on the proposal's printed line.
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

/** `owner`: the row of the signer whom the page names; undefined if it names none. */
type Owner = { readonly owner: number | undefined; readonly name: string };

/**
 * Writes the label of a box: its kind of field, and its signer. Repeated for each change, because the sender may choose
 * another signer.
 */
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

type Among = Pick<ProposalsDeps, "store" | "row"> & {
  readonly proposals: readonly ProposalOnPage[];
  readonly signers: readonly Signer[];
  readonly owners: ReadonlyMap<ProposalOnPage, number>;
};

/** The pending proposals that one click places for the chosen signer. */
function freeAmong(
  shown: readonly ProposalOnPage[],
  { proposals, store, signers, row, owners }: Among,
): ProposalOnPage[] {
  const fields = store.fields();
  const earlierOwners = new Map(owners);
  const isShown = new Set(shown);
  for (const proposal of proposals) {
    const field = isShown.has(proposal) ? undefined : fields.find((each) => isOn(each, proposal));
    if (field) earlierOwners.set(proposal, field.row);
  }
  return forOne(row(), { proposals, owners: earlierOwners, signers }).filter((each) => isShown.has(each));
}

/** True if a field overlaps the place of a proposal. */
const isOn = (field: Field, { page, rect }: ProposalOnPage): boolean =>
  field.page === page && boxesOf(field).some((box) => overlaps(box.rect, rect));
