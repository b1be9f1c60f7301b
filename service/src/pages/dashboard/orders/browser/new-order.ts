import { listenForDrops } from "../../../ui/browser/drops.ts";
import { make, part } from "../../../ui/browser/parts.ts";
import { loadPdfJs } from "../../../ui/browser/viewer/pdf-js.ts";
import { namedRows, rowField } from "../new/signer-rows.ts";
import { openDocument } from "./places/opened.ts";
import { openPlaces } from "./places/section.ts";
import { rowOf, signerOf, signersIn } from "./places/signers.ts";

/** The services that the catalog sets for each type of document. */
type Services = Readonly<Record<string, { sign: boolean; notarize: boolean }>>;

const form = part<HTMLFormElement>("order-form");
const input = part<HTMLInputElement>("field-document");
const message = part("document-said");
const proposed = part("document-templates");
const templatePages = (form.dataset["templatePages"] ?? "").split(" ");
const quote = part("live-quote");
const rowsId = "signer-rows";
const buttons = { place: part("place-order"), another: part("place-another") };
const usual = { place: buttons.place.textContent, another: buttons.another.textContent };
const restMs = 400;

const signing = part<HTMLInputElement>("field-svc_sign");
const ask = part<HTMLInputElement>("places-ask");
const placesInput = part<HTMLInputElement>("field-fields");
const places = openPlaces({
  id: "places",
  input: placesInput,
  form,
  signers: () => signersIn(form),
  numbering: { signerOf: (row) => signerOf(signersIn(form))(row), rowOf: rowOf(signersIn(form)) },
  previewed: {
    isNotarized: () => boxes.notarize.checked,
    titleOf: () => (input.files?.[0]?.name ?? storedName()).replace(/\.pdf$/i, ""),
  },
  changed(count) {
    // If no field is placed, and the sender has not agreed to an added page, the form sends the input `ask`. The
    // service then asks before it adds a page for signatures. Without JavaScript, the form lacks this input, and the
    // service adds the page without asking.
    placesInput.disabled = !signing.checked;
    const agreed = document.getElementById("field-page_added");
    ask.disabled = count > 0 || (agreed instanceof HTMLInputElement && agreed.checked);
  },
});
const storedUrl = part("places").dataset["kept"] ?? "";

let pages = "";
let library: ReturnType<typeof loadPdfJs> | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;
let asked: AbortController | undefined;

const type = part<HTMLSelectElement>("field-doc_slug");
const boxes = { sign: signing, notarize: part<HTMLInputElement>("field-svc_notary") };
const services = JSON.parse(form.dataset["services"] ?? "{}") as Services;
let ownChoice = { sign: boxes.sign.checked, notarize: boxes.notarize.checked };
let wasOther = true;

type.addEventListener("change", follow);
follow();

