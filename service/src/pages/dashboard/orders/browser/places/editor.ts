import { make } from "../../../../ui/browser/parts.ts";
import { type FoundPlaces, findPlaces } from "../proposals/found.ts";
import { showProposals } from "../proposals/view.ts";
import { openActions } from "./actions.ts";
import { type Field, isSpread, type Kind, kinds, type Rect } from "./field.ts";
import type { SizeRules } from "./geometry.ts";
import { followHistory, followKeys, pressOnce } from "./keyboard.ts";
import type { OpenDocument } from "./opened.ts";
import { type Overlay, openOverlay } from "./overlay.ts";
import { showScroller } from "./pages.ts";
import { openPanel } from "./panel.ts";
import { bringTool, followPointers } from "./pointer.ts";
import type { Signer } from "./signers.ts";
import type { Store } from "./store.ts";
import { openTools } from "./tools.ts";

export type EditorDeps = {
  readonly opened: OpenDocument;
  readonly store: Store;
  readonly rules: SizeRules;
  readonly signers: () => readonly Signer[];
  /** Opens the preview of the page that the signer in this row will see. */
  readonly preview: (row: number) => void;
  /** The field to show first. If null, an editor without fields shows the first proposed place. */
  readonly at: Field | null;
};

function openDialog() {
  const status = make("p", { className: "visually-hidden" });
  status.setAttribute("role", "status");
  const dialog = make("dialog", { className: "place-editor" });
  dialog.setAttribute("aria-labelledby", "place-editor-title");
  pressOnce(dialog);
  return {
    dialog,
    status,
    /** Announces a text to screen readers. */
    say(text: string): void {
      status.textContent = text;
    },
  };
}

/**
 * Shows the pages of the document in a dialog in which the sender places fields.
 * @returns when the dialog is closed
 */
export async function openEditor({ opened, store, rules, signers, preview, at }: EditorDeps): Promise<void> {
  const { document: pdf, pageSize } = opened;
  const { dialog, status, say } = openDialog();
  const view = await showScroller(opened);
  const { scroller } = view;
  const overlay = openOverlay({ store, signers, pageBox: view.pageBox });
  const focus = () => focusSelected(store, overlay, scroller);
  const actions = openActions({
    opened,
    store,
    rules,
    signers,
    row: () => tools.row(),
    page: view.current,
    say,
    focus,
  });
  const tools = openTools({
    store,
    signers,
    say,
    preview,
    putInMiddle: actions.putInMiddle,
    view: { ...view, goToSignature: () => proposals.goToSignature() },
    close: () => dialog.close(),
    changed: refresh,
  });
  const panel = openPanel({ store, signers, pages: pdf.numPages, actions });
  const found = findPlaces(opened);
  const pointers = {
    view: { ...view, pageSize },
    store,
    overlay,
    rules,
    lines: found.lines,
    tool: tools.tool,
    put(kind: Kind, page: number, rect: Rect) {
      tools.arm(null);
      actions.put(kind, page, rect);
    },
  };
  followPointers(pointers);
  for (const kind of kinds) bringTool(pointers, kind, tools.buttonOf(kind));
  const proposals = showProposals({
    found,
    store,
    rules,
    signers,
    say,
    focus,
    row: tools.row,
    pages: { box: view.pageBox, size: pageSize },
  });
  tools.palette.prepend(proposals.element);
  followHistory(dialog, { store, say });
  followKeys({ root: scroller, store, overlay, say, actions, edit: panel.focus });

  function refresh(): void {
    dialog.classList.toggle("placing", tools.tool() !== null);
    overlay.refresh();
    panel.refresh();
    tools.refresh();
    proposals.refresh();
  }

  dialog.append(tools.bar, tools.palette, scroller, panel.element, status);
  deselectOnEscape(dialog, tools);
  const unwatch = store.watch(refresh);
  const closed = showDialog(dialog);
  refresh();
  await view.start();
  if (at) showField(store, at, focus);
  else if (store.fields().length === 0) showFirst(dialog, { found, proposals });
  await closed;
  unwatch();
  proposals.stop();
  view.stop();
  dialog.remove();
  store.select(null);
}

/** Shows the dialog. @returns a promise that resolves when the dialog is closed */
function showDialog(dialog: HTMLDialogElement): Promise<unknown> {
  const closed = new Promise((resolve) => dialog.addEventListener("close", resolve, { once: true }));
  document.body.append(dialog);
  dialog.showModal();
  return closed;
}

/** Focuses the selected field and scrolls to it. Focuses the pages if no field is selected. */
function focusSelected(store: Store, overlay: Overlay, pages: HTMLElement): void {
  const box = store.selected();
  const element = (box && overlay.elementOf(box)) ?? pages;
  element.focus({ preventScroll: true });
  if (element !== pages) element.scrollIntoView({ block: "nearest", inline: "nearest" });
}

/** While a tool is selected, the Escape key only deselects the tool. Otherwise it closes the dialog. */
function deselectOnEscape(dialog: HTMLDialogElement, tools: ReturnType<typeof openTools>): void {
  dialog.addEventListener("cancel", (event) => {
    if (tools.tool() === null || event.target !== dialog) return;
    event.preventDefault();
    tools.arm(null);
  });
}

function showField(store: Store, field: Field, focus: () => void): void {
  store.select({ id: field.id, option: isSpread(field) ? 0 : null });
  focus();
}

/** Scrolls to the first place that the search finds, unless the sender has used the editor before that. */
function showFirst(
  dialog: HTMLElement,
  { found, proposals }: { found: FoundPlaces; proposals: ReturnType<typeof showProposals> },
): void {
  const stop = new AbortController();
  const show = () => {
    if (proposals.showFirst()) stop.abort();
  };
  stop.signal.addEventListener("abort", found.watch(show));
  for (const event of ["pointerdown", "keydown", "wheel", "close"])
    dialog.addEventListener(event, () => stop.abort(), { signal: stop.signal });
  show();
}
