import type { Owner } from "../../../kernel/identity/identity.ts";
import { invalidAt } from "../../../kernel/platform/errors.ts";
import { isEmail } from "../../../kernel/platform/mail/email.ts";
import type { RowMac } from "../../../kernel/platform/row-mac.ts";
import { slowHash } from "../../../kernel/platform/slow-hash.ts";
import type { BoughtServices } from "../../pricing/pricing.ts";
import type { OrderFormField } from "../schemas.ts";
import { isCostlyNumber, normalizeFaxNumber } from "./fax-number.ts";
import type { Fields } from "./fields.ts";
import { jsonList, type Members, membersOf } from "./json-list.ts";
import type { RequestedField } from "./requested-field.ts";
import { parseRequestedFields } from "./requested-fields.ts";
import { maxSigners, replacementSchema, signerAuths, signerLanguages, signerSchema } from "./signing-schemas.ts";

export type SignerAuth = (typeof signerAuths)[number];

export type OrderSigner = {
  readonly name: string;
  readonly email: string;
  /** The phone number as E.164. */
  readonly phone: string | null;
  /**
   * The signer's turn, counted from 1. Signers with the same number sign in parallel, after those with lower numbers.
   */
  readonly routing: number;
  readonly auth: SignerAuth;
  /** The salted hash of the code for the method `access_code`; null for other methods. */
  readonly accessCodeHash: string | null;
  readonly language: (typeof signerLanguages)[number];
};

/** A signer as sent in the form. It contains the access code itself, which is never stored. */
export type NamedSigner = Omit<OrderSigner, "accessCodeHash"> & { readonly accessCode: string | null };

/**
 * The salted hash of a signer's access code; null without a code. The salt depends on the firm and the person, so the
 * same code for the same person has the same hash, until SECRETS_KEY changes. So the service can tell that a signer has
 * one code for several documents of a closing. Without the service's key, nobody can compute a salt.
 */
export async function accessCodeHashOf(
  rowMac: RowMac,
  { partnerId, environment }: Owner,
  { name, email, accessCode }: Pick<NamedSigner, "name" | "email" | "accessCode">,
): Promise<string | null> {
  if (accessCode === null) return null;
  const person = { partnerId, environment, name: name.trim().normalize("NFC"), email: email.trim().toLowerCase() };
  return slowHash(accessCode, rowMac.of("access_code_salt", person));
}

/**
 * The client as the only signer, for an order that names no signers. A client without a name gets the email address as
 * the name.
 */
const clientAsSigner = (client: { name: string | null; email: string }, auth: SignerAuth = "link") => ({
  name: client.name ?? client.email,
  email: client.email,
  phone: null,
  routing: 1,
  auth,
  language: "en" as const,
});

/**
 * The signers of an order, in the sequence of their numbers. If the order names none, the client is the only signer.
 */
export const signersOf = (order: {
  signers: readonly OrderSigner[] | null;
  customerName: string | null;
  customerEmail: string;
}): readonly OrderSigner[] =>
  order.signers ?? [
    { ...clientAsSigner({ name: order.customerName, email: order.customerEmail }), accessCodeHash: null },
  ];

/** Reads the form's `signer_auth`, the way to identify signers. @throws ServiceError */
function parseSignerAuth(text: string | null): SignerAuth | null {
  const auth = signerAuths.find((each) => each === text) ?? null;
  if (text !== null && auth === null) throw invalidAt("signer_auth", `must be one of ${signerAuths.join(", ")}.`);
  return auth;
}

/**
 * Reads the form's `signers`. Two people may share a mailbox, so a signer is identified by name and email address
 * together.
 * @param auth how to identify signers for whom the form doesn't say it
 * @throws ServiceError naming the member and the rule
 */
export function parseSigners(text: string, auth: SignerAuth): NamedSigner[] {
  const rules = { max: maxSigners, schema: signerSchema };
  const defaults = { auth, language: "en" } as const;
  const signers = jsonList("signers", text, rules, (members, at) => readSigner(members, at, defaults));
  refuseRepeated(signers);
  return signers;
}

/** The values for members that the JSON body leaves out. */
export type SignerDefaults = Pick<NamedSigner, "auth" | "language">;

/** Reads the person who replaces a signer, from a JSON body. @throws ServiceError naming the member and the rule */
export const parseReplacement = (body: unknown, defaults: SignerDefaults): NamedSigner =>
  readSigner(membersOf(body, "signer", Object.keys(replacementSchema.properties)), "signer", defaults);

type SignerMember = keyof typeof signerSchema.properties;

