import { make, part } from "../../../ui/browser/parts.ts";
import { type Field, written } from "../../orders/browser/places/field.ts";
import type { OpenDocument } from "../../orders/browser/places/opened.ts";
import { onPress, type openPlaces, unshown } from "../../orders/browser/places/section.ts";
import { type Signer, unsigned } from "../../orders/browser/places/signers.ts";
import { assign, ofOthers } from "../../orders/browser/proposals/assign.ts";
import { findPlaces } from "../../orders/browser/proposals/found.ts";
import { placesFor, withRoles } from "../../orders/browser/proposals/roles.ts";
import { fieldOf } from "../../orders/browser/proposals/view.ts";
import { counted, fieldWords, listed } from "../../orders/field-words.ts";

/** A document of the form. */
export type FormDocument = {
  readonly n: string;
  readonly title: () => string;
  readonly isSigned: () => boolean;
  readonly signers: () => readonly Signer[];
  /** All people of the closing, including those without a name and those who don't sign this document. */
  readonly everybody: () => readonly Pick<Signer, "row" | "name">[];
  /** The URL of the document's stored file. It identifies the document even when the form's rows change. */
  readonly file: string;
  /** Null until the pages are opened; `failed` when they can't be opened or searched. */
  opened: OpenDocument | "failed" | null;
  readonly places: ReturnType<typeof openPlaces>;
};

type Proposed = { readonly fields: readonly Field[]; readonly unowned: number };

/**
 * For each stored file: the fields that this panel's button placed there last, as text. If the text of the present
 * fields differs, the sender has changed them.
 */
const fieldsPutHere = new Map<string, string>();

const byRow = (row: number): number => row;
const textIn = ({ places }: FormDocument): string => written(places.store.fields(), byRow);

/**
 * True if the fields of a document may be replaced. Either it has none, or it has exactly those that this panel's
 * button placed.
 */
const isUntouched = (document: FormDocument): boolean =>
  textIn(document) === "" || textIn(document) === fieldsPutHere.get(document.file);

/**
 * The fields for the places that were found in a document, each with its signer. Places of people who don't sign the
 * document are left out. `unowned` counts the places without a signer.
 *
 * A document's only signer also gets the places that name nobody, but only under two conditions: the signer has no
 * role, and the signature lines are not for several parties.
 */
function proposedIn({ opened, places, signers, everybody }: FormDocument): Proposed {
  if (opened === null || opened === "failed") return { fields: [], unowned: 0 };
  const people = withRoles(findPlaces(opened), signers());
  const all = placesFor(findPlaces(opened), people);
  const others = ofOthers(all, everybody(), people);
  const found = all.filter((proposal) => !others.has(proposal));
  const owners = assign(found, people);
  const roles = new Set(found.filter(({ kind }) => kind === "signature").map(({ role }) => role));
  const alone = people.length === 1 && roles.size < 2 && !people[0]?.role ? people[0]?.row : undefined;
  const fields = found.flatMap((proposal) => {
    const row = owners.get(proposal) ?? alone;
    const size = opened.pageSize(proposal.page);
    return row === undefined ? [] : [fieldOf(proposal, { row, size, rules: places.rules })];
  });
  return { fields, unowned: found.length - fields.length };
}

const hasTags = ({ opened }: FormDocument): boolean =>
  opened !== null && opened !== "failed" && findPlaces(opened).hasTags();

const isReading = ({ opened }: FormDocument): boolean =>
  opened === null || (opened !== "failed" && findPlaces(opened).state() === "reading");

/**
 * The fields that one click would place in a document. Empty if a signer would get no signature. Also empty if the
 * document has tags, is still being read, has exactly these fields already, or has fields that the sender changed.
 */
function toPlace(document: FormDocument): readonly Field[] {
  const { fields } = proposedIn(document);
  const signers = document.signers();
  if (fields.length === 0 || signers.length === 0 || unsigned(signers, fields).length > 0) return [];
  if (isReading(document) || hasTags(document) || !isUntouched(document)) return [];
  return written(fields, byRow) === textIn(document) ? [] : fields;
}

/**
 * Lists the places that were found in the documents ticked for signing, with the signer of each place. One click places
 * fields there, and another click removes these fields. Neither click touches fields that the sender placed.
 */
