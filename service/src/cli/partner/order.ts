import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { basename } from "node:path";
import type { CreatedOrder, OrderFields, OrderSummary } from "@signsealship/sdk";
import { StartupError } from "../../kernel/platform/errors.ts";
import { dollars } from "../../orders/dollars.ts";
import { defineVerb, lines, type Options, UsageError, type ValuesOf, type Verb } from "../verb.ts";
import { ask, type Partner, partnerOf, partnerOptions } from "./api.ts";
import { readDocument } from "./document.ts";

/** The field of the order form that each flag sets. */
const fieldOf = {
  email: "email",
  name: "name",
  "fill-token": "fill_token",
  reference: "external_reference",
  "doc-slug": "doc_slug",
  template: "template",
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
  document: { type: "string", value: "FILE", help: "FILE: the client's completed PDF, at most 35 MB." },
  "fill-token": { type: "string", value: "TOKEN", help: "In place of --document: a document completed online." },
  email: { type: "string", value: "ADDRESS", required: true, help: "The client's email address." },
  name: { type: "string", help: "The client's name." },
  "byod-confirmed": {
    type: "boolean",
    required: true,
    help: "Attests that the document is the client's own completed document. Required.",
  },
  sign: { type: "boolean", help: "Have it signed electronically." },
  notarize: { type: "boolean", help: "Have it notarized online." },
  "signer-state": { type: "string", value: "STATE", help: "The US state where the signer is, 2 letters." },
  ship: {
    type: "boolean",
    help: "Have it shipped; with it --field ship_name=... ship_line1 ship_city ship_state ship_postal.",
  },
  fax: { type: "string", value: "NUMBER", help: "NUMBER to fax it to: 10 digits in the US, or +country." },
  "doc-slug": {
    type: "string",
    value: "SLUG",
    help: "A document of the catalog; it decides signing and notarization.",
  },
  template: {
    type: "string",
    value: "TEMPLATE_ID",
    help: "TEMPLATE_ID: places it from a template; with it --field roles=JSON, and --field values=JSON.",
  },
  reference: { type: "string", help: "Your own reference, echoed." },
  checkout: { type: "boolean", help: "Also mint the hosted checkout, and print its address." },
  field: {
    type: "string",
    value: "name=value",
    multiple: true,
    help: "name=value: any field of the order form, as often as wanted.",
  },
  "idempotency-key": { type: "string", value: "KEY", help: "Sent again with the same key, the order is placed once." },
} as const satisfies Options;

/** Builds the order form from the flags. @throws UsageError naming the flag */
function formOf(values: ValuesOf<typeof options>): Record<string, string> {
  const form: Record<string, string> = {};
  for (const flag of Object.keys(fieldOf) as (keyof typeof fieldOf)[]) {
    const value = values[flag];
    if (value !== undefined) form[fieldOf[flag]] = String(value);
  }
  for (const text of values.field ?? []) {
    const [, name, value] = /^([A-Za-z]\w*)=(.*)$/s.exec(text) ?? [];
    if (name === undefined || value === undefined) throw new UsageError(`--field must be name=value, not ${text}`);
    if (name in form) throw new UsageError(`--field ${name} was given already`);
    form[name] = value;
  }
  if (form["email"] === undefined) throw new UsageError("--email is required: the client's email address");
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

function createdText(order: CreatedOrder, { baseUrl }: Partner): string {
  const { orderCode, orderUrl, status, externalReference: reference, checkoutUrl, warnings = [] } = order;
  const shown = { order: orderCode, page: baseUrl + orderUrl, status, reference, checkout: checkoutUrl };
  const present = Object.fromEntries(Object.entries(shown).filter(([, value]) => value !== null));
  const rows = order.lines.map(({ label, amountCents }) => `  ${dollars(amountCents).padStart(10)}  ${label}`);
  const discount = order.discountCents > 0 ? [`  ${dollars(-order.discountCents).padStart(10)}  Discount`] : [];
  const total = `  ${dollars(order.totalCents).padStart(10)}  Total`;
  return [lines(present), ...rows, ...discount, total, ...warnings.map((text) => `warning: ${text}`)].join("\n");
}

export const createOrder = defineVerb({
  name: "order create",
  args: [],
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
    const path = values.document;
    const sources = [path, form["fill_token"]].filter((each) => each !== undefined).length;
    if (sources > 1 || (sources === 0 && form["template"] === undefined))
      throw new UsageError("either --document or --fill-token is required");
    const pdf = path === undefined ? null : { pdf: await readDocument(path), fileName: basename(path) };
    const idempotencyKey = values["idempotency-key"];
    // The values are not checked here, because the service's refusals about names and values are more precise.
    const fields = form as unknown as OrderFields;
    const create = ({ orders }: Partner["client"]) => orders.create(fields, pdf, { idempotencyKey });
    const order = await ask(partner, create, flagOf(form));
    return { json: order, text: createdText(order, partner) };
  },
});

