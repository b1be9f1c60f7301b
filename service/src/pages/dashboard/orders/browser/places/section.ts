import { make, part, setNumbers } from "../../../../ui/browser/parts.ts";
import { keyOf, openDraft } from "./draft.ts";
import { openEditor } from "./editor.ts";
import { boxesOf, type Field, readWritten, written } from "./field.ts";
import type { SizeRules } from "./geometry.ts";
import type { OpenDocument } from "./opened.ts";
import { openPreview } from "./preview.ts";
import type { Signer } from "./signers.ts";
import { openStore, type Store } from "./store.ts";

type Refusal = { readonly index: number; readonly text: string };

export type PlacesDeps = {
  /** The id of this part of the page. The ids of the elements in it begin with the same text. */
  readonly id: string;
  /** The form input that contains the placed fields as text. */
  readonly input: HTMLInputElement;
  readonly form: HTMLFormElement;
  readonly signers: () => readonly Signer[];
  /** Converts the editor's row of a signer to the number in the input, and back. */
  readonly numbering: { readonly signerOf: (row: number) => number; readonly rowOf: (signer: number) => number };
  /** Opens the document when its pages are first needed. If absent, the caller passes the document to `show`. */
  readonly load?: () => Promise<OpenDocument>;
  /** The values of the form that the preview needs. */
  readonly previewed: {
    /** The document's name as the signers will read it; empty if the form does not contain it. */
    readonly titleOf: () => string;
    /** True if a notary signs after the signers. */
    readonly isNotarized: () => boolean;
  };
  /** Is called after each change of the form or of the fields. `count` is the number of fields that are sent. */
  readonly changed: (count: number) => void;
};

/**
 * For each stored file, `fields` are those of people who do not sign it now. When a person signs again, that person's
 * fields return, unless a template has replaced the other fields. To detect this, `others` is the text of the other
 * fields.
 */
const setAside = new Map<string, { readonly others: string; readonly fields: readonly Field[] }>();

/** Connects the fields of one document with the form's input and with the summary that describes them. */
function openFields(deps: PlacesDeps, host: HTMLElement, opened: () => OpenDocument | null) {
  const { input, signers, numbering, load, changed } = deps;
  const summary = openSummary(deps);
  const rules = JSON.parse(host.dataset["sizes"] ?? "{}") as SizeRules;
  const file = host.dataset["kept"] ?? "";
  const start = startOf(input, host, numbering.rowOf);
  const draft = openDraft(start);
  const sizeOf = (page: number) => opened()?.pageSize(page) ?? { width: 612, height: 792 };
  const aside = setAside.get(file);
  const store = openStore([...start, ...(aside?.others === input.value ? aside.fields : [])], sizeOf, rules);
  const isShown = () => opened() !== null || load !== undefined;

  /** The fields of the people who sign now. Only these are sent. */
  function sent(): readonly Field[] {
    const rows = new Set(signers().map(({ row }) => row));
    return store.fields().filter(({ row }) => rows.has(row));
  }

  function refresh(): void {
    const fields = sent();
    const left = store.fields().filter((field) => !fields.includes(field));
    input.value = written(fields, numbering.signerOf);
    if (file !== "") setAside.set(file, { others: input.value, fields: left });
    draft.save(store.fields());
    changed(fields.length);
    summary.clear.hidden = store.fields().length === 0;
    if (isShown()) summary.show(fields, left.length);
  }

  /** Replaces all fields. The summary shows the reason `why` until the fields or the selection change again. */
  function replace(to: readonly Field[], why: string): void {
    store.replace(to);
    summary.note(why);
    refresh();
    if (!isShown()) summary.say(why);
  }

  return { summary, rules, file, draft, store, sent, refresh, replace };
}

