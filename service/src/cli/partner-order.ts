import { basename } from "node:path";
import type { CreatedOrder, OrderFields, OrderSummary } from "@signsealship/sdk";
import { readDocument } from "./document.ts";
import { ask, type Partner, partnerOf, partnerOptions } from "./partner-api.ts";
import { lines, type Options, textOption, UsageError, type Values, type Verb } from "./verb.ts";

/** The flags that are fields of the order form, and the fields. */
const fieldOf = {
  email: "email",
  name: "name",
  "fill-token": "fill_token",
  reference: "external_reference",
  "doc-slug": "doc_slug",
  "signer-state": "signer_state",
  fax: "fax_to",
  "byod-confirmed": "byod_confirmed",
  sign: "svc_sign",
  notarize: "svc_notary",
  ship: "svc_ship",
  checkout: "create_checkout",
} as const;

const options = {
  ...partnerOptions,
  document: { type: "string", help: "FILE: the client's completed PDF, at most 35 MB." },
  "fill-token": { type: "string", help: "In place of --document: a document completed online." },
  email: { type: "string", help: "The client's mail address." },
  name: { type: "string", help: "The client's name." },
  "byod-confirmed": {
    type: "boolean",
    help: "Attests that the document is the client's own completed document. Required.",
  },
  sign: { type: "boolean", help: "Have it signed electronically." },
  notarize: { type: "boolean", help: "Have it notarized online." },
  "signer-state": { type: "string", help: "The US state where the signer is, 2 letters." },
  ship: {
    type: "boolean",
    help: "Have it shipped; with it --field ship_name=... ship_line1 ship_city ship_state ship_postal.",
  },
  fax: { type: "string", help: "NUMBER to fax it to: 10 digits in the US, or +country." },
  "doc-slug": { type: "string", help: "A document of the catalog; it decides signing and notarization." },
  reference: { type: "string", help: "Your own reference, echoed." },
  checkout: { type: "boolean", help: "Also mint the hosted checkout, and print its address." },
  field: { type: "string", multiple: true, help: "name=value: any field of the order form, as often as wanted." },
  "idempotency-key": { type: "string", help: "Sent again with the same key, the order is placed once." },
} as const satisfies Options;

/** The order form from the flags. @throws UsageError naming the flag */
function formOf(values: Values): Record<string, string> {
  const form: Record<string, string> = {};
  for (const [flag, field] of Object.entries(fieldOf)) {
    const value = values[flag];
    if (value !== undefined) form[field] = String(value);
  }
  for (const text of [values["field"] ?? []].flat()) {
    const [, name, value] = /^([A-Za-z]\w*)=(.*)$/s.exec(String(text)) ?? [];
    if (name === undefined || value === undefined) throw new UsageError(`--field must be name=value, not ${text}`);
    if (name in form) throw new UsageError(`--field ${name} was given already`);
    form[name] = value;
  }
  if (form["email"] === undefined) throw new UsageError("--email is required: the client's mail address");
  if (form["byod_confirmed"] === undefined)
    throw new UsageError(
      "--byod-confirmed is required: it attests that the document is the client's own completed one",
    );
  return form;
}

const flagOf = (form: Record<string, string>) => (field: string) => {
  if (field === "document") return "--document";
  const [flag] = Object.entries(fieldOf).find(([, each]) => each === field) ?? [];
  if (flag !== undefined) return `--${flag}`;
  return field in form || /^(ship|from)_/.test(field) ? `--field ${field}` : null;
};

const dollars = (cents: number) => `$${(cents / 100).toFixed(2)}`;

function createdText(order: CreatedOrder, { baseUrl }: Partner): string {
  const { orderCode, orderUrl, status, externalReference: reference, checkoutUrl, warnings = [] } = order;
  const shown = { order: orderCode, page: baseUrl + orderUrl, status, reference, checkout: checkoutUrl };
  const given = Object.fromEntries(Object.entries(shown).filter(([, value]) => value !== null));
  const rows = order.lines.map(({ label, amountCents }) => `  ${dollars(amountCents).padStart(10)}  ${label}`);
  const discount = order.discountCents > 0 ? [`  ${dollars(-order.discountCents).padStart(10)}  Discount`] : [];
  const total = `  ${dollars(order.totalCents).padStart(10)}  Total`;
  return [lines(given), ...rows, ...discount, total, ...warnings.map((text) => `warning: ${text}`)].join("\n");
}

export const createOrder: Verb = {
  name: "order create",
  args: [],
  flags:
    "--key KEY --document FILE --email MAIL --byod-confirmed [--sign] [--notarize] [--ship] [--fax NUMBER] [--field name=value]...",
  options,
  summary: "Places an order with a partner key, at a service over HTTP; with a test key nothing leaves the sandbox.",
  examples: [
    "order create --key svc_pk_test_... --document deed.pdf --email client@example.com --byod-confirmed --sign",
    "order create --key svc_pk_test_... --document deed.pdf --email client@example.com --byod-confirmed --ship --field ship_name='Jane Roe' --field ship_line1='350 Fifth Avenue' --field ship_city='New York' --field ship_state=NY --field ship_postal=10118",
    "order create --base-url https://sign.example.com --document deed.pdf --email client@example.com --byod-confirmed --notarize --signer-state TX --checkout --json",
  ],
  async run(_args, values) {
    const partner = partnerOf(values);
    const form = formOf(values);
    const path = textOption(values, "document");
    if ((path === undefined) === (form["fill_token"] === undefined))
      throw new UsageError("either --document or --fill-token is required");
    const pdf = path === undefined ? null : { pdf: await readDocument(path), fileName: basename(path) };
    const idempotencyKey = textOption(values, "idempotency-key");
    // Names and values as they were given: what is wrong with them the service knows best.
    const fields = form as unknown as OrderFields;
    const create = ({ orders }: Partner["client"]) => orders.create(fields, pdf, { idempotencyKey });
    const order = await ask(partner, create, flagOf(form));
    return { json: order, text: createdText(order, partner) };
  },
};

const summaryLine = ({ orderCode, status, createdAt, services, customerEmail, externalReference }: OrderSummary) =>
  `${orderCode}  ${status}  ${createdAt}  ${services || "-"}  ${customerEmail}  ${externalReference ?? ""}`.trimEnd();

/** `order list` with a partner key: the partner's own orders, of the key's environment. */
export async function listOwnOrders(values: Values) {
  const other = ["partner", "test"].find((flag) => values[flag] !== undefined);
  if (other) throw new UsageError(`--${other} is the operator's: with --key the list is of the key's own orders`);
  const query = {
    status: textOption(values, "status"),
    externalReference: textOption(values, "reference"),
    cursor: textOption(values, "after"),
    limit: 100,
  };
  const flags = (field: string) =>
    ({ cursor: "--after", external_reference: "--reference", status: "--status" })[field];
  const { orders, nextCursor } = await ask(
    partnerOf(values),
    (client) => client.orders.list(query),
    (field) => flags(field) ?? null,
  );
  const more = nextCursor === null ? [] : [`More: --after ${nextCursor}`];
  return { json: { orders, nextCursor }, text: [...orders.map(summaryLine), ...more].join("\n") };
}
