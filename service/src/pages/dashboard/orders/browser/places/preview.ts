import { fromBase64 } from "../../../../ui/browser/bytes.ts";
import { make } from "../../../../ui/browser/parts.ts";
import type { PlacesPreview } from "../../../places-preview.ts";
import { chooser, mainButton, quietButton } from "./controls.ts";
import { written } from "./field.ts";
import type { OpenDocument } from "./opened.ts";
import { nameOf, type Signer, signerOf, unsigned } from "./signers.ts";
import type { Store } from "./store.ts";

export type PreviewDeps = {
  readonly opened: OpenDocument;
  readonly store: Pick<Store, "fields">;
  readonly signers: () => readonly Signer[];
  /** True if a notary signs after the signers. */
  readonly isNotarized: () => boolean;
  /** The URL of the preview's route. */
  readonly address: string;
  readonly title: string;
};

/** The values that the sender tried on the signers' pages, keyed by the signer's row, then by the field's name. */
type Tried = ReadonlyMap<number, Readonly<Record<string, string>>>;
type Prepared = PlacesPreview & { readonly original: Uint8Array; readonly tried: Tried };

/**
 * Shows in a dialog the page on which each signer will sign. The service prepares the document as for an order, so
 * pages, fields, conditions and formulas are those of the real page. Values that the sender tries on one signer's page
 * are in the document of later signers.
 * @param row the row of the signer whose page is shown first
 */
export function openPreview(deps: PreviewDeps, row: number): void {
  const named = deps.signers();
  const fields = deps.store.fields();
  const missing = fields.length === 0 ? [] : unsigned(named, fields);
  const all = named.filter((each) => !missing.includes(each));
  const tried = new Map<number, Readonly<Record<string, string>>>();
  let prepared: Prepared | null = null;
  const frames = new Map<number, { readonly element: HTMLIFrameElement; readonly key: string }>();
  let shown = row;
  let asking = new AbortController();
  const dialog = make("dialog", { className: "place-preview" });
  dialog.setAttribute("aria-labelledby", "place-preview-title");
  const statusLine = make("p", { className: "place-preview-said" });
  statusLine.setAttribute("role", "status");
  const signerChooser = chooser("place-preview-signer", "Page of", (value) => {
    shown = Number(value);
    void show();
  });
  signerChooser.fill(
    named.map(({ row: each, name }) => [String(each), name]),
    String(row),
  );
  const title = make("h2", { id: "place-preview-title", textContent: "Preview: nothing is sent or signed" });
  const close = mainButton("Back to the fields", () => dialog.close());
  const tools = [title, signerChooser.element, narrowButton(dialog), close];
  dialog.append(make("div", { className: "place-bar form-actions" }, ...tools), statusLine);

  /** Shows the chosen signer's page. Prepares it again if values on the pages of earlier turns changed. */
  async function show(): Promise<void> {
    asking.abort();
    asking = new AbortController();
    const { signal } = asking;
    const index = all.findIndex((each) => each.row === shown);
    const before = all.filter(({ routing = 1 }) => routing < (all[index]?.routing ?? 1));
    const keyOf = (of: Tried) => JSON.stringify(before.map((each) => of.get(each.row) ?? null));
    const key = keyOf(tried);
    const ready = frames.get(shown);
    const isReady = ready?.key === key;
    for (const { element } of frames.values()) element.hidden = element !== ready?.element || !isReady;
    statusLine.classList.remove("field-error");
    if (index === -1) return refuse(statusLine, `${nameOf(named, shown)} ${lacking}`);
    statusLine.textContent = isReady ? explanationOf(nameOf(all, shown), before, missing) : "Preparing the pages…";
    if (isReady) return;
    ready?.element.remove();
    try {
      if (!prepared || keyOf(prepared.tried) !== key) prepared = await prepare(deps, { signers: all, tried, signal });
      const page = prepared.pages[index];
      if (!page) throw new Error("no page");
      const element = make("iframe", { srcdoc: page.html, title: `The page of ${nameOf(all, shown)}` });
      const document = documentOf(prepared, page.revision);
      element.addEventListener("load", () => element.contentWindow?.postMessage({ document }, location.origin));
      frames.set(shown, { element, key });
      dialog.append(element);
      statusLine.textContent = explanationOf(nameOf(all, shown), before, missing);
    } catch (error) {
      if (signal.aborted) return;
      refuse(statusLine, error instanceof Refused ? error.message : "The preview can’t be shown now. Try it again.");
    }
  }

  const stop = new AbortController();
  const fromFrame = ({ source, origin, data }: MessageEvent<FromFrame | null>) => {
    const from = [...frames].find(([, { element }]) => element.contentWindow === source);
    if (!from || origin !== location.origin) return;
    // The focus is in the frame while the sender tries the fields, so the frame forwards the Escape key.
    if (data?.kind === "close-preview") dialog.close();
    if (data?.kind === "tried" && data.tried) tried.set(from[0], data.tried);
  };
  addEventListener("message", fromFrame, { signal: stop.signal });
  dialog.addEventListener("close", () => {
    stop.abort();
    asking.abort();
    dialog.remove();
  });
  document.body.append(dialog);
  dialog.showModal();
  if (named.length === 0) statusLine.textContent = "Name somebody who signs. Then this shows their page.";
  else void show();
}

