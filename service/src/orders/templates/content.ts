import { invalid } from "../../kernel/platform/errors.ts";
import { isPlainMessage } from "../../kernel/platform/mail/plain-name.ts";
import { shownText } from "../../kernel/platform/text.ts";
import {
  fieldsOf,
  jsonList,
  maxSigners,
  parseRequestedFields,
  type RequestedField,
  requireOrder,
  type SignerAuth,
  signerAuths,
  signerLanguages,
} from "../order/order.ts";
import type { Pricing } from "../pricing/pricing.ts";
import { roleSchema } from "./schemas.ts";

/**
 * A role in a document, such as Buyer. A field's `signer` is the number of its role in the list of roles, counted from
 * 1.
 */
export type TemplateRole = {
  readonly name: string;
  readonly routing: number;
  readonly auth: SignerAuth;
  readonly language: (typeof signerLanguages)[number];
};

/** A field, as an order's form would contain it. */
export type FormField = Readonly<Record<string, unknown>>;

/** The fields of an order form whose values the template always decides. */
export const decided = ["svc_sign", "svc_notary", "doc_slug"] as const;
/** The fields of an order form for which the template has a value that an order may override. */
export const preset = ["svc_ship", "ship_method"] as const;
type ServiceField = (typeof decided)[number] | (typeof preset)[number];

/** Everything that a template version stores, except its document. */
export type TemplateContent = {
  readonly roles: readonly TemplateRole[];
  /** The requested fields. Null to use the fields and tags in the document itself or, without any, an added page. */
  readonly fields: readonly FormField[] | null;
  readonly services: Readonly<Partial<Record<ServiceField, string>>>;
  /** The firm's message to signers in the mail that asks them to sign; null for none. */
  readonly message: string | null;
};

export type NamedContent = { readonly name: string; readonly content: TemplateContent };

type FormName = "name" | "roles" | "fields" | "message" | ServiceField;

const maxNameLength = 120;
const maxRoleLength = 60;
const maxMessageLength = 500;

/**
 * Reads the form fields of a template. A field that is missing keeps its value from the previous version. A field that
 * is empty is cleared, but an empty name is refused. Without signing, earlier roles, fields and message are cleared,
 * and sent ones are refused.
 * @throws ServiceError naming the field and the rule
 */
export function parseContent(
  values: ReadonlyMap<string, string>,
  pricing: Pick<Pricing, "catalogRow">,
  before: NamedContent | null,
): NamedContent {
  const fields = fieldsOf<FormName>(values);
  const sentOrFormer = <Value>(name: FormName, read: () => Value, former: Value): Value =>
    values.has(name) ? read() : former;
  const name =
    sentOrFormer("name", () => fields.required("name", maxNameLength), before?.name ?? null) ??
    fields.required("name", maxNameLength);
  requireOrder("name", name);
  const services = servicesOf(fields, values, before?.content.services ?? {}, pricing);
  const signs = services.svc_sign !== undefined;
  const roles = sentOrFormer("roles", () => parseRoles(values.get("roles") ?? ""), before?.content.roles ?? []);
  if (signs && roles.length === 0) throw invalid("roles is required when the document is signed.");
  const wanted = sentOrFormer(
    "fields",
    () => parseFields(values.get("fields") ?? "", roles),
    before?.content.fields ?? null,
  );
  const message = sentOrFormer(
    "message",
    () => messageOf(fields.optional("message", maxMessageLength)),
    before?.content.message ?? null,
  );
  if (signs) {
    // Checks the fields even if only the roles have changed, because the fields refer to the roles.
    if (wanted !== null) requestedOf(wanted, roles);
    return { name, content: { roles, fields: wanted, services, message } };
  }
  const left = Object.entries({ roles: roles.length > 0, fields: wanted !== null, message: message !== null });
  const unexpected = left.find(([field, isSent]) => isSent && values.has(field));
  if (unexpected)
    throw invalid(`${unexpected[0]} must be left out unless svc_sign is true or the document of doc_slug is signed.`);
  return { name, content: { roles: [], fields: null, services, message: null } };
}

/** Reads a template's fields as an order would. @throws ServiceError */
export const requestedOf = (fields: readonly FormField[], roles: readonly TemplateRole[]): RequestedField[] =>
  parseRequestedFields(
    JSON.stringify(fields),
    roles.map(({ routing }) => routing),
  );

function servicesOf(
  fields: ReturnType<typeof fieldsOf<FormName>>,
  values: ReadonlyMap<string, string>,
  before: TemplateContent["services"],
  { catalogRow }: Pick<Pricing, "catalogRow">,
): TemplateContent["services"] {
  const flag = (name: "svc_sign" | "svc_notary" | "svc_ship") =>
    values.has(name) ? fields.flag(name) : before[name] !== undefined;
  const slug = values.has("doc_slug") ? fields.optional("doc_slug", 100) : (before.doc_slug ?? null);
  const row = slug === null ? null : catalogRow(slug);
  if (slug !== null && row === null) throw invalid("doc_slug is not a document of the catalog.");
  const ship = flag("svc_ship");
  const method = values.has("ship_method") ? fields.optional("ship_method", 20) : (before.ship_method ?? null);
  if (method !== null && method !== "label" && method !== "print_mail")
    throw invalid("ship_method must be label or print_mail.");
  return {
    ...(slug !== null && { doc_slug: slug }),
    ...((row ? row.sign : flag("svc_sign")) && { svc_sign: "true" }),
    ...((row ? row.notarize : flag("svc_notary")) && { svc_notary: "true" }),
    ...(ship && { svc_ship: "true" }),
    ...(ship && method !== null && { ship_method: method }),
  };
}

function parseRoles(text: string): TemplateRole[] {
  if (text.trim() === "") return [];
  const seen = new Set<string>();
  return jsonList("roles", text, { max: maxSigners, schema: roleSchema }, (members, at): TemplateRole => {
    const name = members.required("name", maxRoleLength);
    requireOrder(`${at}.name`, name);
    if (seen.has(name.toLowerCase())) throw invalid(`${at}.name must be unique among the roles.`);
    seen.add(name.toLowerCase());
    return {
      name,
      routing: members.whole("routing", 1, 10) ?? 1,
      auth: members.oneOf("auth", signerAuths) ?? "link",
      language: members.oneOf("language", signerLanguages) ?? "en",
    };
  });
}

function parseFields(text: string, roles: readonly TemplateRole[]): FormField[] | null {
  if (text.trim() === "") return null;
  parseRequestedFields(text, roles.length === 0 ? [1] : roles.map(({ routing }) => routing));
  return JSON.parse(text) as FormField[];
}

function messageOf(text: string | null): string | null {
  if (text !== null && !isPlainMessage(text))
    throw invalid(`message must not contain a web or email address, or characters that hide text: ${shownText(text)}.`);
  return text;
}
