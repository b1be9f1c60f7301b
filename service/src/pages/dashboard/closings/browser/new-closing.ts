import { listenForDrops } from "../../../ui/browser/drops.ts";
import { part } from "../../../ui/browser/parts.ts";
import { personLabel } from "../person-label.ts";
import { connectPlaces } from "./document-places.ts";
import { draftSettled, keepDraft, markSaved } from "./keep-draft.ts";

const restMs = 400;
let timer: ReturnType<typeof setTimeout> | undefined;
let asked: AbortController | undefined;
let isSending = false;

const form = () => part<HTMLFormElement>("closing-form");
const say = (text: string) => {
  const statusLine = document.getElementById("document-said");
  if (statusLine) statusLine.textContent = text;
};

function typed(): URLSearchParams {
  const values = new URLSearchParams();
  for (const [name, value] of new FormData(form())) if (typeof value === "string") values.append(name, value);
  return values;
}

prepare();
keepDraft({ form, typed });
listenForDrops(document.body, (files) => {
  if (files) void send([...files]);
});
document.addEventListener("change", (event) => {
  const input = event.target;
  if (input instanceof HTMLInputElement && input.type === "file") void send([...(input.files ?? [])]);
});
document.addEventListener("input", (event) => {
  showSigners();
  openState(event.target);
  clearTimeout(timer);
  timer = setTimeout(() => void price(), restMs);
});
// Adds or removes rows without loading a new page, so that the focus can move to the right field. After an error
// response, the form stays unchanged, and the page shows a message.
document.addEventListener("click", (event) => {
  const button = event.target instanceof Element ? event.target.closest("button") : null;
  const focus = button && focusAfter(button);
  if (!button || !focus) return;
  event.preventDefault();
  void draftSettled().then(async () => {
    const values = typed();
    values.set(button.name, button.value);
    say(await rows(values, focus));
  });
});

/** The element to focus after a button has changed the rows. Undefined for a button that changes no rows. */
function focusAfter({ name, value }: HTMLButtonElement): string | undefined {
  if (name === "more_people") return "#closing-people > fieldset:last-of-type input";
  if (name === "remove") return "#field-document";
  if (name === "use_template") return `#places-${value}-open`;
  if (name === "plain_ways") return `#field-doc${value}_name`;
  if (name === "own") return `#field-doc${value}_ship_method`;
  return name === "shared" ? `#document-row-${value} [name="own"]` : undefined;
}

/**
 * Prepares the form for this script. The sender may choose several files at once, because the script uploads them one
 * by one.
 */
function prepare(): void {
  const input = document.getElementById("field-document");
  if (input instanceof HTMLInputElement) input.multiple = true;
  showSigners();
  connectPlaces(form(), typed);
}

/**
 * Labels the checkboxes of signers and receivers with the typed names. Hides the checkboxes of people with neither name
 * nor email, except the client's. Also hides the signer checkboxes of people who don't sign, and of documents that
 * nobody signs.
 */
function showSigners(): void {
  const values = typed();
  const text = (name: string) => (values.get(name) ?? "").trim();
  for (const box of form().querySelectorAll<HTMLInputElement>(".closing-signers input")) {
    const [, n = "", what = "", row = ""] = /^doc(\d+)_(signs|gets)_(\w+)$/.exec(box.name) ?? [];
    const isClient = row === "client";
    const name = text(isClient ? "name" : `person${row}_name`);
    const signs =
      what === "gets" || (isClient ? text("client_signs") === "on" : text(`person${row}_role`) !== "follows");
    const isNamed = isClient || name !== "" || text(`person${row}_email`) !== "";
    if (box.labels?.[0]) box.labels[0].textContent = personLabel(row, { name, signs });
    box.parentElement?.toggleAttribute("hidden", !(signs && isNamed));
    part(`${what === "gets" ? "receivers" : "signers"}-name-${n}`).textContent =
      `${n}. ${text(`doc${n}_name`) || "File"}`;
    if (what === "gets") continue;
    part(`signers-row-${n}`).hidden = text(`doc${n}_sign`) !== "on" && text(`doc${n}_notary`) !== "on";
  }
}

/**
 * When a document is ticked for notarization, opens the field for the U.S. state of the signer. Only notarization needs
 * it.
 */
function openState(target: EventTarget | null): void {
  if (target instanceof HTMLInputElement && target.checked && /^doc\d+_notary$/.test(target.name))
    part<HTMLDetailsElement>("closing-state").open = true;
}

/** Uploads the files one by one, then shows a row for each file that the service stored. */
async function send(files: File[]): Promise<void> {
  if (files.length === 0 || isSending) return;
  isSending = true;
  const stored: { file: string; template: string; fault: string }[] = [];
  const refused: string[] = [];
  const room = Number(form().dataset["max"]) - form().querySelectorAll("[id^=document-row-]").length;
  for (const [index, file] of files.entries()) {
    if (index >= room) {
      refused.push(`${file.name}: a closing begins with at most ${form().dataset["max"]} documents.`);
      continue;
    }
    say(`Sending ${file.name} (${index + 1} of ${files.length})…`);
    const body = new FormData();
    body.set("document", file);
    try {
      const headers = { Accept: "application/json" };
      const response = await fetch(form().dataset["file"] ?? "", { method: "POST", body, headers });
      const answer = (await response.json()) as {
        file?: string;
        template?: string;
        fault?: string;
        error?: string;
      };
      const { template = "", fault = "" } = answer;
      if (response.ok && answer.file) stored.push({ file: answer.file, template, fault });
      else refused.push(`${file.name}: ${answer.error ?? "it was not taken."}`);
    } catch {
      refused.push(`${file.name}: the upload was interrupted. Choose it again.`);
    }
  }
  await draftSettled();
  const before = form().querySelectorAll("[id^=document-row-]").length;
  const values = typed();
  for (const [index, { file, template, fault }] of stored.entries()) {
    values.set(`add${index + 1}`, file);
    values.set(`add${index + 1}_template`, template);
    values.set(`add${index + 1}_fault`, fault);
  }
  isSending = false;
  const fault = await rows(values, `#document-row-${before + 1} input:not([type=hidden])`);
  const added = `${stored.length === 1 ? "1 file was" : `${stored.length} files were`} added.`;
  say([fault || added, ...refused].join(" "));
}

