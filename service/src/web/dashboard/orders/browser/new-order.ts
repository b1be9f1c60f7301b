import { takeDrops } from "../../../ui/browser/drops.ts";
import { part } from "../../../ui/browser/parts.ts";
import { loadPdfJs } from "../../../ui/browser/viewer/pdf-js.ts";
import "./document-type.ts";
import "./signer-rows.ts";

const form = part<HTMLFormElement>("order-form");
const input = part<HTMLInputElement>("field-document");
const said = part("document-said");
const quote = part("live-quote");
const restMs = 400;

let pages = "";
let library: ReturnType<typeof loadPdfJs> | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;
let asked: AbortController | undefined;

takeDrops(part("document-drop"), (files) => {
  if (!files || files.length === 0) return;
  input.files = files;
  input.dispatchEvent(new Event("change", { bubbles: true }));
});

input.addEventListener("change", () => void look(input.files?.[0]));
form.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(() => void price(), restMs);
});
void price();

/** Says what was chosen, and how many pages it has. */
async function look(file: File | undefined): Promise<void> {
  pages = "";
  said.textContent = file ? `${file.name}: counting its pages…` : "";
  if (!file) return;
  try {
    library ??= loadPdfJs(form.dataset["pdfJs"] ?? "");
    const { pdfJs, options } = await library;
    const pdf = await pdfJs.getDocument({ data: new Uint8Array(await file.arrayBuffer()), ...options }).promise;
    if (input.files?.[0] !== file) return;
    pages = String(pdf.numPages);
    said.textContent = `${file.name}: ${pdf.numPages === 1 ? "1 page" : `${pdf.numPages} pages`}`;
    await pdf.loadingTask.destroy();
  } catch {
    said.textContent = `${file.name}: its pages can’t be counted here. We look at it when you place the order.`;
  }
  await price();
}

/** Asks what the order would cost; without an answer there is no price until it is placed. */
async function price(): Promise<void> {
  asked?.abort();
  asked = new AbortController();
  const typed = new URLSearchParams();
  for (const [name, value] of new FormData(form)) if (typeof value === "string") typed.append(name, value);
  typed.set("pages", pages);
  try {
    const answer = await fetch(form.dataset["quote"] ?? "", { method: "POST", body: typed, signal: asked.signal });
    if (answer.ok) quote.innerHTML = await answer.text();
  } catch (error) {
    if (!(error instanceof DOMException && error.name === "AbortError")) quote.textContent = "";
  }
}
