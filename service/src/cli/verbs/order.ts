import { requireNoLetter } from "../../delivery/shipping/shipping.ts";
import { openSealing } from "../../evidence/seals/seals.ts";
import { createMetrics } from "../../kernel/platform/metrics.ts";
import { isUuid } from "../../kernel/platform/text.ts";
import { inlineWorkers } from "../../kernel/platform/workers/inline.ts";
import { moveOrder, type OrderHistory, orderHistory } from "../../orders/fulfilment/fulfilment.ts";
import { orderStatuses, statusGroups } from "../../orders/order/order.ts";
import { type ListedOrder, listAllOrders, searchOrders } from "../../upkeep/console/console.ts";
import { partnerOptions } from "../partner/api.ts";
import { readDocument } from "../partner/document.ts";
import { createOrder, listOwnOrders } from "../partner/order.ts";
import { defineVerb, lines, type Options, UsageError, type ValuesOf, type Verb } from "../verb.ts";
import { withResources } from "../with-resources.ts";

const moveOptions = {
  release: { type: "boolean", help: "Ends OnHold: the order goes back to where it was." },
  document: { type: "string", value: "FILE", help: "The signed or notarized PDF." },
  carrier: { type: "string", help: "Who ships it, as FedEx." },
  tracking: { type: "string", value: "NUMBER", help: "The carrier's number of the parcel." },
  untracked: { type: "boolean", help: "Says that the mail has no tracking number." },
  reason: { type: "string", value: "TEXT", help: "Why, for the record and for people who read the order." },
  "amount-cents": {
    type: "string",
    value: "N",
    help: "What the price changes by, in US cents; negative for less.",
  },
  label: { type: "string", value: "TEXT", help: "The words of that line in the quote." },
} as const satisfies Options;

function adjustmentOf(values: ValuesOf<typeof moveOptions>): { amountCents: number; label: string } | undefined {
  const text = values["amount-cents"];
  const label = values.label;
  if (text === undefined) {
    if (label !== undefined) throw new UsageError("--label needs --amount-cents");
    return undefined;
  }
  if (!/^-?\d{1,8}$/.test(text)) throw new UsageError("--amount-cents must be a whole number of US cents");
  return { amountCents: Number(text), label: label ?? "Price adjustment" };
}

function historyText(order: OrderHistory): string {
  const { documents, shipments, faxes, payments, history, services, areReceiptsAuthentic, ...facts } = order;
  const rows = (title: string, records: object[]) =>
    records.map((record) => `${title}: ${Object.values(record).join("  ")}`);
  return [
    lines({ ...facts, services: services.join(", ") }),
    ...rows("document", documents),
    ...rows("shipment", shipments),
    ...rows("fax", faxes),
    ...rows("payment", payments),
    ...(areReceiptsAuthentic ? [] : ["payment: a receipt was altered in the database, so what went back is left out"]),
    ...history.map(
      ({ occurredAt, action, actor, fromStatus, toStatus, detail }) =>
        `${occurredAt}  ${action}  ${fromStatus ?? "-"} -> ${toStatus ?? "-"}  by ${actor}${detail ? `  ${JSON.stringify(detail)}` : ""}`,
    ),
  ].join("\n");
}

/**
 * The status to which `order move CODE STATUS` moves an order. Null for `order move CODE --release`, which ends a hold.
 */
function targetOf(args: string[], { release = false }: ValuesOf<typeof moveOptions>): string | null {
  if (release !== (args.length === 1)) throw new UsageError("order move takes either a STATUS or --release");
  return release ? null : (args[1] ?? null);
}

const orderLine = ({ code, status, firmName, customerEmail, externalReference, createdAt }: ListedOrder): string =>
  `${code}  ${status}  ${createdAt.toISOString()}  ${firmName}  ${customerEmail}  ${externalReference ?? ""}`.trimEnd();

