import { part } from "../../../ui/browser/parts.ts";
import { loadPdfJs } from "../../../ui/browser/viewer/pdf-js.ts";
import { type OpenDocument, openDocument } from "../../orders/browser/places/opened.ts";
import { openPlaces } from "../../orders/browser/places/section.ts";
import type { Signer } from "../../orders/browser/places/signers.ts";
import { findPlaces } from "../../orders/browser/proposals/found.ts";
import { everybody, personLabel, personNumber } from "../person-label.ts";
import { type FormDocument, showFoundPlaces } from "./found-places.ts";

const opened = new Map<string, Promise<OpenDocument>>();
let library: ReturnType<typeof loadPdfJs> | undefined;

/** Opens the stored PDF of a document. It stays open when rows of the form are added or removed. */
function openFile(url: string, pdfJs: string): Promise<OpenDocument> {
  const open = async () => {
    library ??= loadPdfJs(pdfJs);
    const response = await fetch(url);
    if (!response.ok) throw new Error(`status ${response.status}`);
    return openDocument(await library, await response.arrayBuffer());
  };
  const opening = opened.get(url) ?? open();
  opened.set(url, opening);
  opening.catch(() => opened.delete(url));
  return opening;
}

/** When and in which language a person signs a document, from the document's template. */
type Way = Pick<Signer, "language" | "routing"> & { readonly person: number };

/**
 * The people who sign a document, by the form's present values. A placed field names its signer by `row`, the person's
 * number in the form.
 */
function signersOf(values: URLSearchParams, n: string): Signer[] {
  const text = (name: string) => (values.get(name) ?? "").trim();
  const ways = JSON.parse(text(`doc${n}_ways`) || "[]") as readonly Way[];
  return everybody.flatMap((person) => {
    if (text(`doc${n}_signs_${person}`) !== "on") return [];
    const isClient = person === "client";
    const email = text(isClient ? "email" : `person${person}_email`);
    const name = text(isClient ? "name" : `person${person}_name`) || email;
    const signs = isClient ? text("client_signs") === "on" : name !== "" && text(`person${person}_role`) !== "follows";
    if (!signs) return [];
    const row = personNumber(person);
    const { language = "en", routing = 1 } = ways.find((way) => way.person === row) ?? {};
    return [{ row, name: personLabel(person, { name, signs }), email, language, routing }];
  });
}

/** All people of the form. The name of a person without a typed name is empty. */
const peopleIn = (values: URLSearchParams) =>
  everybody.map((person) => ({
    row: personNumber(person),
    name: (values.get(person === "client" ? "name" : `person${person}_name`) ?? "").trim(),
  }));

/**
 * Counts the calls of `connectPlaces`. Each call is for a new version of the form; work for an older version must stop.
 */
let round = 0;

/**
 * Allows the sender to place fields on the pages of each document of the form. Finds places to sign in the documents
 * that are to be signed.
 * @param typed returns the current values of the form
 */
export function connectPlaces(form: HTMLFormElement, typed: () => URLSearchParams): void {
  const pdfJs = form.dataset["pdfJs"] ?? "";
  part<HTMLInputElement>("asks-before-page").disabled = false;
  let isAsked = false;
  let panel: ReturnType<typeof showFoundPlaces> | undefined;

  /**
   * After one change of the form, every document calls this function. The calls are combined, so that the work is done
   * once.
   */
  function changed(): void {
    if (isAsked || !panel) return;
    isAsked = true;
    queueMicrotask(() => {
      isAsked = false;
      panel?.refresh();
      void search();
    });
  }

  const documents = [...form.querySelectorAll<HTMLElement>(".places-part")].map((host): FormDocument => {
    const n = host.id.replace("places-", "");
    const file = host.dataset["kept"] ?? "";
    const title = () => typed().get(`doc${n}_name`) ?? "";
    const signers = () => signersOf(typed(), n);
    return {
      n,
      file,
      title,
      signers,
      opened: null,
      everybody: () => peopleIn(typed()),
      isSigned: () => typed().get(`doc${n}_sign`) === "on",
      places: openPlaces({
        id: host.id,
        input: part<HTMLInputElement>(`field-doc${n}_fields`),
        form,
        signers,
        changed,
        numbering: { signerOf: (row) => row, rowOf: (signer) => signer },
        previewed: { titleOf: title, isNotarized: () => typed().get(`doc${n}_notary`) === "on" },
        load: () => openFile(file, pdfJs),
      }),
    };
  });

  let isSearching = false;

  /**
   * Searches the documents to be signed for places to sign. It searches one document at a time, so that the browser is
   * idle in between.
   */
  async function search(): Promise<void> {
    if (isSearching) return;
    isSearching = true;
    const next = () => documents.find(({ opened, isSigned }) => opened === null && isSigned());
    for (let document = next(); document && own === round; document = next()) {
      try {
        const pages = await openFile(document.file, pdfJs);
        await pages.sizesRead;
        if (own !== round) return;
        document.opened = pages;
        await document.places.open();
        await findPlaces(pages).isDone;
        // The sender can also choose the signers' roles on the pages. Such a choice updates the list of found places as
        // well.
        findPlaces(pages).watch(changed);
      } catch {
        document.opened = "failed";
      }
      changed();
    }
    isSearching = false;
  }

  round += 1;
  const own = round;
  if (documents.length > 0) panel = showFoundPlaces(documents);
  changed();
}
