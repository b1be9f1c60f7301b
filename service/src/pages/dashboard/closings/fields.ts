import { isCode, isUuid } from "../../../kernel/platform/text.ts";
import type { FormValues } from "../../ui/forms/form-body.ts";
import { everybody, maxPeople, personNumber } from "./person-label.ts";
import { listIn, waysIn } from "./ways.ts";

/** A closing's form has at most this many documents. More can be added in the closing's room. */
export const maxDocuments = 20;
/**
 * Without JavaScript each file is sent together with all fields of the form, and such a form may have at most 100
 * fields.
 */
const maxFieldsWithFile = 100;
const minPeople = 1;

/** A document as its row in the form describes it: the stored file, and the services for it. */
export type ClosingDocument = {
  /** The number of the row in the form, counted from 1. */
  n: number;
  token: string;
  pages: number;
  fileName: string;
  name: string;
  services: Readonly<Record<DocumentService, boolean>>;
  /**
   * The people whose boxes say that they sign this document, by the numbers of their rows; `client` is the client. A
   * person whose role in the closing excludes signing may be ticked, but does not sign.
   */
  signers: ReadonlySet<string>;
  /**
   * The people who receive the final document, as the numbers of their rows. The client and the signers get copies in
   * any case.
   */
  receivers: ReadonlySet<string>;
  /** The document's own destination, as fields of the order form; null to use the closing's destination. */
  own: FormValues | null;
  /**
   * The fields that were placed on the pages, as JSON; empty for none. The `signer` of each field is the number of a
   * person in the form.
   */
  fields: string;
  /**
   * The id of the template made from the same PDF form; empty for none. Also empty once a template that sets no `ways`
   * was applied, so that it is not offered again.
   */
  template: string;
  /**
   * When each signer signs, how they are identified, and in which language: JSON (a list of `SignerWay`) from a
   * template. Empty if everybody signs at once, by a link, in English.
   */
  ways: string;
  /** The reason why the PDF can't be signed, as an error message of the API; empty for none. */
  fault: string;
};

const documentServices = ["sign", "notary", "ship", "fax"] as const;
type DocumentService = (typeof documentServices)[number];

export type ClosingPerson = { row: number; name: string; email: string; signs: boolean };

/** The text of a hidden field that describes a stored file: its token, its number of pages and its name. */
export const fileText = ({ token, pages, fileName }: Pick<ClosingDocument, "token" | "pages" | "fileName">): string =>
  `${token} ${pages} ${fileName}`;

/** The file that a hidden field describes; null for any other text. */
function fileIn(text: string): Pick<ClosingDocument, "token" | "pages" | "fileName"> | null {
  const [, token = "", pages = "", fileName = ""] = /^(\S+) (\d{1,5}) (.*)$/s.exec(text) ?? [];
  return isCode(token) ? { token, pages: Number(pages), fileName } : null;
}

const text = (values: FormValues, name: string): string => (values[name] ?? "").trim();

const addressFields = ["ship_name", "ship_line1", "ship_line2", "ship_city", "ship_state", "ship_postal"] as const;
const shipFields = ["ship_method", ...addressFields] as const;

/**
 * No signer of an order has this number. Placed fields for somebody who does not sign get this number, so that the API
 * rejects them.
 */
const nobody = 99;

/**
 * The people who are ticked to sign the document. A person also counts as ticked if the form did not show the box yet,
 * because by default people sign every document.
 */
function tickedIn(values: FormValues, n: number): Set<string> {
  const shown = Number(values["people_rows"]) || 0;
  const hadBox = (person: string) => shown > 0 && (person === "client" || Number(person) <= shown);
  return new Set(everybody.filter((person) => values[`doc${n}_signs_${person}`] === "on" || !hadBox(person)));
}

/** The people who are ticked to receive the document; by default nobody. */
const receiversIn = (values: FormValues, n: number): Set<string> =>
  new Set(everybody.filter((person) => person !== "client" && values[`doc${n}_gets_${person}`] === "on"));

/**
 * Reads a document's own shipping address and fax number; null if it uses those of the closing. The button "Another
 * address" adds these fields, and "Use the closing's" removes them.
 */
function ownIn(values: FormValues, n: number): FormValues | null {
  const isOwn = values["own"] === String(n) || values[`doc${n}_own`] === "on";
  if (!isOwn || values["shared"] === String(n)) return null;
  return Object.fromEntries([...shipFields, "fax_to"].map((name) => [name, values[`doc${n}_${name}`] ?? ""]));
}

