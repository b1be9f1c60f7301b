import { createMetrics } from "../../src/http/metrics.ts";
import { createServer } from "../../src/http/server.ts";
import type { Sql } from "../../src/platform/database.ts";
import { openLog } from "../../src/platform/logs.ts";
import type { OrderView } from "../../src/web/order-page.ts";
import { loadAssets, pages } from "../../src/web/pages.ts";
import { samplePage } from "./sample-page.ts";

export const code = "3f9ac1d2e4b5a6978081726354a5b6c7d8e9f0a1";

/** An order that buys everything. */
export const order = (changes: Partial<OrderView> = {}): OrderView => ({
  code,
  status: "NotarizationPending",
  sign: true,
  notarize: true,
  ship: true,
  fax: true,
  envelopeStatus: "Completed",
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
  createdAt: new Date("2026-11-20T15:04:05.678Z"),
  ...changes,
});

/** The pages over orders in memory, listening on a free port of this machine; `limit` stands in for the rate limits. */
export async function servePages(orders: Map<string, OrderView>, limit: () => Promise<void> = async () => {}) {
  const app = createServer({
    unmatchedPage: () => null,
    log: openLog("silent"),
    metrics: createMetrics(),
    baseUrl: "http://localhost",
    trustProxy: [],
  });
  const db: Sql = {
    async rows<Row>(_text: string, [wanted]: readonly unknown[] = []) {
      return [orders.get(String(wanted))].filter((found) => found !== undefined) as Row[];
    },
  };
  await app.register(async (routes) => {
    const assets = loadAssets();
    routes.get("/sample", async (_request, reply) => reply.type("text/html; charset=utf-8").send(samplePage(assets)));
    await pages(routes, { assets, db, limits: { limit: () => limit, close: async () => {} } });
  });
  const baseUrl = await app.listen({ host: "127.0.0.1", port: 0 });
  return { app, baseUrl, close: () => app.close() };
}
