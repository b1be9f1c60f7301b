import { make } from "../../../../ui/browser/parts.ts";
import type { PlacesPreview } from "../../../places-preview.ts";
import { chooser, mainButton, quietButton } from "./controls.ts";
import { written } from "./field.ts";
import type { OpenDocument } from "./opened.ts";
import { nameOf, type Signer, signerOf } from "./signers.ts";
import type { Store } from "./store.ts";

export type PreviewDeps = {
  readonly opened: OpenDocument;
  readonly store: Pick<Store, "fields">;
  readonly signers: () => readonly Signer[];
  /** The address of the preview's route. */
  readonly address: string;
  readonly title: string;
};

type Prepared = { readonly document: Uint8Array; readonly pages: PlacesPreview["pages"] };

/**
 * Shows in a dialog the page on which each signer will sign. The service prepares the document as for an order, so the
 * pages, the fields of others, the conditions and the formulas are those of the real page.
 * @param row the row of the signer whose page is shown first
 */
export function openPreview(deps: PreviewDeps, row: number): void {
  const all = deps.signers();
  let shown = row;
  let prepared: Prepared | null = null;
  let frame: HTMLIFrameElement | null = null;
  const dialog = make("dialog", { className: "place-preview" });
  dialog.setAttribute("aria-labelledby", "place-preview-title");
  const said = make("p", { className: "place-preview-said", textContent: "Preparing the pages…" });
  said.setAttribute("role", "status");
  const whose = chooser("place-preview-signer", "Page of", (value) => {
    shown = Number(value);
    fill();
  });
  whose.fill(
    all.map(({ row: each, name }) => [String(each), name]),
    String(row),
  );
  const phone = quietButton("As on a phone", () => {
    const isNarrow = dialog.classList.toggle("narrow");
    phone.setAttribute("aria-pressed", String(isNarrow));
  });
  phone.classList.add("place-narrow");
  phone.setAttribute("aria-pressed", "false");
  const title = make("h2", { id: "place-preview-title", textContent: "Preview: nothing is sent or signed" });
  const close = mainButton("Back to the fields", () => dialog.close());
  const bar = make("div", { className: "place-bar form-actions" }, title, whose.element, phone, close);
  dialog.append(bar, said);

  function fill(): void {
    const { pages = [], document: bytes = null } = prepared ?? {};
    const page = pages[all.findIndex((each) => each.row === shown)];
    if (page === undefined || bytes === null) return;
    frame?.remove();
    const made = make("iframe", { srcdoc: page, title: `The page of ${nameOf(all, shown)}` });
    made.addEventListener("load", () => made.contentWindow?.postMessage({ document: bytes }, location.origin));
    frame = made;
    dialog.append(made);
    said.textContent = `The page on which ${nameOf(all, shown)} signs. Try the fields: nothing that you type is kept.`;
  }

  const stop = new AbortController();
  // The frame has the focus while the sender tries the fields, so the Escape key is pressed there.
  const fromFrame = ({ source, origin, data }: MessageEvent<{ kind?: unknown } | null>) => {
    if (source === frame?.contentWindow && origin === location.origin && data?.kind === "close-preview") dialog.close();
  };
  addEventListener("message", fromFrame, { signal: stop.signal });
  dialog.addEventListener("close", () => {
    stop.abort();
    dialog.remove();
  });
  document.body.append(dialog);
  dialog.showModal();
  if (all.length === 0) {
    said.textContent = "Name somebody who signs. Then this shows their page.";
    return;
  }
  prepare(deps, all, stop.signal).then(
    (ready) => {
      prepared = ready;
      fill();
    },
    (error: unknown) => {
      if (stop.signal.aborted) return;
      said.classList.add("field-error");
      said.textContent = error instanceof Refused ? error.message : "The preview can’t be shown now. Try it again.";
    },
  );
}

/** An answer of the service that says what is wrong with the fields. */
class Refused extends Error {}

async function prepare(
  { opened, store, address, title }: PreviewDeps,
  signers: readonly Signer[],
  signal: AbortSignal,
): Promise<Prepared> {
  const original = await opened.document.getData();
  const form = new FormData();
  form.set("title", title);
  form.set("fields", written(store.fields(), signerOf(signers)));
  const people = signers.map(({ name, email = "", language = "en", routing = 1 }) => ({
    name,
    email,
    language,
    routing,
  }));
  form.set("signers", JSON.stringify(people));
  form.set("document", new Blob([original as Uint8Array<ArrayBuffer>], { type: "application/pdf" }), "document.pdf");
  const headers = { Accept: "application/json" };
  const response = await fetch(address, { method: "POST", body: form, headers, signal });
  const answer = (await response.json()) as PlacesPreview | { error?: string };
  if (!("tail" in answer)) {
    const { error } = answer;
    throw response.status === 400 && error ? new Refused(error) : new Error(`status ${response.status}`);
  }
  const tail = Uint8Array.from(atob(answer.tail), (each) => each.charCodeAt(0));
  const document = new Uint8Array(original.length + tail.length);
  document.set(original);
  document.set(tail, original.length);
  return { document, pages: answer.pages };
}