/** The part of a form that opens the pages of one document, and contains the fields that were placed on them. */
export function openPlaces(deps: PlacesDeps) {
  const { id, form, load } = deps;
  const host = part(id);
  let opened: OpenDocument | null = null;
  const { summary, rules, file, draft, store, sent, refresh, replace } = openFields(deps, host, () => opened);
  const { button, pictures } = summary;

  function show(next: OpenDocument): void {
    opened = next;
    const remaining = store.fields().filter(({ page }) => page <= next.document.numPages);
    const lost = store.fields().length - remaining.length;
    if (lost > 0) replace(remaining, `${counted(lost)} removed: this file does not have their pages.`);
    else refresh();
    pictures.draw(next).catch(() => pictures.clear());
  }

  /** Shows the pages of the document that `load` opens. */
  async function open(): Promise<void> {
    const next = await load?.();
    if (next && !opened) show(next);
  }

  /** Restores the fields that were placed before the page was reloaded, without losing fields that the form has now. */
  function restore(fields: readonly Field[] | null): void {
    if (!fields || !draft.isBase(store.fields())) draft.save(store.fields());
    else replace(fields, "These are the fields from before this page was loaded again.");
  }

  async function edit(): Promise<void> {
    if (!opened) summary.say("Opening the pages…");
    await open();
    if (opened) await editFields(deps, { opened, store, sent, rules, address: host.dataset["preview"] ?? "" });
  }

  store.watch(() => summary.note(""));
  store.watch(refresh);
  // A change of the document's type can change whether the document is signed.
  for (const event of ["input", "change"]) form.addEventListener(event, refresh);
  onPress(button, edit, () => summary.say(unshown));
  if (load) button.disabled = false;
  refresh();
  form.addEventListener("submit", () => draft.discard());
  // The service already has this form's file, so the draft for that file can be restored before its pages are shown.
  if (load && file !== "") restore(draft.open(file));
  summary.clear.addEventListener("click", () => {
    const { length } = store.fields();
    replace([], `${counted(length)} removed. “Undo” on the pages brings ${length === 1 ? "it" : "them"} back.`);
    // The button is hidden now, so the focus moves to the one before it, or to the status line.
    (button.disabled ? part(`${id}-said`) : button).focus();
  });

  return {
    store,
    rules,
    sent,
    open,
    edit,
    /** Shows the pages of another document; null closes it. */
    show(next: OpenDocument | null): void {
      void opened?.document.loadingTask.destroy();
      opened = null;
      button.disabled = next === null;
      pictures.clear();
      draft.open(null);
      if (!next) return;
      show(next);
      void keyOf(next).then((key) => opened === next && restore(draft.open(key)), ignored);
    },
  };
}

export const unshown = "The pages can’t be shown here. Choose the file again to see them.";

type Edited = {
  readonly opened: OpenDocument;
  readonly store: Store;
  readonly sent: Store["fields"];
  readonly rules: SizeRules;
};

/**
 * Shows the pages in the editor, at the first field that was refused. @param address the URL of the preview
 * @returns when the editor is closed
 */
async function editFields(
  { signers, previewed }: PlacesDeps,
  { address, sent, ...edited }: Edited & { address: string },
): Promise<void> {
  const { opened, store } = edited;
  const at = store.fields().find(({ error }) => error !== null) ?? null;
  const about = { opened, store: { fields: sent }, signers, isNotarized: previewed.isNotarized, address };
  const preview = (row: number) => openPreview({ ...about, title: previewed.titleOf() }, row);
  await openEditor({ ...edited, signers, preview, at });
}

const notaryBox = "The notary’s box is added where a page has room: “Preview” shows where.";

/** Shows the fields in the form: a sentence, the name of the button, and small pictures of the pages. */
function openSummary({ id, signers, previewed }: PlacesDeps) {
  const statusLine = part(`${id}-said`);
  const button = part<HTMLButtonElement>(`${id}-open`);
  const clear = part<HTMLButtonElement>(`${id}-clear`);
  const pictures = openPictures(part(`${id}-pictures`));
  let note = "";
  return {
    button,
    clear,
    pictures,
    say(text: string): void {
      statusLine.textContent = text;
    },
    /** Sets a sentence that the summary adds after those about the fields. An empty text adds none. */
    note(text: string): void {
      note = text;
    },
    /** @param left how many fields are left out, because their people do not sign now */
    show(fields: readonly Field[], left: number): void {
      nameButton(button, fields.length);
      const ofNotary = fields.length > 0 && previewed.isNotarized() ? notaryBox : "";
      const words = [summaryOf(fields, signers(), button.dataset["about"]), leftWords(left), ofNotary, note];
      statusLine.textContent = words.filter((each) => each !== "").join(" ");
      pictures.mark(fields);
    },
  };
}

