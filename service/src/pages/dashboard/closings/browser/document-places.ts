import { part } from "../../../ui/browser/parts.ts";
import { loadPdfJs } from "../../../ui/browser/viewer/pdf-js.ts";
import { type OpenDocument, openDocument } from "../../orders/browser/places/opened.ts";
import { openPlaces } from "../../orders/browser/places/section.ts";
import type { Signer } from "../../orders/browser/places/signers.ts";
import { everybody, personLabel, personNumber } from "../person-label.ts";

const opened = new Map<string, Promise<OpenDocument>>();
let library: ReturnType<typeof loadPdfJs> | undefined;

/** Opens a stored file. It stays open when the form's rows change. */
function openFile(url: string, pdfJs: string): Promise<OpenDocument> {
  const open = async () => {
    library ??= loadPdfJs(pdfJs);
    const response = await fetch(url);
    if (!response.ok) throw new Error(`status ${response.status}`);
    return openDocument(await library, await response.arrayBuffer());
  };
  const known = opened.get(url) ?? open();
  opened.set(url, known);
  known.catch(() => opened.delete(url));
  return known;
}

/** How a person signs a document, as its template says. */
type Way = Pick<Signer, "language" | "routing"> & { readonly person: number };

/** The people who sign a document now; the numbers of their rows are those of the form's fields. */
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

/**
 * Lets the sender place fields on the pages of each document of the form.
 * @param typed returns what is typed in the form now
 */
export function connectPlaces(form: HTMLFormElement, typed: () => URLSearchParams): void {
  const pageBox = part("page-added");
  part<HTMLInputElement>("asks-before-page").disabled = false;

  /** Shows the box that agrees to an added page while somebody signs a document without placed fields. */
  function showPageBox(): void {
    const values = typed();
    const inputs = [...form.querySelectorAll<HTMLInputElement>(".places-part > input")];
    const needs = ({ name, value }: HTMLInputElement) =>
      value === "" && values.get(name.replace("_fields", "_sign")) === "on";
    pageBox.hidden = !inputs.some(needs);
  }

  for (const host of form.querySelectorAll<HTMLElement>(".places-part")) {
    const n = host.id.replace("places-", "");
    const file = host.dataset["kept"] ?? "";
    const places = openPlaces({
      ...{ id: host.id, input: part<HTMLInputElement>(`field-doc${n}_fields`), form },
      signers: () => signersOf(typed(), n),
      numbering: { signerOf: (row) => row, rowOf: (signer) => signer },
      previewed: {
        titleOf: () => typed().get(`doc${n}_name`) ?? "",
        isNotarized: () => typed().get(`doc${n}_notary`) === "on",
      },
      load: () => openFile(file, form.dataset["pdfJs"] ?? ""),
      changed: showPageBox,
    });
    const known = opened.get(file);
    if (known) void known.then((document) => places.show(document));
  }
  showPageBox();
}