export function showFoundPlaces(documents: readonly FormDocument[]) {
  const pageBox = part("page-added");
  const [host, statusLine, list] = [part("closing-places"), part("closing-places-said"), part("closing-places-list")];
  const [all, none] = [part<HTMLButtonElement>("closing-places-all"), part<HTMLButtonElement>("closing-places-none")];
  const lines = documents.map((document) => ({ document, ...lineOf(document) }));
  list.replaceChildren(...lines.map(({ element }) => element));
  const signed = () => documents.filter((document) => document.isSigned());
  const ofThese = () => signed().filter((each) => textIn(each) !== "" && isUntouched(each));

  function refresh(): void {
    host.hidden = signed().length === 0;
    pageBox.hidden = !signed().some(({ places }) => places.sent().length === 0);
    for (const { document, element, text } of lines) {
      element.hidden = !document.isSigned();
      const words = wordsOf(document);
      if (!element.hidden && text.textContent !== words) text.textContent = words;
    }
    const pending = signed()
      .map(toPlace)
      .filter((fields) => fields.length > 0);
    const count = pending.flat().length;
    all.hidden = count === 0;
    all.textContent = `Place ${count === 1 ? "the field" : `all ${count} fields`} that ${count === 1 ? "was" : "were"} found in ${counted(pending.length, "document")}`;
    none.hidden = ofThese().length === 0;
    none.textContent = `Remove the fields that were placed in ${counted(ofThese().length, "document")}`;
  }

  /** Shows the result of a pressed button. The button then disappears, so the focus moves elsewhere. */
  function change(text: string, focus: HTMLElement): void {
    refresh();
    statusLine.textContent = text;
    (focus.hidden ? host : focus).focus();
  }

  all.addEventListener("click", () => {
    const chosen = signed().map((document) => ({ document, fields: toPlace(document) }));
    const changed = chosen.filter(({ fields }) => fields.length > 0);
    for (const { document, fields } of changed) {
      fieldsPutHere.set(document.file, written(fields, byRow));
      document.places.store.replace(fields);
    }
    const count = changed.flatMap(({ fields }) => fields).length;
    change(`${counted(count, "field")} placed in ${counted(changed.length, "document")}.`, none);
  });
  none.addEventListener("click", () => {
    const chosen = ofThese();
    for (const { places } of chosen) places.store.replace([]);
    change(`The fields of ${counted(chosen.length, "document")} were removed.`, all);
  });
  refresh();
  return { refresh };
}

function lineOf(document: FormDocument) {
  const text = make("span");
  const name = make("strong", { className: "breakable" });
  const look = make("button", { type: "button", className: "quiet-button", textContent: "Look at its pages" });
  const title = () => `${document.n}. ${document.title() || "File"}`;
  const actions = make("div", { className: "form-actions" }, look);
  const element = make("li", {}, make("p", {}, name, " ", text), actions);
  name.textContent = title();
  look.ariaLabel = `${look.textContent}: ${title()}`;
  onPress(look, document.places.edit, () => {
    text.textContent = unshown;
  });
  return { element, text };
}

/**
 * A sentence about the fields that are placed in a document. If there are none, the sentence is about the places that
 * were found.
 */
function wordsOf(document: FormDocument): string {
  const signers = document.signers();
  const sentFields = document.places.sent();
  const { fields, unowned } = sentFields.length > 0 ? { fields: sentFields, unowned: 0 } : proposedIn(document);
  if (document.opened === "failed") return "The pages can’t be read here.";
  if (sentFields.length === 0 && isReading(document)) return "Looking for places to sign and fill in…";
  if (sentFields.length === 0 && hasTags(document)) return "Tags in its text say where people sign.";
  const perSigner = signers.flatMap(({ row, name }) => {
    const own = fields.filter((field) => field.row === row);
    return own.length === 0 ? [] : [`${name}: ${fieldWords(own)}.`];
  });
  const missing = unsigned(signers, fields).map(({ name }) => name);
  return [
    ...(perSigner.length > 0 ? [sentFields.length > 0 ? "Placed." : "Found.", ...perSigner] : []),
    ...(unowned > 0 ? [`${counted(unowned, "place")} without a signer’s name: choose the signer on its pages.`] : []),
    ...(missing.length > 0 ? [`No place for ${listed(missing)} to sign.`] : []),
    ...(sentFields.length === 0 ? [unreadWords(document)] : []),
  ]
    .filter((each) => each !== "")
    .join(" ");
}

/** The reason why the search may have missed places; empty if it searched all pages. */
function unreadWords({ opened }: FormDocument): string {
  const state = opened !== null && opened !== "failed" && findPlaces(opened).state();
  if (state === "picture") return "Its pages are pictures.";
  return state === "partly" ? "Not all pages could be looked at." : "";
}