listenForDrops(part("document-drop"), (files) => {
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
if (storedUrl !== "") void showStored();

// Adds a row for a signer without loading a page, so that the chosen file isn't lost. On any error, the button submits
// the form.
document.addEventListener("click", async (event) => {
  const button = event.target instanceof Element ? event.target.closest<HTMLButtonElement>("#add-signer") : null;
  if (!button?.form) return;
  event.preventDefault();
  const { formAction } = button;
  const typed = new URLSearchParams();
  for (const [name, value] of typedIn(button.form)) typed.append(name, value);
  try {
    const response = await fetch(formAction, { method: "POST", body: typed, headers: { Accept: "text/html" } });
    if (!response.ok) throw new Error(`status ${response.status}`);
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const rows = page.getElementById(rowsId);
    if (!rows) throw new Error("a page without rows");
    document.getElementById(rowsId)?.replaceWith(rows);
    rows.querySelector<HTMLInputElement>("fieldset:last-of-type input")?.focus();
  } catch {
    button.id = "";
    button.click();
  }
});

// When the sender opens the list of signers, the client is filled into its first row, because the client is usually a
// signer. `toggle` events do not bubble, so the listener uses the capture phase.
document.addEventListener(
  "toggle",
  ({ target }) => {
    if (target instanceof HTMLDetailsElement && target.id === rowsId && target.open) nameClientFirst();
  },
  true,
);

/**
 * The file name of the form's stored document, which was sent with a rejected form or completed online. Empty without a
 * stored document.
 */
function storedName(): string {
  const name = new FormData(form).get("document_name");
  return typeof name === "string" ? name : "";
}

/** Writes the client into the first row of signers if all rows are empty and the client's email is typed. */
function nameClientFirst(): void {
  const values: Record<string, string> = Object.fromEntries(typedIn(form));
  if (namedRows(values).length > 0 || !values["email"]) return;
  for (const member of ["name", "email"] as const) {
    const row = document.getElementById(`field-${rowField(1, member)}`);
    if (row instanceof HTMLInputElement) row.value = values[member] ?? "";
  }
  form.dispatchEvent(new Event("input"));
}

/**
 * The typed values, except the form fields that were placed on the document's pages: their text may be long, and
 * neither the price nor the rows of signers depend on it.
 */
function typedIn(from: HTMLFormElement): [string, string][] {
  return [...new FormData(from)].flatMap(([name, value]): [string, string][] =>
    typeof value === "string" && name !== "fields" ? [[name, value]] : [],
  );
}

/**
 * Reads the chosen file. Shows its name, number of pages, pages for the fields and matching templates, and fetches the
 * price.
 */
async function look(file: File | undefined): Promise<void> {
  pages = "";
  places.show(null);
  proposed.replaceChildren();
  message.textContent = file ? `${file.name}: counting its pages…` : "";
  if (!file) return;
  try {
    library ??= loadPdfJs(form.dataset["pdfJs"] ?? "");
    const opened = await openDocument(await library, await file.arrayBuffer());
    if (input.files?.[0] !== file) return void opened.document.loadingTask.destroy();
    const { numPages } = opened.document;
    pages = String(numPages);
    message.textContent = `${file.name}: ${numPages === 1 ? "1 page" : `${numPages} pages`}`;
    places.show(opened);
    void proposeTemplates(file);
  } catch (error) {
    if (input.files?.[0] !== file) return;
    const isLocked = error instanceof Error && error.name === "PasswordException";
    // A file that needs a password can't be used, so the form discards it.
    if (isLocked) input.value = "";
    message.textContent = isLocked
      ? `${file.name} was not taken: it needs a password to be opened. Save it without the password, and choose it again.`
      : `${file.name}: its pages can’t be counted here. We look at it when you place the order.`;
  }
  await price();
}

type Match = { templateId: string; name: string; likeness: "same_file" | "same_form" };

/**
 * Offers the templates that match the file. Sends the file for comparison only when some template has the same number
 * of pages.
 */
async function proposeTemplates(file: File): Promise<void> {
  if (!templatePages.includes(pages)) return;
  const body = new FormData();
  body.set("document", file);
  try {
    const headers = { Accept: "application/json" };
    const response = await fetch("/dashboard/templates/match", { method: "POST", body, headers });
    if (!response.ok || input.files?.[0] !== file) return;
    const { matches } = (await response.json()) as { matches: Match[] };
    proposed.replaceChildren(
      ...matches.map(({ templateId, name, likeness }) => {
        const href = `/dashboard/templates/${templateId}/order`;
        const again = likeness === "same_file" ? "." : ", and choose the file again there.";
        const link = make("a", { href, textContent: "Place the order from the template" });
        return make("p", {}, `This is the form of “${name}”. `, link, again);
      }),
    );
  } catch {
    // After an error, the page offers no template. The order can be placed without one.
  }
}

/** Shows the pages of the stored file that the form names, unless another file was chosen meanwhile. */
async function showStored(): Promise<void> {
  try {
    library ??= loadPdfJs(form.dataset["pdfJs"] ?? "");
    const response = await fetch(storedUrl);
    if (!response.ok) throw new Error(`status ${response.status}`);
    const opened = await openDocument(await library, await response.arrayBuffer());
    if (input.files?.length) return void opened.document.loadingTask.destroy();
    places.show(opened);
  } catch {
    message.textContent = "The pages of the file that we kept can’t be shown here. Choose the file again to see them.";
  }
}

const noPrice =
  "The price can’t be shown now. If your firm pays, placing the order charges nobody: the order’s page shows the price, and charges it.";

/** Fetches the price of the order. After an error the page shows no price, and the order can still be placed. */
async function price(): Promise<void> {
  asked?.abort();
  asked = new AbortController();
  const typed = new URLSearchParams();
  for (const [name, value] of typedIn(form)) typed.append(name, value);
  typed.set("pages", pages);
  // Drops the page count of the stored file, because the chosen file replaces it.
  if (input.files?.length) typed.delete("document_pages");
  try {
    const response = await fetch(form.dataset["quote"] ?? "", { method: "POST", body: typed, signal: asked.signal });
    if (!response.ok) throw new Error(`status ${response.status}`);
    quote.innerHTML = await response.text();
    nameButtons();
    // The element with the price never shrinks. So the button below it does not move while a person is about to click.
    quote.style.minHeight = `${quote.offsetHeight}px`;
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") return;
    quote.textContent = noPrice;
    nameButtons();
  }
}

/** Labels the buttons that place the order. The labels name the amount that placing the order charges. */
function nameButtons(): void {
  const charge = quote.querySelector<HTMLElement>("[data-place]")?.dataset;
  for (const name of ["place", "another"] as const) buttons[name].textContent = charge?.[name] ?? usual[name];
}

/**
 * For a type of the catalog, ticks the services that the catalog sets. For any other type, restores the sender's own
 * choice.
 */
function follow(): void {
  const fixed = services[type.value];
  if (fixed && wasOther) ownChoice = { sign: boxes.sign.checked, notarize: boxes.notarize.checked };
  wasOther = fixed === undefined;
  for (const service of ["sign", "notarize"] as const) {
    boxes[service].checked = (fixed ?? ownChoice)[service];
    boxes[service].disabled = fixed !== undefined;
  }
  for (const note of form.querySelectorAll<HTMLElement>("[data-note-of]"))
    note.toggleAttribute("data-chosen", note.dataset["noteOf"] === type.value);
}
