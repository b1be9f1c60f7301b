import { invalid } from "../../kernel/platform/errors.ts";
import { shownText } from "../../kernel/platform/text.ts";
import { orderFormSchema } from "../order/order.ts";
import type { TemplateContent } from "../templates/templates.ts";

/** The part of an order form that a column of the file fills. */
type Column =
  | { readonly field: string }
  | { readonly role: string; readonly member: string }
  | { readonly value: string; readonly isCheck: boolean };

const people = ["name", "email", "phone", "access_code", "language"];
/** Fields of the order form that a row can't set, because the whole bulk or its template sets them. */
const excluded = [
  "document",
  "fill_token",
  "signers",
  "fields",
  "signer_auth",
  "svc_sign",
  "svc_notary",
  "doc_slug",
  "template",
  "template_version",
  "roles",
  "values",
  "other_document",
  "create_checkout",
];
const orderFields = Object.keys(orderFormSchema.properties).filter((name) => !excluded.includes(name));

/**
 * The form fields that apply to every row of a bulk.
 * @throws ServiceError for a field that can't be set for a whole bulk
 */
export function commonFields(sent: ReadonlyMap<string, string>): Map<string, string> {
  const own = ["template", "template_version"];
  for (const name of sent.keys())
    if (!own.includes(name) && !orderFields.includes(name))
      throw invalid(`${shownText(name)} is not a field of a bulk.`);
  return new Map([...sent].filter(([name]) => !own.includes(name)));
}

/**
 * Parses the column names: a field of the order form, `Role.member`, or `values.Label`.
 * @throws ServiceError naming an unknown column, or a role without the columns that it needs
 */
export function columnsOf(names: readonly string[], { roles, fields }: TemplateContent): Column[] {
  const columns = names.map((name): Column => {
    if (orderFields.includes(name)) return { field: name };
    if (name.startsWith("values.")) {
      const label = name.slice("values.".length);
      const found = fields?.find((field) => field["label"] === label);
      if (found) return { value: label, isCheck: found["kind"] === "checkbox" };
    }
    const dot = name.lastIndexOf(".");
    const [role, member] = [name.slice(0, dot), name.slice(dot + 1)];
    if (roles.some((each) => each.name === role) && people.includes(member)) return { role, member };
    throw invalid(
      `file has the column ${shownText(name)}, which is not a field of an order, and neither Role.email nor values.Label of the template.`,
    );
  });
  for (const { name } of roles)
    for (const member of ["name", "email"])
      if (!columns.some((column) => "role" in column && column.role === name && column.member === member))
        throw invalid(`file must have the column ${name}.${member}.`);
  return columns;
}

const yes = /^(?:true|yes|x|1|on)$/i;

/**
 * The order form of a row. An empty cell is treated as absent. If neither the row nor the whole bulk names the client,
 * the person in the first role is the client.
 */
export function rowForm(
  columns: readonly Column[],
  cells: readonly string[],
  common: ReadonlyMap<string, string>,
  { roles }: TemplateContent,
): Map<string, string> {
  const form = new Map(common);
  const persons: Record<string, Record<string, string>> = Object.fromEntries(roles.map(({ name }) => [name, {}]));
  const values: Record<string, string | boolean> = {};
  for (const [index, column] of columns.entries()) {
    const text = cells[index]?.trim() ?? "";
    if (text === "") continue;
    if ("field" in column) form.set(column.field, text);
    else if ("role" in column) persons[column.role] = { ...persons[column.role], [column.member]: text };
    else values[column.value] = column.isCheck ? yes.test(text) : text;
  }
  const first = persons[roles[0]?.name ?? ""];
  if (!form.has("email") && first?.["email"] !== undefined) form.set("email", first["email"]);
  if (!form.has("name") && first?.["name"] !== undefined) form.set("name", first["name"]);
  if (roles.length > 0) form.set("roles", JSON.stringify(persons));
  if (Object.keys(values).length > 0) form.set("values", JSON.stringify(values));
  return form;
}
