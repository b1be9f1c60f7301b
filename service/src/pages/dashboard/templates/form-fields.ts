/** The names of the template form's inputs, and the API fields that result from them. */
import { wholeNumberIn } from "../../../kernel/platform/text.ts";
import { acceptsValue, type RequestedField } from "../../../orders/order/order.ts";
import type { TemplateContent, TemplateVersion } from "../../../orders/templates/templates.ts";
import type { FormValues } from "../../ui/forms/form-body.ts";

const maxRoles = 10;

/** The inputs in one row of the template form. Each row describes one role. */
export type RoleValues = { name: string; auth: string; language: string; routing: string };

export const roleField = (row: number, member: string): string => `role${row}_${member}`;

/**
 * The rows of the template form: one more than the template's roles, but 3 to 10. Values of a sent form replace those
 * of the template.
 */
export function roleRows(content: TemplateContent | null, values: FormValues | undefined): RoleValues[] {
  const roles = content?.roles ?? [];
  const room = Math.min(Math.max(roles.length + 1, 3), maxRoles);
  return Array.from({ length: room }, (_, index) => {
    const role = roles[index];
    const typed = (member: string, usual: string) => values?.[roleField(index + 1, member)] ?? usual;
    return {
      name: typed("name", role?.name ?? ""),
      auth: typed("auth", role?.auth ?? "link"),
      language: typed("language", role?.language ?? "en"),
      routing: typed("routing", String(role?.routing ?? 1)),
    };
  });
}

/** The form in the API's format: `roles` instead of the rows. */
export function withRoles(fields: ReadonlyMap<string, string>): Map<string, string> {
  const own = /^(?:role\d+_\w+|submission|environment|from_version)$/;
  const rest = [...fields].filter(([name]) => !own.test(name));
  const at = (row: number, member: string) => fields.get(roleField(row, member))?.trim() ?? "";
  const rows = Array.from({ length: maxRoles }, (_, index) => index + 1).filter((row) => at(row, "name") !== "");
  if (rows.length === 0) return new Map(rest);
  const roles = rows.map((row) => {
    const routing = at(row, "routing");
    // A turn (`routing`) that is not a number stays text, and the rules of `roles` then reject it.
    return {
      name: at(row, "name"),
      routing: wholeNumberIn(routing, 0, 99) ?? (routing || null),
      auth: at(row, "auth") || null,
      language: at(row, "language") || null,
    };
  });
  return new Map([...rest, ["roles", JSON.stringify(roles)]]);
}

const personMembers = ["name", "email", "access_code", "phone"] as const;
export type PersonMember = (typeof personMembers)[number];

export const personField = (index: number, member: PersonMember): string => `person${index + 1}_${member}`;
export const valueField = (index: number): string => `value${index + 1}`;

/**
 * The fields to which an order can give a value. Fields with the same label get the same value, so only the first of
 * them is listed.
 */
export function valueLabels(requested: readonly RequestedField[]): RequestedField[] {
  const seen = new Set<string>();
  return requested.filter((field) => {
    const { label } = field;
    if (label === null || !acceptsValue(field) || seen.has(label)) return false;
    seen.add(label);
    return true;
  });
}

/** The form of an order in the API's format: `roles` and `values` instead of the inputs. */
export function withPeople(
  fields: ReadonlyMap<string, string>,
  { templateId, version, content }: TemplateVersion,
  labels: readonly RequestedField[],
): Map<string, string> {
  const own = /^(?:person\d+_\w+|value\d+|submission|environment)$/;
  const text = (name: string) => fields.get(name)?.trim() ?? "";
  const roles = Object.fromEntries(
    content.roles.map(({ name }, index) => [
      name,
      Object.fromEntries(
        personMembers.flatMap((member) => {
          const typed = text(personField(index, member));
          return typed === "" ? [] : [[member, typed]];
        }),
      ),
    ]),
  );
  const values = Object.fromEntries(
    labels.flatMap(({ label, kind }, index) => {
      const typed = text(valueField(index));
      if (typed === "" || label === null) return [];
      return [[label, kind === "checkbox" ? typed === "on" : typed]];
    }),
  );
  return new Map([
    ...[...fields].filter(([name]) => !own.test(name)),
    ["template", templateId],
    ["template_version", String(version)],
    ...(content.roles.length > 0 ? [["roles", JSON.stringify(roles)] as const] : []),
    ...(Object.keys(values).length > 0 ? [["values", JSON.stringify(values)] as const] : []),
  ]);
}

const memberWords: Readonly<Record<string, string>> = {
  name: "name",
  email: "email",
  phone: "mobile number",
  access_code: "access code",
};

/** Rewrites an error message of the API for this page, with the labels of inputs instead of the names of API fields. */
export const pageWords = (message: string): string =>
  message
    .replace(
      /^document must be the form of the template: (.*?)\. Send other_document.*$/,
      "This PDF is not the form of the template: $1. Tick the box below the file to use it all the same.",
    )
    .replace(
      /^roles\.(.+)\.(name|email|phone|access_code) /,
      (_all, role, member) => `${role}: the ${memberWords[member]} `,
    )
    .replace(/^roles\.(.+?) (must|is)/, "$1 $2")
    .replace(
      /^roles\[(\d+)\]\.(\w+)/,
      (_all, n, member) => `Role ${Number(n) + 1}: the ${member === "routing" ? "turn" : member}`,
    )
    .replace(/^values\./, "")
    .replace(/^byod_confirmed is required.*$/, "Confirm that this is the client’s own, completed document.")
    .replace(/^roles is required.*$/, "Name at least one role: somebody has to sign.");