/**
 * True if a document sets this field of the order form itself. If any of its address fields is filled in, all its
 * shipping fields are its own, even empty ones.
 */
export function hasOwn({ own }: Pick<ClosingDocument, "own">, name: string): boolean {
  if (own === null) return false;
  return name === "fax_to"
    ? text(own, "fax_to") !== ""
    : name.startsWith("ship_") && addressFields.some((each) => text(own, each) !== "");
}

/**
 * The documents of the form after its last change, renumbered. Removed documents are gone, and new files (`add1`,
 * `add2`, ...) are added. A new file is signed by default, if it can be signed.
 */
export function documentsIn(values: FormValues): ClosingDocument[] {
  const rows = Array.from({ length: maxDocuments }, (_, index) => index + 1);
  const listed = rows.flatMap((n) => {
    const file = fileIn(values[`doc${n}`] ?? "");
    if (!file || values["remove"] === String(n)) return [];
    const services = { sign: false, notary: false, ship: false, fax: false };
    for (const service of documentServices) services[service] = values[`doc${n}_${service}`] === "on";
    const [signers, receivers, own] = [tickedIn(values, n), receiversIn(values, n), ownIn(values, n)];
    const [fields, template] = [text(values, `doc${n}_fields`), templateIn(values, `doc${n}_template`)];
    const name = text(values, `doc${n}_name`);
    const ways = values["plain_ways"] === String(n) ? "" : text(values, `doc${n}_ways`);
    const fault = text(values, `doc${n}_fault`);
    return [{ ...file, name, services, signers, receivers, own, fields, template, ways, fault }];
  });
  const added = rows.flatMap((n) => {
    const file = fileIn(values[`add${n}`] ?? "");
    const fault = text(values, `add${n}_fault`);
    const services = { sign: fault === "", notary: false, ship: false, fax: false };
    const [signers, receivers] = [new Set(everybody), new Set<string>()];
    const template = templateIn(values, `add${n}_template`);
    const name = nameOfFile(file?.fileName ?? "");
    const plain = { own: null, fields: "", ways: "" };
    return file ? [{ ...file, name, services, signers, receivers, ...plain, template, fault }] : [];
  });
  return [...listed, ...added].slice(0, maxDocuments).map((document, index) => ({ n: index + 1, ...document }));
}

function templateIn(values: FormValues, name: string): string {
  const id = text(values, name);
  return isUuid(id) ? id : "";
}

/** The token of the document that the form removes; null when it removes none. */
export const removedIn = (values: FormValues): string | null =>
  fileIn(values[`doc${values["remove"]}`] ?? "")?.token ?? null;