function nameButton(button: HTMLButtonElement, count: number): void {
  const { about } = button.dataset;
  const label = count === 0 ? "Place fields" : "Change the fields";
  button.textContent = about === undefined ? `${label} on the pages` : label;
  if (about !== undefined) button.ariaLabel = `${label} on the pages, ${about}`;
}

/** Runs `work` when the button is pressed. The button is disabled while `work` runs, and is focused afterwards. */
export function onPress(button: HTMLButtonElement, work: () => Promise<void>, failed: () => void): void {
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      await work();
    } catch {
      failed();
    } finally {
      button.disabled = false;
      button.focus();
    }
  });
}

/** The fields that the service wrote into the form, with the reasons why some of them were rejected. */
function startOf(input: HTMLInputElement, host: HTMLElement, rowOf: PlacesDeps["numbering"]["rowOf"]): Field[] {
  const refusals = JSON.parse(host.dataset["refused"] ?? "[]") as readonly Refusal[];
  return readWritten(input.value, rowOf).map((field, index) => ({
    ...field,
    error: refusals.find((refusal) => refusal.index === index)?.text ?? null,
  }));
}

/** Ignores an error of `keyOf`. The document was closed in the meantime, so it needs no draft. */
const ignored = (): void => {};

const counted = (count: number): string => (count === 1 ? "1 field" : `${count} fields`);

const unplaced = "No fields yet. Without fields, people sign where the document has signature fields or tags.";

/** @param about names the document if the form has several. Such a form doesn't show `unplaced` for each of them */
function summaryOf(fields: readonly Field[], signers: readonly Signer[], about: string | undefined): string {
  if (fields.length === 0) return about === undefined ? unplaced : "";
  const parts = signers.map(
    ({ row, name }) => `${name}: ${counted(fields.filter((each) => each.row === row).length)}.`,
  );
  const refused = fields.filter(({ error }) => error !== null).length;
  if (refused > 0) parts.push(`${counted(refused)} to correct.`);
  return parts.join(" ");
}

const leftWords = (left: number): string =>
  left === 0
    ? ""
    : `${counted(left)} of somebody who does not sign this document ${left === 1 ? "is" : "are"} left out, and ${left === 1 ? "returns" : "return"} with that person.`;

/** The form shows at most this many pages as small pictures. */
const maxPictures = 8;
/** The width of a page's small picture, in CSS pixels. The style sheet has the same width. */
const pictureWidth = 96;

/** Small pictures of the first pages, with the placed fields drawn on them. */
function openPictures(host: HTMLElement) {
  let fields: readonly Field[] = [];

  function mark(picture: Element, page: number): void {
    for (const old of picture.querySelectorAll(".places-mark")) old.remove();
    const boxes = fields.filter((field) => field.page === page).flatMap(boxesOf);
    for (const { field, rect } of boxes) {
      const place = make("span", { className: `places-mark of-${field.row}` });
      setNumbers(place, { left: rect.x, top: rect.y, width: rect.width, height: rect.height });
      picture.append(place);
    }
  }

  return {
    clear: () => host.replaceChildren(),
    mark(of: readonly Field[]): void {
      fields = of;
      for (const [index, picture] of [...host.children].entries()) mark(picture, index + 1);
    },
    async draw({ document: pdf }: OpenDocument): Promise<void> {
      const pictures = Array.from({ length: Math.min(pdf.numPages, maxPictures) }, () =>
        make("span", { className: "places-picture" }),
      );
      host.replaceChildren(...pictures);
      for (const [index, picture] of pictures.entries()) {
        if (!picture.isConnected) return;
        const proxy = await pdf.getPage(index + 1);
        const scale = pictureWidth / proxy.getViewport({ scale: 1 }).width;
        const viewport = proxy.getViewport({ scale: scale * Math.min(devicePixelRatio, 2) });
        const canvas = make("canvas", { width: Math.floor(viewport.width), height: Math.floor(viewport.height) });
        setNumbers(picture, { scale });
        picture.prepend(canvas);
        mark(picture, index + 1);
        await proxy.render({ canvas, viewport }).promise;
      }
    },
  };
}