const summaryLine = ({ orderCode, status, createdAt, services, customerEmail, externalReference }: OrderSummary) =>
  `${orderCode}  ${status}  ${createdAt}  ${services || "-"}  ${customerEmail}  ${externalReference ?? ""}`.trimEnd();

/** `order list` with a partner key: lists the partner's own orders in the environment (live or test) of the key. */
export async function listOwnOrders(
  values: ValuesOf<typeof listOptions> & { readonly partner?: string | undefined; readonly test?: boolean | undefined },
) {
  const other = (["partner", "test"] as const).find((flag) => values[flag] !== undefined);
  if (other) throw new UsageError(`--${other} is the operator's: with --key the list is of the key's own orders`);
  const query = {
    status: values.status,
    externalReference: values.reference,
    cursor: values.after,
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

const listOptions = {
  ...partnerOptions,
  status: { type: "string", help: "Only of this status, as QuoteReady." },
  reference: { type: "string", help: "Only with exactly this external reference." },
  after: { type: "string", value: "CURSOR", help: "CURSOR of the page before." },
} as const satisfies Options;

const rows = (title: string, records: readonly object[]): string[] =>
  records.map(
    (record) =>
      `${title}: ${Object.values(record)
        .map((value) => value ?? "-")
        .join("  ")}`,
  );

/** The milestones of the sandbox that `order advance` moves to. */
const milestones = ["payment.cleared", "signature.completed", "shipment.delivered"] as const;

/** The verbs for partners about orders, over HTTP. */
export const partnerOrderVerbs: readonly Verb[] = [
  createOrder,
  defineVerb({
    name: "order list",
    args: [],
    options: listOptions,
    summary: "Lists your orders, newest first, a hundred at a time.",
    examples: ["order list --status Completed --json"],
    run: (_args, values) => listOwnOrders(values),
  }),
  defineVerb({
    name: "order show",
    args: ["CODE"],
    options: partnerOptions,
    summary: "Shows an order: its state, its signers and its documents.",
    async run([code = ""], values) {
      const partner = partnerOf(values);
      const json = await ask(partner, async ({ orders }) => {
        const { requestId: _order, ...order } = await orders.get(code);
        const { signers } = await orders.signers(code);
        const { documents } = await orders.documents(code);
        return { ...order, signers, documents };
      });
      const { signers, documents, services, ...facts } = json;
      const shown = Object.fromEntries(Object.entries(facts).filter(([, value]) => typeof value !== "object"));
      const people = signers.map(({ n, name, status, signingUrl }) => ({ n, name, status, signingUrl }));
      const files = documents.map(({ documentId, kind, sha256 }) => ({ documentId, kind, sha256 }));
      return { json, text: [lines(shown), ...rows("signer", people), ...rows("document", files)].join("\n") };
    },
  }),
  defineVerb({
    name: "order document",
    args: ["CODE", "DOCUMENT_ID", "FILE"],
    options: partnerOptions,
    summary: "Writes a document of an order into a new file; order show lists the documents.",
    async run([code = "", documentId = "", file = ""], values) {
      const bytes = await ask(partnerOf(values), ({ orders }) => orders.document(code, documentId));
      await writeFile(file, bytes, { flag: "wx" }).catch((error: NodeJS.ErrnoException) => {
        throw new StartupError(`FILE ${file} cannot be written (${error.code})`);
      });
      const json = { file, bytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") };
      return { json, text: lines(json) };
    },
  }),
  defineVerb({
    name: "order advance",
    args: ["CODE", "[EVENT]"],
    values: milestones,
    options: partnerOptions,
    summary: `Walks a test order to its next milestone, or to the one that is named: ${milestones.join(", ")}.`,
    async run([code = "", event], values) {
      const milestone = milestones.find((each) => each === event);
      if (event !== undefined && !milestone) throw new UsageError(`EVENT must be one of ${milestones.join(", ")}`);
      const json = await ask(partnerOf(values), ({ sandbox }) => sandbox.advance(code, milestone));
      return { json, text: lines({ ...json, firedEvents: json.firedEvents.join(", ") }) };
    },
  }),
];