const ordersAnswer = (orders: ListedOrder[]) => ({
  json: { orders: orders.map(({ documentName: _, docSlug: __, ...order }) => order) },
  text: orders.map(orderLine).join("\n"),
});
const environmentIn = ({ test }: { readonly test?: boolean | undefined }) => (test ? "test" : "live");
const maxListed = 200;

function statusIn(text: string | undefined) {
  const found = [...orderStatuses, ...statusGroups].find((each) => each === text);
  if (text !== undefined && !found) throw new UsageError("--status must be a status of orders, or a group of them");
  return found ?? null;
}

function partnerIn(text: string | undefined): string | null {
  if (text !== undefined && !isUuid(text)) throw new UsageError("--partner must be the ID of a firm");
  return text ?? null;
}

export const orderVerbs: Verb[] = [
  createOrder,
  defineVerb({
    name: "order list",
    args: [],
    options: {
      status: {
        type: "string",
        help: "Only of this status, as QuoteReady; without --key also of a group, as signing.",
        values: [...orderStatuses, ...statusGroups],
      },
      partner: { type: "string", value: "PARTNER_ID", help: "Without --key: only of the firm with this ID." },
      after: { type: "string", value: "CODE", help: "CODE: goes on after that order." },
      test: { type: "boolean", help: "Without --key: those of test." },
      reference: { type: "string", help: "With --key: only with exactly this external reference." },
      ...partnerOptions,
      key: { type: "string", help: "A partner key: lists that partner's orders, asking the service over HTTP." },
    },
    summary: `Lists orders of all firms, newest first: at most ${maxListed}, of live unless --test. With --key those of the key's partner, over HTTP.`,
    examples: ["order list --test --status QuoteReady", "order list --key svc_pk_test_... --reference FILE-2207"],
    run: (_args, values) => {
      if (values.key !== undefined) return listOwnOrders(values);
      const partners = (["reference", "base-url"] as const).find((flag) => values[flag] !== undefined);
      if (partners) throw new UsageError(`--${partners} needs --key`);
      const filter = { status: statusIn(values.status), partnerId: partnerIn(values.partner), service: null };
      const after = values.after ?? null;
      return withResources(async ({ db }) =>
        ordersAnswer(await listAllOrders(db, { ...filter, after, environment: environmentIn(values) }, maxListed)),
      );
    },
  }),
  defineVerb({
    name: "order find",
    args: ["TEXT"],
    options: { test: { type: "boolean", help: "Among test orders instead of live ones." } },
    summary:
      "Finds orders by code (or its first 6 digits), reference, name, email, tracking or fax number, hash, verification code or payment intent.",
    run: ([text = ""], values) =>
      withResources(async ({ db }) => ordersAnswer(await searchOrders(db, environmentIn(values), text))),
  }),
  defineVerb({
    name: "order show",
    args: ["CODE"],
    options: {},
    summary: "Shows everything on record about an order.",
    run: ([code = ""]) =>
      withResources(async ({ db }) => {
        const order = await orderHistory(db, code);
        return { json: order, text: historyText(order) };
      }),
  }),
  defineVerb({
    name: "order move",
    args: ["CODE", "[STATUS]"],
    options: moveOptions,
    summary: "Moves an order to another status that the table of transitions allows; --release ends OnHold.",
    async run(args, values) {
      const to = targetOf(args, values);
      const adjustment = adjustmentOf(values);
      const path = values.document;
      const document = path === undefined ? null : await readDocument(path);
      return withResources(async (resources) => {
        const { config } = resources;
        const moved = await moveOrder(
          {
            ...resources,
            requireByHand: requireNoLetter,
            openSealer: () =>
              openSealing({ ...resources, fetch, metrics: createMetrics(), workers: inlineWorkers }, config),
          },
          {
            code: args[0] ?? "",
            to,
            document,
            facts: {
              carrier: values.carrier,
              trackingNumber: values.tracking,
              untracked: values.untracked ?? false,
              reason: values.reason,
              adjustment,
            },
          },
        );
        return { json: moved, text: lines(moved) };
      });
    },
  }),
];
