import type { FastifyReply } from "fastify";
import { pageHeaders } from "../../../../src/kernel/http/security-headers.ts";
import { createServer } from "../../../../src/kernel/http/server.ts";
import { openLog } from "../../../../src/kernel/platform/logs.ts";
import { createMetrics } from "../../../../src/kernel/platform/metrics.ts";
import type { Snapshot } from "../../../../src/orders/analytics/analytics.ts";
import { analyticsBody } from "../../../../src/pages/dashboard/analytics/page.ts";
import { openAssets } from "../../../../src/pages/ui/assets/assets.ts";
import { assetRoutes } from "../../../../src/pages/ui/assets/routes.ts";
import { layout } from "../../../../src/pages/ui/layout.ts";
import { html } from "../../../../src/pages/ui/render.ts";

/** The 180 days of a small firm, with one month without orders. */
export const ordinary: Snapshot = {
  windowDays: 180,
  volumeByMonth: [
    { month: "2026-09", createdCount: 18, completedCount: 18 },
    { month: "2026-10", createdCount: 41, completedCount: 37 },
    { month: "2026-12", createdCount: 64, completedCount: 51 },
    { month: "2027-01", createdCount: 23, completedCount: 6 },
  ],
  funnel: { created: 9, paid: 4, inProgress: 14, completed: 112, problem: 7 },
  turnaroundHours: { median: 26.75, p90: 98.4 },
  serviceMix: { sign: 121, notarize: 88, ship: 37, fax: 5 },
  evidence: { totalCompleted: 112, sealedDocumentCount: 183, deliveredWithProofCount: 31 },
  revenueCents: 1_234_567,
  generatedAt: "2027-01-21T05:06:07.089Z",
};

export const empty: Snapshot = {
  ...ordinary,
  windowDays: 90,
  volumeByMonth: [],
  funnel: { created: 0, paid: 0, inProgress: 0, completed: 0, problem: 0 },
  turnaroundHours: { median: 0, p90: 0 },
  serviceMix: { sign: 0, notarize: 0, ship: 0, fax: 0 },
  evidence: { totalCompleted: 0, sealedDocumentCount: 0, deliveredWithProofCount: 0 },
  revenueCents: 0,
};

const monthly = [
  61_204, 58_911, 70_022, 81_950, 77_313, 69_001, 1, 84_120, 99_999, 105_322, 88_157, 93_400, 95_600, 15_000,
];

/** A million orders in a window that touches fourteen months. */
export const huge: Snapshot = {
  windowDays: 366,
  volumeByMonth: monthly.map((createdCount, at) => ({
    month: new Date(Date.UTC(2026, 1 + at)).toISOString().slice(0, 7),
    createdCount,
    completedCount: Math.floor(createdCount * (1 - at / 20)),
  })),
  funnel: { created: 1, paid: 0, inProgress: 4, completed: 999_994, problem: 1 },
  turnaroundHours: { median: 719.03, p90: 8_783.99 },
  serviceMix: { sign: 1_000_000, notarize: 999_999, ship: 1, fax: 0 },
  evidence: { totalCompleted: 999_994, sealedDocumentCount: 49_999_999, deliveredWithProofCount: 1_000_000 },
  revenueCents: 12_345_678_900,
  generatedAt: "2027-03-01T00:00:00.000Z",
};

/** A single unpaid order. */
export const single: Snapshot = {
  ...empty,
  windowDays: 30,
  volumeByMonth: [{ month: "2027-01", createdCount: 1, completedCount: 0 }],
  funnel: { ...empty.funnel, created: 1 },
  serviceMix: { ...empty.serviceMix, sign: 1 },
};

export const samples = { ordinary, empty, huge, single };

/** Serves each of `shown` under its name on this machine, as the body of a page. */
export async function serveSnapshots(shown: Readonly<Record<string, Snapshot>>) {
  const app = createServer({
    unmatchedPage: () => null,
    log: openLog("silent"),
    metrics: createMetrics(),
    baseUrl: "http://localhost",
    trustProxy: [],
  });
  const assets = await openAssets();
  assetRoutes(app, assets);
  const send = (reply: FastifyReply, snapshot: Snapshot) =>
    reply
      .type("text/html; charset=utf-8")
      .headers(pageHeaders)
      .send(
        layout(assets, {
          title: "Analytics",
          body: html`<h1>Analytics</h1>${analyticsBody(snapshot, snapshot.windowDays)}`,
        }),
      );
  for (const [name, snapshot] of Object.entries(shown)) app.get(`/${name}`, async (_, reply) => send(reply, snapshot));
  const baseUrl = await app.listen({ host: "127.0.0.1", port: 0 });
  return { baseUrl, close: () => app.close() };
}
