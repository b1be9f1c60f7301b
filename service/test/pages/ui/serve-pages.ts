import { fileURLToPath } from "node:url";
import { testRowMac } from "@signsealship/testing/row-mac";
import type { RoomRow } from "../../../src/closing/rooms/view/store.ts";
import type { ProofRecord } from "../../../src/evidence/proof-passports/proof-passports.ts";
import { pageHeaders } from "../../../src/kernel/http/security-headers.ts";
import { createServer } from "../../../src/kernel/http/server.ts";
import { ignoreMultipart } from "../../../src/kernel/http/uploads/multipart.ts";
import type { Sql } from "../../../src/kernel/platform/database/database.ts";
import { type Statement, ToSeal } from "../../../src/kernel/platform/database/sql.ts";
import { openLog } from "../../../src/kernel/platform/logs.ts";
import { createMetrics } from "../../../src/kernel/platform/metrics.ts";
import { byMember } from "../../../src/orders/order/form/sender-texts.ts";
import { loadPriceBook } from "../../../src/orders/pricing/price-book.ts";
import type { OrderView } from "../../../src/pages/client/order-page.ts";
import { openAssets, type PageDeps, pages } from "../../../src/pages/pages.ts";
import type { ClosingRecord } from "../../../src/pages/verify/closing/page.ts";
import type { EnvelopeRecord } from "../../../src/signing/envelopes/envelopes.ts";
import { samplePage } from "./sample-page.ts";
import { retention } from "./samples.ts";

export const code = "3f9ac1d2e4b5a6978081726354a5b6c7d8e9f0a1";

/** An order with all services. Its status may be one that only a newer release knows. */
export const order = (changes: Partial<Omit<OrderView, "status">> & { status?: string } = {}): OrderView => ({
  title: null,
  payable: false,
  offersAppointment: false,
  inProcess: null,
  supplement: undefined,
  isPriceOwed: false,
  together: { orders: [], withheld: 0 },
  documentsDeletedAt: null,
  manualQuoteReason: null,
  template: null,
  retention: null,
  isActSimulated: false,
  signers: [],
  code,
  environment: "live",
  status: "NotarizationPending",
  statusBeforeHold: null,
  isFailureOfFirm: false,
  carrier: null,
  trackingNumber: null,
  sign: true,
  notarize: true,
  ship: true,
  fax: true,
  envelopeStatus: "Completed",
  ...byMember(() => null),
  externalReference: "Closing 2026-1187, 18 Maple Court",
  customerEmail: "dana.whitfield@example.com",
  faxTo: "+15125550142",
  lines: [
    { type: "WorkflowFee", label: "Document workflow", amountCents: 1200 },
    { type: "NotaryFee", label: "Online notarization", amountCents: 2500 },
    { type: "TechFee", label: "Notarization technology", amountCents: 2400 },
    { type: "ShippingCarrierRate", label: "USPS Priority Mail postage, zone 5", amountCents: 1125 },
    { type: "ShippingHandlingFee", label: "Shipping handling", amountCents: 1495 },
    { type: "FaxFee", label: "Sealed fax delivery", amountCents: 900 },
  ],
  subtotalCents: 9620,
  discountCents: 120,
  totalCents: 9500,
  payBy: "client",
  createdAt: new Date("2026-11-20T15:04:05.678Z"),
  partnerId: "2c3d8a52-4a31-4c5e-9a53-5b5a2f1c7d10",
  firm: { name: "Acme Title", branding: null, contactEmail: null },
  receipts: [],
  ...(changes as Partial<OrderView>),
});

/** The records that the pages find, by code. */
export type Shown = {
  orders?: Map<string, OrderView>;
  /** The firm of the orders. */
  firm?: OrderView["firm"];
  rooms?: Map<string, RoomRow>;
  proofs?: Map<string, ProofRecord>;
  closings?: Map<string, ClosingRecord>;
  envelopes?: Map<string, EnvelopeRecord>;
  sealCertificates?: string;
  environment?: "live" | "test";
  signing?: PageDeps["signing"];
};

/** Serves the pages for records in memory, on a free port of this machine. `limit` replaces the rate limits. */
export async function servePages(shown: Shown, limit: () => Promise<void> = async () => {}) {
  const app = createServer({
    unmatchedPage: () => null,
    log: openLog("silent"),
    metrics: createMetrics(),
    baseUrl: "http://localhost",
    trustProxy: [],
  });
  const found = (text: string, wanted: string): object | undefined => {
    const room = shown.rooms?.get(wanted);
    if (text.startsWith("SELECT environment, ")) return room && { environment: shown.environment ?? "live" };
    return text.includes("FROM rooms") ? room : shown.orders?.get(wanted);
  };
  const db: Sql = {
    async query<Row>({ text, values }: Statement) {
      const code = values.find((value) => value instanceof ToSeal);
      return [found(text, code?.text ?? String(values[0]))].filter((row) => row !== undefined) as Row[];
    },
  };
  await app.register(async (routes) => {
    const assets = await openAssets();
    routes.get("/sample", async (_request, reply) =>
      reply.type("text/html; charset=utf-8").headers(pageHeaders).send(samplePage(assets)),
    );
    ignoreMultipart(routes);
    await pages(routes, {
      common: { assets, limits: { limit: () => limit, redisIsUp: async () => null, close: async () => {} }, retention },
      baseUrl: "http://localhost",
      outbox: null,
      people: null,
      signing: shown.signing ?? null,
      client: {
        db,
        fills: null,
        rowMac: testRowMac,
        payments: {
          checkoutUrl: () => Promise.reject(new Error("payments are not set up here")),
          acceptsPayment: () => false,
          payerInProcess: async () => null,
          supplementOf: async () => undefined,
          isPriceOwed: async () => false,
          receipts: { of: async () => [], file: () => Promise.reject(new Error("none")) },
          payableTogether: async () => ({ orders: [], withheld: 0 }),
          checkoutTogether: async () => "",
        },
        firmOf: async () => shown.firm ?? order().firm,
        documents: {
          titleOf: () => null,
          signersOf: async () => [],
          proof: async () => Buffer.alloc(0),
          deliveries: {} as PageDeps["client"]["documents"]["deliveries"],
          links: { isToken: async () => false, isClosingToken: async () => false, mail: async () => {} },
          closingOf: async () => undefined,
          of: async () => [],
          read: () => Promise.reject(new Error("none")),
        },
      },
      visitor: {
        requestAccess: () => Promise.reject(new Error("nobody asks for access here")),
        recaptcha: null,
        site: {
          priceBook: loadPriceBook(fileURLToPath(new URL("../../../data/price-book.yaml", import.meta.url))).content,
          texts: { privacy: null, terms: null, contact: null },
        },
      },
      verify: {
        sealCertificates: async () => shown.sealCertificates ?? "",
        proofRecord: async (verifyCode) => shown.proofs?.get(verifyCode) ?? null,
        closingRecord: async (verifyCode) => shown.closings?.get(verifyCode) ?? null,
        envelopeRecord: async (verifyCode) => shown.envelopes?.get(verifyCode) ?? null,
      },
    });
  });
  const baseUrl = await app.listen({ host: "127.0.0.1", port: 0 });
  return { app, baseUrl, close: () => app.close() };
}
