import { readFile } from "node:fs/promises";
import { type ListedOrder, listAllOrders, searchOrders } from "../console/console.ts";
import { moveOrder, type OrderHistory, orderHistory } from "../fulfilment/fulfilment.ts";
import { maxUploadBytes } from "../http/uploads/multipart.ts";
import { orderStatuses, statusGroups } from "../orders/orders.ts";
import { StartupError } from "../platform/errors.ts";
import { createMetrics } from "../platform/metrics.ts";
import { isUuid } from "../platform/text.ts";
import { inlineWorkers } from "../platform/workers/inline.ts";
import { openSealing } from "../seals/seals.ts";
import { requireNoLetter } from "../shipping/shipping.ts";
import { lines, textOption, UsageError, type Values, type Verb, withResources } from "./verb.ts";

async function readDocument(path: string | undefined): Promise<Buffer | null> {
  if (path === undefined) return null;
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    throw new StartupError(`--document ${path} cannot be read (${error.code})`);
  });
  if (bytes.length > maxUploadBytes) throw new StartupError(`--document ${path} must be a PDF of at most 35 MB`);
  return bytes;
}

function adjustmentOf(values: Values): { amountCents: number; label: string } | undefined {
  const text = textOption(values, "amount-cents");
  const label = textOption(values, "label");
  if (text === undefined) {
    if (label !== undefined) throw new UsageError("--label needs --amount-cents");
    return undefined;
  }
  if (!/^-?\d{1,8}$/.test(text)) throw new UsageError("--amount-cents must be a whole number of US cents");
  return { amountCents: Number(text), label: label ?? "Price adjustment" };
}

function historyText(order: OrderHistory): string {
  const { documents, shipments, faxes, payments, history, services, ...facts } = order;
  const rows = (title: string, records: object[]) =>
    records.map((record) => `${title}: ${Object.values(record).join("  ")}`);
  return [
    lines({ ...facts, services: services.join(", ") }),
    ...rows("document", documents),
    ...rows("shipment", shipments),
    ...rows("fax", faxes),
    ...rows("payment", payments),
    ...history.map(
      ({ occurredAt, action, actor, fromStatus, toStatus, detail }) =>
        `${occurredAt}  ${action}  ${fromStatus ?? "-"} -> ${toStatus ?? "-"}  by ${actor}${detail ? `  ${JSON.stringify(detail)}` : ""}`,
    ),
  ].join("\n");
}

/** `order move CODE STATUS`, or `order move CODE --release`. */
function targetOf(args: string[], values: Values): string | null {
  const release = values["release"] === true;
  if (release !== (args.length === 1)) throw new UsageError("order move takes either a STATUS or --release");
  return release ? null : (args[1] ?? null);
}

const orderLine = ({ code, status, firmName, customerEmail, externalReference, createdAt }: ListedOrder): string =>
  `${code}  ${status}  ${createdAt.toISOString()}  ${firmName}  ${customerEmail}  ${externalReference ?? ""}`.trimEnd();

const ordersAnswer = (orders: ListedOrder[]) => ({ json: { orders }, text: orders.map(orderLine).join("\n") });
const environmentIn = (values: Values) => (values["test"] === true ? "test" : "live");
const listedMost = 200;

function statusIn(values: Values) {
  const text = textOption(values, "status");
  const found = [...orderStatuses, ...statusGroups].find((each) => each === text);
  if (text !== undefined && !found) throw new UsageError("--status must be a status of orders, or a group of them");
  return found ?? null;
}

function partnerIn(values: Values): string | null {
  const text = textOption(values, "partner");
  if (text !== undefined && !isUuid(text)) throw new UsageError("--partner must be the ID of a firm");
  return text ?? null;
}

export const orderVerbs: Verb[] = [
  {
    name: "order list",
    args: [],
    flags: "[--status STATUS] [--partner PARTNER_ID] [--after CODE] [--test]",
    options: {
      status: { type: "string" },
      partner: { type: "string" },
      after: { type: "string" },
      test: { type: "boolean" },
    },
    summary: `Lists orders of all firms, newest first: at most ${listedMost}, of live unless --test. --after CODE goes on after that one.`,
    run: (_args, values) => {
      const filter = { status: statusIn(values), partnerId: partnerIn(values), service: null };
      const after = textOption(values, "after") ?? null;
      return withResources(async ({ db }) =>
        ordersAnswer(await listAllOrders(db, { ...filter, after, environment: environmentIn(values) }, listedMost)),
      );
    },
  },
  {
    name: "order find",
    args: ["TEXT"],
    flags: "[--test]",
    options: { test: { type: "boolean" } },
    summary:
      "Finds orders by code (or its first 6 digits), reference, name, email, tracking or fax number, hash, verification code or payment intent.",
    run: ([text = ""], values) =>
      withResources(async ({ db }) => ordersAnswer(await searchOrders(db, environmentIn(values), text))),
  },
  {
    name: "order show",
    args: ["CODE"],
    flags: "",
    options: {},
    summary: "Shows everything on record about an order.",
    run: ([code = ""]) =>
      withResources(async ({ db }) => {
        const order = await orderHistory(db, code);
        return { json: order, text: historyText(order) };
      }),
  },
  {
    name: "order move",
    args: ["CODE", "[STATUS]"],
    flags: "[--release] [--document FILE] [--carrier C --tracking N] [--reason TEXT] [--amount-cents N [--label TEXT]]",
    options: {
      release: { type: "boolean" },
      document: { type: "string" },
      carrier: { type: "string" },
      tracking: { type: "string" },
      reason: { type: "string" },
      "amount-cents": { type: "string" },
      label: { type: "string" },
    },
    summary: "Moves an order to another status that the table of transitions allows; --release ends OnHold.",
    async run(args, values) {
      const to = targetOf(args, values);
      const adjustment = adjustmentOf(values);
      const document = await readDocument(textOption(values, "document"));
      return withResources(async (resources) => {
        const { config } = resources;
        const moved = await moveOrder(
          {
            ...resources,
            requireByHand: requireNoLetter,
            openSealer: () =>
              openSealing({ ...resources, settings: config, fetch, metrics: createMetrics(), workers: inlineWorkers }),
          },
          {
            code: args[0] ?? "",
            to,
            document,
            facts: {
              carrier: textOption(values, "carrier"),
              trackingNumber: textOption(values, "tracking"),
              reason: textOption(values, "reason"),
              adjustment,
            },
          },
        );
        return { json: moved, text: lines(moved) };
      });
    },
  },
];