const lacking = "has no signature on the pages yet. Place one, and this shows the page.";

/** Shows the reason why the preview has no page. */
function refuse(statusLine: HTMLElement, why: string): void {
  statusLine.classList.add("field-error");
  statusLine.textContent = why;
}

/** Toggles the width of the pages between a phone's and the full width. */
function narrowButton(dialog: HTMLElement): HTMLElement {
  const button = quietButton("As on a phone", () => {
    const isNarrow = dialog.classList.toggle("narrow");
    button.setAttribute("aria-pressed", String(isNarrow));
  });
  button.classList.add("place-narrow");
  button.setAttribute("aria-pressed", "false");
  return button;
}

/** A message of a signing page in a frame: the Escape key was pressed, or a field was filled in. */
type FromFrame = { readonly kind?: unknown; readonly tried?: Readonly<Record<string, string>> };

const inWords = new Intl.ListFormat("en");

/** @param missing the signers who have no signature field yet, so that no page can be shown for them */
function explanationOf(name: string, before: readonly Signer[], missing: readonly Signer[]): string {
  const left = `${inWords.format(missing.map((each) => each.name))} ${missing.length === 1 ? "has" : "have"} no signature yet. `;
  const tryThem = `${missing.length > 0 ? left : ""}Try the fields: nothing is sent, and nothing is kept.`;
  if (before.length === 0) return `The page on which ${name} signs. ${tryThem}`;
  const others = inWords.format(before.map((each) => each.name));
  return `The page on which ${name} signs, after ${others}. The document has what you tried on ${before.length === 1 ? "that page" : "those pages"}, and examples where you tried nothing. ${tryThem}`;
}

/** The original document with the first `count` revisions appended. */
function documentOf({ original, revisions }: Prepared, count: number): Uint8Array {
  const tails = revisions.slice(0, count).map((tail) => fromBase64(tail));
  const length = tails.reduce((sum, tail) => sum + tail.length, original.length);
  const document = new Uint8Array(length);
  let at = 0;
  for (const part of [original, ...tails]) {
    document.set(part, at);
    at += part.length;
  }
  return document;
}

/** An error response of the service about the fields. */
class Refused extends Error {}

async function prepare(
  { opened, store, isNotarized, address, title }: PreviewDeps,
  { signers, tried, signal }: { signers: readonly Signer[]; tried: Tried; signal: AbortSignal },
): Promise<Prepared> {
  const original = await opened.document.getData();
  const form = new FormData();
  form.set("title", title);
  const fields = store.fields().filter(({ row }) => signers.some((signer) => signer.row === row));
  form.set("fields", written(fields, signerOf(signers)));
  if (isNotarized()) form.set("notarized", "on");
  const people = signers.map(({ row, name, email = "", language = "en", routing = 1 }) => ({
    name,
    email,
    language,
    routing,
    tried: tried.get(row) ?? null,
  }));
  form.set("signers", JSON.stringify(people));
  form.set("document", new Blob([original as Uint8Array<ArrayBuffer>], { type: "application/pdf" }), "document.pdf");
  const headers = { Accept: "application/json" };
  const response = await fetch(address, { method: "POST", body: form, headers, signal });
  const answer = (await response.json()) as PlacesPreview | { error?: string };
  if ("revisions" in answer) return { ...answer, original, tried: new Map(tried) };
  const { error } = answer;
  throw response.status === 400 && error ? new Refused(error) : new Error(`status ${response.status}`);
}