function readSigner(members: Members<SignerMember>, at: string, defaults: SignerDefaults): NamedSigner {
  const email = members.required("email", 254);
  if (!isEmail(email)) throw invalidAt(`${at}.email`, "must be an email address.");
  const auth = members.oneOf("auth", signerAuths) ?? defaults.auth;
  return {
    name: members.required("name", 200),
    email,
    phone: phoneOf(members.text("phone", 40), auth, at),
    routing: members.whole("routing", 1, 10) ?? 1,
    auth,
    accessCode: accessCodeOf(members.text("access_code", 64), auth, at),
    language: members.oneOf("language", signerLanguages) ?? defaults.language,
  };
}

function phoneOf(text: string | null, auth: SignerAuth, at: string): string | null {
  const phone = text === null ? null : normalizeFaxNumber(text);
  if (text !== null && phone === null)
    throw invalidAt(`${at}.phone`, "must be a 10-digit US number or an international number in +country form.");
  if (auth !== "text_code") return phone;
  if (phone === null) throw invalidAt(`${at}.phone`, "is required when auth is text_code.");
  if (isCostlyNumber(phone)) throw invalidAt(`${at}.phone`, "must not be a premium-rate or satellite number.");
  return phone;
}

function accessCodeOf(code: string | null, auth: SignerAuth, at: string): string | null {
  if (auth !== "access_code") {
    if (code !== null) throw invalidAt(`${at}.access_code`, "must be left out unless auth is access_code.");
    return null;
  }
  if (code === null) throw invalidAt(`${at}.access_code`, "is required when auth is access_code.");
  if ([...code].length < 4) throw invalidAt(`${at}.access_code`, "must have at least 4 characters.");
  return code;
}

function refuseRepeated(signers: readonly NamedSigner[]): void {
  const seen = new Map<string, number>();
  for (const [index, { name, email }] of signers.entries()) {
    const person = JSON.stringify([name.toLowerCase(), email.toLowerCase()]);
    const first = seen.get(person);
    if (first !== undefined)
      throw invalidAt(`signers[${index}]`, `must be another person than signers[${first}]: give each person once.`);
    seen.set(person, index);
  }
}

/** The part of the form that is about signing. */
export type SigningForm = {
  /** The signers. Null for the client alone, who is identified by the mailed link. */
  readonly signers: readonly NamedSigner[] | null;
  /** The requested fields. Null to use the fields and tags in the document itself or, without any, an added page. */
  readonly signatureFields: readonly RequestedField[] | null;
};

const nothing: SigningForm = { signers: null, signatureFields: null };
const names = ["signers", "fields", "signer_auth"] as const satisfies readonly OrderFormField[];

/**
 * Reads the part of the form that is about signing.
 * @param values the form as sent
 * @param client the signer when the form names none
 * @throws ServiceError naming the field and the rule
 */
export function parseSigning(
  values: ReadonlyMap<string, string>,
  fields: Fields,
  { client, services }: { client: { name: string | null; email: string }; services: BoughtServices },
): SigningForm {
  const [signersText, fieldsText] = [textOf(values, "signers"), textOf(values, "fields")];
  const auth = parseSignerAuth(fields.optional("signer_auth", 20));
  const sentName = names.find((name) => textOf(values, name) !== null);
  if (sentName === undefined) return nothing;
  if (!services.sign && (!services.notarize || auth !== null))
    throw invalidAt(auth === null ? sentName : "signer_auth", "must be left out unless signing is bought.");
  const signers = signersText === null ? clientAlone(client, auth) : parseSigners(signersText, auth ?? "link");
  if (!services.sign) requireAtNotary(signers ?? []);
  const requested =
    fieldsText === null ? null : parseRequestedFields(fieldsText, signers?.map(({ routing }) => routing) ?? [1]);
  return { signers, signatureFields: requested };
}

/**
 * If signing is not bought, people sign only in a notary's presence. The notary identifies them, and they sign in the
 * sequence of the list, so `auth` and `routing` are refused.
 */
function requireAtNotary(signers: readonly NamedSigner[]): void {
  for (const [index, { auth, routing }] of signers.entries()) {
    const member = auth !== "link" ? "auth" : "routing";
    if (auth !== "link" || routing !== 1)
      throw invalidAt(`signers[${index}].${member}`, "must be left out unless signing is bought.");
  }
}

function textOf(values: ReadonlyMap<string, string>, name: OrderFormField): string | null {
  const text = values.get(name) ?? "";
  return text.trim() === "" ? null : text;
}

/**
 * The client as the only signer, for a form that names no signers.
 * @returns null when the form leaves the way to identify the client at its default
 */
function clientAlone(client: { name: string | null; email: string }, auth: SignerAuth | null): NamedSigner[] | null {
  if (auth === null) return null;
  if (auth === "access_code" || auth === "text_code")
    throw invalidAt("signers", `is required when signer_auth is ${auth}.`);
  return [{ ...clientAsSigner(client, auth), accessCode: null }];
}
