import { invalidAt, ServiceError } from "../../../kernel/platform/errors.ts";
import { isEmail } from "../../../kernel/platform/mail/email.ts";
import { isCode } from "../../../kernel/platform/text.ts";
import { type Address, type BoughtServices, isZipCode, type ShipMethod, usStateOf } from "../../pricing/pricing.ts";
import type { OrderFormField } from "../schemas.ts";
import { isCostlyNumber, normalizeFaxNumber } from "./fax-number.ts";
import { type Fields, fieldsOf } from "./fields.ts";
import { byMember, type SenderTexts, senderTexts } from "./sender-texts.ts";
import { parseSigning, type SigningForm } from "./signers.ts";

/**
 * The catalog's rules for a form: the services of each document, and the US states where remote notarization is
 * blocked.
 */
export type FormRules = {
  catalogRow: (slug: string) => { sign: boolean; notarize: boolean; esignExcluded: string | null } | null;
  notarizationBlocked: (state: string) => boolean;
};

/** A valid order form, normalized (contract, table for creating orders). */
export type OrderForm = SenderTexts & {
  email: string;
  name: string | null;
  fillToken: string | null;
  docSlug: string | null;
  services: BoughtServices;
  signerState: string | null;
  destState: string | null;
  shipTo: Address | null;
  shipFrom: Address | null;
  shipMethod: ShipMethod | null;
  faxTo: string | null;
  createCheckout: boolean;
  /** The payer. If the firm pays, the client gets no information about money. */
  payBy: Payer;
  signing: SigningForm;
};

export const payers = ["client", "firm"] as const;
/** The payer of an order. A checkout pays only orders of one payer. */
export type Payer = (typeof payers)[number];

/**
 * Checks an order form against the contract's table for creating orders.
 * @param hasDocument whether a `document` part was sent
 * @throws ServiceError `validation`, naming the field and the rule
 */
export function parseOrderForm(values: ReadonlyMap<string, string>, hasDocument: boolean, rules: FormRules): OrderForm {
  const fields = fieldsOf(values);
  const email = fields.required("email", 254);
  if (!isEmail(email)) throw invalidAt("email", "must be an email address.");
  if (!fields.flag("byod_confirmed"))
    throw invalidAt(
      "byod_confirmed",
      "is required: send true or on to attest that the document is the client's own completed document.",
    );
  const fillToken = documentSource(fields, hasDocument);
  const docSlug = fields.optional("doc_slug", 100);
  const row = docSlug === null ? null : rules.catalogRow(docSlug);
  if (docSlug !== null && row === null) throw invalidAt("doc_slug", "is not a document of the catalog.");
  const faxTo = faxNumber(fields);
  const [signAsked, notaryAsked] = [fields.flag("svc_sign"), fields.flag("svc_notary")];
  if (signAsked && row?.esignExcluded)
    throw invalidAt(
      "svc_sign",
      `must be left out: this document can't be signed electronically (${row.esignExcluded}).`,
    );
  const ship = fields.flag("svc_ship");
  const services = {
    sign: row ? row.sign : signAsked,
    notarize: row ? row.notarize : notaryAsked,
    ship,
    fax: faxTo !== null,
  };
  const signerState = state(fields, "signer_state");
  if (services.notarize && signerState !== null && rules.notarizationBlocked(signerState))
    throw invalidAt("signer_state", `${signerState} is blocked: remote notarization is not recognized there.`);
  const name = fields.optional("name", 200);
  return {
    email,
    name,
    fillToken,
    docSlug,
    services,
    signerState,
    destState: state(fields, "dest_state"),
    ...byMember((name) => fields.exact(name, senderTexts[name].maxLength)),
    shipTo: ship ? address(fields, "ship", " when svc_ship is set") : null,
    shipFrom: senderAddress(fields),
    shipMethod: ship ? (values.get("ship_method")?.trim() === "print_mail" ? "print_mail" : "label") : null,
    faxTo,
    createCheckout: fields.flag("create_checkout"),
    payBy: payer(fields),
    signing: parseSigning(values, fields, { client: { name, email }, services }),
  };
}

function documentSource(fields: Fields, hasDocument: boolean): string | null {
  const token = fields.optional("fill_token", 200);
  if (token !== null && hasDocument)
    throw invalidAt("document", "and fill_token exclude each other: send one of them.");
  if (token === null && !hasDocument) throw invalidAt("document", "or fill_token is required: send one of them.");
  if (token !== null && !isCode(token)) throw invalidAt("fill_token", "must be 40 lowercase hex characters.");
  return token;
}

