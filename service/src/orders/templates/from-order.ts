import type { Owner } from "../../kernel/identity/identity.ts";
import { invalid } from "../../kernel/platform/errors.ts";
import { isCode } from "../../kernel/platform/text.ts";
import { type CopiedParts, type OrderDeps, type RequestedField, readCopiedParts } from "../order/order.ts";
import type { FormField, TemplateContent } from "./content.ts";

/** The content of a template made from one of the firm's orders. The people of the order become roles. */
export async function orderContent(
  deps: Pick<OrderDeps, "db" | "rowMac">,
  owner: Owner,
  code: string,
): Promise<{ name: string; content: TemplateContent; sha256: string; blobKey: string }> {
  const order = isCode(code) ? await readCopiedParts(deps, owner, code) : undefined;
  if (!order) throw invalid("order is not one of your orders in this environment.");
  if (!order.document) throw invalid("order has no document any more: send document.");
  return { name: "", content: contentOf(order), ...order.document };
}

function contentOf({ signers, fields, docSlug, shipMethod, ...bought }: CopiedParts): TemplateContent {
  const services = {
    ...(docSlug !== null && { doc_slug: docSlug }),
    ...(bought.sign && { svc_sign: "true" }),
    ...(bought.notarize && { svc_notary: "true" }),
    ...(bought.ship && { svc_ship: "true" }),
    ...(bought.ship && shipMethod !== null && { ship_method: shipMethod }),
  };
  if (!bought.sign) return { roles: [], fields: null, services, message: null };
  const roles = signers.map(({ routing, auth, language }, index) => ({
    name: signers.length === 1 ? "Signer" : `Signer ${index + 1}`,
    routing,
    auth,
    language,
  }));
  return { roles, fields: fields?.map(formFieldOf) ?? null, services, message: null };
}

/**
 * Turns a field of an order into a template's field. The value is left out, because it belongs to that order. Only a
 * read-only field keeps its value.
 */
export function formFieldOf(field: RequestedField): FormField {
  const { readOnly, value, options, label, format, showWhen, choices, ...rest } = field;
  const isSpread = field.kind === "radio" || field.kind === "multiple";
  const { x, y, width, height, ...unplaced } = rest;
  return {
    ...(isSpread ? unplaced : { ...unplaced, x, y, width, height }),
    ...(label !== null && { label }),
    ...(showWhen && { show_when: showWhen }),
    ...choices,
    ...(format !== undefined && { format: typeof format === "object" ? numberFormat(format) : format }),
    ...(options && { options: options.map(({ label: text, place }) => ({ label: text, ...place })) }),
    ...(readOnly && { read_only: true, value: field.kind === "checkbox" ? value === "On" : value }),
  };
}

const numberFormat = ({ min, max, ...rest }: Exclude<RequestedField["format"], string | undefined>): object => ({
  ...rest,
  ...(min !== undefined && { min: Number(min) }),
  ...(max !== undefined && { max: Number(max) }),
});
