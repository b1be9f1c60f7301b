import type { SenderTextName } from "../../../orders/order/order.ts";
import { shortCode } from "../../ui/format.ts";
import type { FormValues } from "../../ui/forms/form-body.ts";
import { listed } from "./field-words.ts";
import { namedRows, type RowField, type RowMember, rowField, rowMembers } from "./new/signer-rows.ts";

/** The payer of an order or a closing, and the time of the charge. */
export const chargeNote =
  "When your firm pays, its card or bank account is charged at once if the form names the charge, within the limits that owners set. A price that we set after placing is charged only when somebody of your firm has seen it. Otherwise nobody is charged yet.";

/**
 * The first sentence of a form that places orders. Without it, a reader could believe that "Place" alone sends the
 * document to the signers.
 */
export const paidFirst = "Nothing goes out for signature, and no work begins, before the price is paid.";

/** The labels of the order form's fields. */
export const labels = {
  document: "File",
  doc_slug: "Document type",
  email: "Client’s email",
  name: "Client’s name",
  signer_state: "Signer’s state",
  signer_auth: "How signers are identified",
  signers: "Signers",
  fields: "Fields on the pages",
  svc_sign: "Signing",
  svc_notary: "Online notarization",
  svc_ship: "Shipping",
  ship_method: "Delivery method",
  ship_name: "Recipient’s name",
  ship_line1: "Recipient’s street",
  ship_line2: "Recipient’s address line 2",
  ship_city: "Recipient’s city",
  ship_state: "Recipient’s state",
  ship_postal: "Recipient’s ZIP code",
  from_name: "Sender’s name",
  from_line1: "Sender’s street",
  from_line2: "Sender’s address line 2",
  from_city: "Sender’s city",
  from_state: "Sender’s state",
  from_postal: "Sender’s ZIP code",
  fax_to: "Fax number",
  external_reference: "File number",
  byod_confirmed:
    "This is the client’s own document, complete except for the fields that the signers fill in while they sign.",
  pay_by: "Who pays",
  price_first: "Place it without a price: a person sets the price",
  create_checkout: "Create the checkout now",
} as const;

export type OrderField = keyof typeof labels;

/**
 * Words for the texts that a firm adds to an order, such as its file number. Each has a hint for the form, and a label
 * for the order's page.
 */
export const senderTextWords: Readonly<Record<SenderTextName, { hint: string; label: string }>> = {
  external_reference: {
    hint: "The number that your firm uses for this file. Lists and webhooks show it, and you can search for it.",
    label: "File number",
  },
};

const isOrderField = (name: string): name is OrderField => Object.hasOwn(labels, name);

const withoutPlace = /^fields is required: the document has no place for/;

/** True if the error message says that the document has no place for a signer, and that no page may be added. */
export const lacksPlace = (message: string): boolean => withoutPlace.test(message);

// Texts that replace certain error messages of the API, because those messages explain the JSON of a request.
const ownWords = [
  {
    means: /^fill_token is unknown/,
    name: "document",
    text: "The file that we kept has expired. Choose it again.",
  },
  {
    means: /^document or fill_token is required/,
    name: "document",
    text: "Choose a PDF file of up to 35 MB.",
  },
  {
    means: withoutPlace,
    name: "fields",
    text: "The document has no place for every signer to sign. Place fields on its pages, or tick that a page is added for the signatures.",
  },
  {
    means: /^byod_confirmed is required/,
    name: "byod_confirmed",
    text: "Confirm that this is the client’s own, completed document.",
  },
] as const;

/** The labels of the fields in a signer's row. */
export const rowLabels: Readonly<Record<RowMember, string>> = {
  name: "Name",
  email: "Email",
  routing: "Turn",
  language: "Language",
  auth: "Identified by",
  phone: "Mobile number",
  access_code: "Access code",
};

export type RefusalWords = { text: string; field: OrderField | RowField | null };

/**
 * Rewrites an error message of the API for this page, with labels instead of field names. Also finds the form field of
 * the error.
 *
 * @param values the typed values; they tell in which row of the form each of the API's signers is
 */
export function refusalWords(message: string, values: FormValues = {}): RefusalWords {
  const own = ownWords.find(({ means }) => means.test(message));
  if (own) return { text: own.text, field: own.name };
  const unsigned = /^fields must hold a signature for each signer: signers? ([\d, ]+) ha/.exec(message)?.[1];
  if (unsigned !== undefined) return { text: unsignedWords(unsigned.split(", ").map(Number), values), field: "fields" };
  if (message.startsWith("fields[")) return { text: fieldWords(message, values["fields"]), field: "fields" };
  if (message.startsWith("signers[")) return signerWords(message, namedRows(values));
  const text = message.replace(/^[a-z]+\b|\b[a-z]+(?:_[a-z0-9]+)+\b/g, (word) =>
    isOrderField(word) ? `“${labels[word]}”` : word,
  );
  const [first = ""] = message.split(" ", 1);
  return { text, field: isOrderField(first) ? first : null };
}