function payer(fields: Fields): Payer {
  const text = fields.optional("pay_by", 20) ?? "client";
  const named = payers.find((each) => each === text);
  if (!named) throw invalidAt("pay_by", "must be client or firm.");
  return named;
}

/**
 * The fax number of an order form, as E.164; null when the form has none.
 * @throws ServiceError naming the rule
 */
export function faxNumber(fields: Fields): string | null {
  const text = fields.optional("fax_to", 40);
  const number = text === null ? null : normalizeFaxNumber(text);
  if (text !== null && number === null)
    throw invalidAt("fax_to", "must be a 10-digit US number or an international number in +country form.");
  if (number !== null && isCostlyNumber(number))
    throw invalidAt("fax_to", "must not be a premium-rate (+1 900, 976) or satellite (+870, +881 to +883) number.");
  return number;
}

function state(fields: Fields, name: OrderFormField): string | null {
  const text = fields.optional(name, 100);
  if (text === null) return null;
  const code = usStateOf(text);
  if (code === null) throw invalidAt(name, "must be a US state of exactly 2 characters.");
  return code;
}

/**
 * Reads an address from the form fields whose names begin with the prefix.
 * @throws ServiceError naming the field and the rule
 */
export function address(fields: Fields, prefix: "ship" | "from", when: string): Address {
  const part = (name: "name" | "line1" | "city" | "state" | "postal", maxLength: number) =>
    fields.required(`${prefix}_${name}`, maxLength, when);
  const found: Address = {
    name: part("name", 200),
    line1: part("line1", 200),
    line2: fields.optional(`${prefix}_line2`, 200),
    city: part("city", 100),
    state: "",
    postal: "",
  };
  part("state", 100);
  found.state = state(fields, `${prefix}_state`) ?? "";
  found.postal = part("postal", 20);
  if (!isZipCode(found.postal)) throw invalidAt(`${prefix}_postal`, "must be a US ZIP code: 5 digits, or ZIP+4.");
  return found;
}

const senderFields = ["from_name", "from_line1", "from_line2", "from_city", "from_state", "from_postal"] as const;

/** The sender's address is optional, but must be complete if any of its fields is sent. */
function senderAddress(fields: Fields): Address | null {
  const hasSender = senderFields.some((name) => fields.optional(name, 200) !== null);
  return hasSender ? address(fields, "from", " when a sender address is given") : null;
}

/**
 * Values that replace refused fields, so that the fields after them can still be checked. An empty text leaves the
 * field out.
 */
const standIns: Readonly<Record<string, string>> = {
  email: "client@example.com",
  byod_confirmed: "true",
  ...Object.fromEntries(
    ["ship", "from"].flatMap((prefix) => [
      [`${prefix}_name`, "Name"],
      [`${prefix}_line1`, "1 Main Street"],
      [`${prefix}_line2`, ""],
      [`${prefix}_city`, "City"],
      [`${prefix}_state`, "NY"],
      [`${prefix}_postal`, "10001"],
    ]),
  ),
};

const signing = ["signers", "signer_auth", "fields"];

/**
 * Checks a whole order form and collects all refusals.
 * @returns the refusals, each of which starts with its field; and the form with refused fields replaced, or null when
 * it still can't be read
 */
export function readWhole(
  values: ReadonlyMap<string, string>,
  hasDocument: boolean,
  rules: FormRules,
): { refusals: string[]; form: OrderForm | null } {
  const refusals: string[] = [];
  const left = new Map(values);
  const replaced = new Set<string>();
  let isDocumentSent = hasDocument;
  for (;;) {
    try {
      return { refusals, form: parseOrderForm(left, isDocumentSent, rules) };
    } catch (error) {
      if (!(error instanceof ServiceError) || error.at === null) throw error;
      const [field = ""] = error.at.split(/[.[]/, 1);
      // The replacement was also refused, so the remaining fields can't be checked.
      if (replaced.has(field)) return { refusals, form: null };
      replaced.add(field);
      refusals.push(error.message);
      if (field === "document" || field === "fill_token") {
        left.delete("fill_token");
        isDocumentSent = true;
      } else for (const name of signing.includes(field) ? signing : [field]) left.set(name, standIns[name] ?? "");
    }
  }
}
