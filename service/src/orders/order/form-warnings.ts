import { unknownFields } from "../../kernel/platform/nearest-name.ts";
import { shownText } from "../../kernel/platform/text.ts";
import type { BoughtServices } from "../pricing/pricing.ts";
import { serviceFlags } from "./services.ts";

/** `version` is null for the latest version of the template. */
export type UnusedTemplate = { templateId: string; version: number | null };

export const unusedWords = ({ templateId, version }: UnusedTemplate): string =>
  `The document was filled in from your template ${templateId}: send it as template${version === null ? "" : `, and ${version} as template_version,`} to use its fields and roles.`;

/** `docSlug`: the catalog document whose catalog row set `sign` and `notarize`; null for none. */
type Bought = BoughtServices & { docSlug: string | null };

/** Warnings about fields that do not mean what their sender may expect. The form itself is valid. */
export function formWarnings(
  sent: ReadonlyMap<string, string>,
  { properties }: { properties: object },
  bought: Bought,
): string[] {
  return [
    ...unknownFields(sent.keys(), Object.keys(properties)).map(withFaxHint),
    ...overruled(sent, bought),
    ...shippingWarnings(sent, Object.keys(properties), bought),
    ...(serviceFlags(bought) === "" ? [withoutService(sent, bought)] : []),
  ];
}

/**
 * Adds a hint to the warning about `svc_fax`, which is a field of price estimates only. No order field has a similar
 * name that the warning could suggest.
 */
const withFaxHint = (warning: string): string =>
  warning.startsWith("svc_fax ") ? `${warning} An order is faxed when it has a number in fax_to.` : warning;

const hasText = (sent: ReadonlyMap<string, string>, name: string): boolean => (sent.get(name) ?? "").trim() !== "";

const isOn = (sent: ReadonlyMap<string, string>, name: string): boolean =>
  ["true", "on"].includes(sent.get(name) ?? "");

function overruled(sent: ReadonlyMap<string, string>, { sign, notarize, docSlug }: Bought): string[] {
  const left = [
    ...(isOn(sent, "svc_sign") && !sign ? [["svc_sign", "signed"]] : []),
    ...(isOn(sent, "svc_notary") && !notarize ? [["svc_notary", "notarized"]] : []),
  ];
  return left.map(
    ([name, what]) => `${name} was ignored: the catalog decides the services of ${docSlug}, and it is not ${what}.`,
  );
}

function shippingWarnings(
  sent: ReadonlyMap<string, string>,
  fieldNames: readonly string[],
  { ship }: BoughtServices,
): string[] {
  const names = fieldNames.filter((name) => name.startsWith("ship_") && hasText(sent, name));
  if (!ship && names.length > 0)
    return [`Nothing is shipped without svc_ship, and these fields were ignored: ${names.join(", ")}.`];
  const method = sent.get("ship_method")?.trim() ?? "";
  if (["", "label", "print_mail"].includes(method)) return [];
  return [`ship_method ${shownText(method)} is neither label nor print_mail, and was read as label.`];
}

function withoutService(sent: ReadonlyMap<string, string>, { docSlug }: Bought): string {
  const ending = "neither svc_ship nor fax_to was sent: the price is the workflow fee alone.";
  if (docSlug !== null)
    return `No service was chosen. The catalog says that ${docSlug} is neither signed nor notarized, and ${ending}`;
  if (hasText(sent, "template"))
    return `No service was chosen. The template is neither signed nor notarized, and ${ending}`;
  return "No service was chosen (svc_sign, svc_notary, svc_ship, fax_to, doc_slug): the price is the workflow fee alone.";
}