/**
 * Replaces the form by the service's version with the changed rows. Values that the sender typed during the request are
 * kept, and the caret stays in its field.
 * @param focus the element that is focused afterwards, unless the sender is in another field
 * @returns why the form was not changed; empty if it was
 */
async function rows(values: URLSearchParams, focus: string): Promise<string> {
  const sent = typed();
  const headers = { Accept: "text/html" };
  const request = fetch(form().dataset["rows"] ?? "", { method: "POST", body: values, headers });
  const response = await request.catch(() => null);
  if (response?.status === 401)
    return "You are signed out. Sign in in another tab, then try again: nothing on this page is lost.";
  const text = await response?.text().catch(() => null);
  const next = new DOMParser().parseFromString(text ?? "", "text/html").getElementById("closing-form");
  if (!response?.ok || !next) return "The page could not be changed. Please try again.";
  // Cancels a request for the price of the old form. Its late response would write an outdated amount on the new form's
  // button.
  asked?.abort();
  const nameNow = renumbering(Number(values.get("remove") ?? Number.NaN));
  const isChanged = carryOver(sent, next, nameNow);
  const focusAgain = focusedIn(next, nameNow);
  form().replaceWith(next);
  prepare();
  // Values that were typed during the request are not saved yet, and the shown price does not include them.
  if (isChanged) void price();
  else markSaved();
  if (focusAgain) focusAgain();
  else document.querySelector<HTMLElement>(focus)?.focus();
  return "";
}

type Control = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;
type NameNow = (name: string) => string | null;

const isControl = (element: Element | null): element is Control =>
  element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement || element instanceof HTMLSelectElement;

/** True for checkboxes and radio buttons. Their value is fixed, and the form sends it only while they are checked. */
const isBox = (control: Control): control is HTMLInputElement => /^(?:checkbox|radio)$/.test(control.type);

/** The name of a control after a document was removed; null for a control of the removed document. */
const renumbering =
  (removed: number): NameNow =>
  (name) => {
    const n = Number(/^doc(\d+)/.exec(name)?.[1]);
    if (n === removed) return null;
    return n > removed ? name.replace(/^doc\d+/, `doc${n - 1}`) : name;
  };

/**
 * Copies the values that changed since the request into the form that replaces this one.
 * @returns true if there were any
 */
function carryOver(sent: URLSearchParams, next: HTMLElement, nameNow: NameNow): boolean {
  const now = typed();
  let isChanged = false;
  for (const control of form().elements) {
    if (!isControl(control) || control.type === "file" || control.name.startsWith("draft")) continue;
    // The price is not copied: the new form has the price for the values that were sent.
    if (control.closest("#closing-quote")) continue;
    const values = now.getAll(control.name);
    if (values.join("\n") === sent.getAll(control.name).join("\n")) continue;
    const other = sameIn(next, control, nameNow);
    if (!other) continue;
    if (isBox(other)) other.checked = values.includes(other.value);
    else other.value = control.value;
    isChanged = true;
  }
  return isChanged;
}

const sameIn = (next: HTMLElement, control: Control, nameNow: NameNow): Control | undefined =>
  [...next.querySelectorAll("input, textarea, select")]
    .filter(isControl)
    .find((other) => other.name === nameNow(control.name) && (!isBox(control) || other.value === control.value));

/**
 * A function that focuses the sender's present field in the new form. Undefined if the sender is in no field, or in one
 * that the new form lacks.
 */
function focusedIn(next: HTMLElement, nameNow: NameNow): (() => void) | undefined {
  const field = document.activeElement;
  if (!isControl(field) || field.type === "file" || !form().contains(field)) return undefined;
  const other = sameIn(next, field, nameNow);
  if (!other) return undefined;
  const [start, end] = field instanceof HTMLSelectElement ? [null, null] : [field.selectionStart, field.selectionEnd];
  return () => {
    const details = other.closest("details");
    if (details) details.open = true;
    other.focus();
    if (start !== null && !(other instanceof HTMLSelectElement)) other.setSelectionRange(start, end);
  };
}

const noPrice =
  "The price can’t be shown now. If your firm pays, placing the closing charges nobody: its room shows the price, and charges it.";

/** Fetches the price for the form's present values. On an error, a note replaces the last price. */
async function price(): Promise<void> {
  asked?.abort();
  asked = new AbortController();
  const quote = part("closing-quote");
  const body = typed();
  // The price does not depend on the placed fields, whose text may be long.
  for (const name of [...body.keys()]) if (name.endsWith("_fields")) body.delete(name);
  try {
    const response = await fetch(form().dataset["quote"] ?? "", {
      method: "POST",
      body,
      signal: asked.signal,
    });
    if (!response.ok) throw new Error(`status ${response.status}`);
    quote.innerHTML = await response.text();
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") return;
    quote.textContent = noPrice;
  }
  const button = part("place-closing");
  // The button's text names the amount that placing the closing charges.
  button.textContent =
    quote.querySelector<HTMLElement>("[data-place]")?.dataset["place"] ?? button.dataset["usual"] ?? "";
}