/**
 * The error message that names the signers for whom the sender placed no signature field on the pages. The signers'
 * numbers are counted from 1.
 */
function unsignedWords(numbers: readonly number[], values: FormValues): string {
  const rows = namedRows(values);
  const nameIn = (row: number) => values[rowField(row, "name")] || values[rowField(row, "email")];
  const nameOf = (n: number) =>
    (rows.length === 0 ? values["name"] || values["email"] : nameIn(rows[n - 1] ?? n)) || `signer ${n}`;
  const names = listed(numbers.map(nameOf));
  return `Each signer needs a signature on the pages. ${names.charAt(0).toUpperCase()}${names.slice(1)} ${numbers.length === 1 ? "has" : "have"} none.`;
}

/**
 * Rewrites the API's error message about a placed field. The field's label and page replace its index.
 * @param written the JSON in the form's input `fields`
 */
function fieldWords(message: string, written = ""): string {
  const { index, rule } = fieldRefusal(message);
  const name = nameOfField(written, index);
  return `${name}: ${rule.replace(/fields\[(\d+)\](?:\.options\[\d+\])?/g, (_, other: string) => nameOfField(written, Number(other)))}`;
}

/**
 * Parses the API's error message about a placed field.
 * @returns the field's index (from 0), and the violated rule
 */
export function fieldRefusal(message: string): { index: number; rule: string } {
  const [start = "", index = "", member = ""] =
    /^fields\[(\d+)\](?:\.options\[\d+\])?(?:\.([a-z_]+))? ?/.exec(message) ?? [];
  const rest = message.slice(start.length);
  return { index: Number(index), rule: member === "" ? rest : `${member.replace("_", "-")} ${rest}` };
}

/** Words for a placed field, with the label that the sender gave it: `“Parcel number” on page 2`. */
function nameOfField(written: string, index: number): string {
  const field = fieldsIn(written)[index];
  return field ? `“${field.label || field.kind}” on page ${field.page}` : `field ${index + 1}`;
}

function fieldsIn(written: string): { label?: string; kind?: string; page?: number }[] {
  try {
    const list: unknown = JSON.parse(written);
    return Array.isArray(list) ? list.filter((each) => typeof each === "object" && each !== null) : [];
  } catch {
    return [];
  }
}

/**
 * Rewrites the API's error message about a signer, and finds the form field of the error.
 * @param rows for each signer, in the order in which the API got them: the number of the signer's row in the form
 */
function signerWords(message: string, rows: readonly number[]): RefusalWords {
  const rowOf = (index: string) => rows[Number(index)] ?? Number(index) + 1;
  const [, index = "", name] = /^signers\[(\d+)\](?:\.([a-z_]+))?/.exec(message) ?? [];
  const member = rowMembers.find((each) => each === name);
  const text = message
    .replace(/signers\[(\d+)\](?:\.([a-z_]+))?/g, (_, at: string, of: RowMember | undefined) =>
      of ? `“${rowLabels[of] ?? of}” of signer ${rowOf(at)}` : `“Signer ${rowOf(at)}”`,
    )
    .replace("auth is access_code", "the signer is asked for one")
    .replace("auth is text_code", "a code goes there by text message");
  return { text, field: rowField(rowOf(index), member ?? "name") };
}

/** The name of an order on the dashboard's pages: its document's title, otherwise the beginning of its code. */
export const orderName = ({ order, title }: { order: { code: string }; title: string | null }): string =>
  title ?? `Order ${shortCode(order.code)}`;

const envelopeWords: Readonly<Record<string, string>> = {
  Created: "Not sent yet",
  Sent: "Sent to the signers",
  Viewed: "Opened by a signer",
  PartiallySigned: "Signed by some",
  Completed: "Signed by all",
  Declined: "Stopped",
  Expired: "Not signed in time",
  Voided: "Withdrawn",
};

/** The envelope's status in words; null for an order without signing. */
export const envelopeLabel = (status: string | null): string | null =>
  status === null ? null : Object.hasOwn(envelopeWords, status) ? (envelopeWords[status] ?? status) : status;

/** Shown instead of the envelope's status after a signing that the sandbox completed. */
export const simulatedLabel = "Signing simulated: nobody’s signature is in the document";

/** Shown next to moves of the sandbox that skip the signing. */
export const signingEnds =
  " When an order moves past its signing, its links to sign end, and its final files don’t show what people signed before. To see real signatures, let everybody sign first.";