/** Turns `warranty_deed.pdf` into `Warranty deed`. */
function nameOfFile(fileName: string): string {
  const words = fileName
    .replace(/\.pdf$/i, "")
    .replace(/[_-]+/g, " ")
    .trim()
    .slice(0, 120);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/**
 * True if the form has few enough fields to send a file with it. Without JavaScript, a browser sends the file together
 * with all fields.
 */
export function acceptsFileWithForm(values: FormValues, documents: readonly ClosingDocument[]): boolean {
  const rows = peopleRows(values);
  const ofDocument = ({ own, ...hidden }: ClosingDocument) =>
    7 +
    2 * rows +
    (own ? 2 + shipFields.length : 0) +
    [hidden.fields, hidden.template, hidden.ways, hidden.fault].filter(Boolean).length;
  const ofDocuments = documents.reduce((sum, document) => sum + ofDocument(document), 0);
  return 27 + 3 * rows + ofDocuments <= maxFieldsWithFile;
}

/** How many rows of people the form has, besides the client. */
export function peopleRows(values: FormValues): number {
  const asked = Number(values["people_rows"]) + Number(values["more_people"] ?? 0);
  return Number.isInteger(asked) ? Math.min(Math.max(asked, minPeople), maxPeople) : minPeople;
}

/** The people besides the client for whom the form has a name or an email address. */
export const peopleIn = (values: FormValues): ClosingPerson[] =>
  Array.from({ length: maxPeople }, (_, index) => index + 1).flatMap((row) => {
    const [name, email] = [text(values, `person${row}_name`), text(values, `person${row}_email`)];
    return name === "" && email === "" ? [] : [{ row, name, email, signs: values[`person${row}_role`] !== "follows" }];
  });

/** True if the client signs, which is the default. False only if the form showed the box and it is not ticked. */
export const clientSigns = (values: FormValues): boolean =>
  values["client_signs"] === "on" || values["submission"] === undefined;

/**
 * True if the service seals the closing passport once every order has ended and at least one is completed. This is the
 * default. False only if the form showed the box and it is not ticked.
 */
export const sealsWhenDone = (values: FormValues): boolean =>
  values["seals_when_done"] === "on" || values["submission"] === undefined;

/**
 * The fields that the form has once, for all documents. The fields for shipping and fax are added only for documents
 * with these services.
 */
const shared = ["email", "name", "signer_state", "byod_confirmed", "pay_by"] as const;

/** The order for a document, as fields of the order form. */
export function orderOf(values: FormValues, document: ClosingDocument): Map<string, string> {
  const { sign, notary, ship, fax } = document.services;
  const fields = new Map<string, string>();
  const copy = (name: string) => {
    const value = (hasOwn(document, name) ? document.own : values)?.[name] ?? "";
    if (value.trim() !== "") fields.set(name, value);
  };
  for (const name of shared) copy(name);
  if (text(values, "file_number") !== "") fields.set("external_reference", text(values, "file_number"));
  fields.set("fill_token", document.token);
  if (sign) fields.set("svc_sign", "on");
  if (notary) fields.set("svc_notary", "on");
  if (ship) {
    fields.set("svc_ship", "on");
    for (const name of shipFields) copy(name);
  }
  if (fax) {
    // An empty fax number is included as well, so that the error message names the missing field.
    fields.set("fax_to", "");
    copy("fax_to");
  }
  const signers = isSigned(document) ? signersOf(values, document) : [];
  if (sign && document.fields !== "") fields.set("fields", fieldsOf(values, document));
  const ways = sign ? waysIn(document.ways) : [];
  const isClientAlone = signers.length === 1 && signers[0]?.isClient && ways.length === 0;
  if (signers.length > 0 && !isClientAlone)
    fields.set(
      "signers",
      JSON.stringify(
        signers.map(({ row, name, email }) => {
          const { person, ...way } = ways.find((each) => each.person === personNumber(row)) ?? {};
          return { name, email, ...way };
        }),
      ),
    );
  return fields;
}

/** The people who receive the final document when it is completed. */
export const receiversOf = (values: FormValues, { receivers }: Pick<ClosingDocument, "receivers">) =>
  peopleIn(values).flatMap(({ row, name, email }) => (receivers.has(String(row)) ? [{ name, email }] : []));

/** True if people sign the document, either online or in front of the notary. */
export const isSigned = ({ services: { sign, notary } }: Pick<ClosingDocument, "services">): boolean => sign || notary;

/** The people who sign a document, in the order of the form's rows. */
export function signersOf(
  values: FormValues,
  { signers }: Pick<ClosingDocument, "signers">,
): { row: string; name: string; email: string; isClient: boolean }[] {
  const client = { row: "client", name: text(values, "name"), email: text(values, "email"), isClient: true };
  const people = peopleIn(values)
    .filter(({ signs }) => signs)
    .map(({ row, name, email }) => ({ row: String(row), name, email, isClient: false }));
  const all = clientSigns(values) ? [client, ...people] : people;
  return all.filter(({ row }) => signers.has(row));
}

/**
 * The placed fields in the format of the order form: `signer` is the person's position among the document's signers.
 */
function fieldsOf(values: FormValues, document: ClosingDocument): string {
  const numbers = signersOf(values, document).map(({ row }) => personNumber(row));
  const list = listIn(document.fields);
  if (list === null) return document.fields;
  return JSON.stringify(
    list.map((field) => ({ ...field, signer: numbers.indexOf(Number(field.signer)) + 1 || nobody })),
  );
}

/** The number of placed fields that belong to people who do not sign the document. */
export function strayFields(values: FormValues, document: ClosingDocument): number {
  const numbers = signersOf(values, document).map(({ row }) => personNumber(row));
  return (listIn(document.fields) ?? []).filter(({ signer }) => !numbers.includes(Number(signer))).length;
}

/**
 * True if the service may add a page for signatures to a document in which a signer has no place. The form asks this
 * only if our script runs. Without the script, nobody can place fields, so the service may always add a page.
 */
export const mayAddPage = (values: FormValues): boolean =>
  values["asks_before_page"] === undefined || values["page_added"] === "on";

/**
 * True if the form shows the checkbox that permits added pages. That is so if a document to be signed has no placed
 * field.
 */
export const needsPageBox = (documents: readonly ClosingDocument[]): boolean =>
  documents.some(({ services, fields }) => services.sign && fields === "");
