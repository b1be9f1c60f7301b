import { type OpenPage, startBrowser } from "@signsealship/testing/browser";
import { newClient } from "@signsealship/testing/client";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { newPartner, startService, temporaryFolder } from "@signsealship/testing/service";
import { signedIn } from "../service/test/pages/dashboard/signed-in-page.ts";
import { openSigningSite } from "../service/test/pages/signing/signing-site.ts";
import type { Result } from "./result.ts";

// The network speed and processor of a mid-range phone on 4G. Chromium slows the processor down by the factor
// `slowerCpu`.
const slowerCpu = 4;
const network = { offline: false, latency: 170, downloadThroughput: 9e6 / 8, uploadThroughput: 3e6 / 8 };
const phone = { width: 390, height: 844 };
const desk = { width: 1280, height: 800 };

const rounds = 3;
const settledMs = 3000;
const listed = 100;
/** Stricter than Core Web Vitals, which rate a layout shift below 0.1 and an interaction delay below 200 ms as good. */
const budgets = { shift: 0, interactionMs: 100 };

// Collects the layout shifts without a preceding touch or key. For each interaction, collects the milliseconds until
// its effect was painted (Event Timing).
const watch = `globalThis.seen = { shift: 0, interactions: [] };
new PerformanceObserver((list) => {
  for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) seen.shift += value;
}).observe({ type: "layout-shift", buffered: true });
new PerformanceObserver((list) => {
  for (const { interactionId, duration } of list.getEntries()) if (interactionId) seen.interactions.push(duration);
}).observe({ type: "event", durationThreshold: 16, buffered: true });`;

type Page = OpenPage["page"];
type Visit = { name: string; url: string; opened: OpenPage; use: (page: Page) => Promise<void> };

/** On the most used pages: the layout shift in the worst round, and the interaction delay in the best round. */
export async function run(): Promise<Result[]> {
  const folder = temporaryFolder();
  const [service, site, browser] = await Promise.all([
    startService({ DATA_DIR: folder.path, RATE_LIMITS: "off" }),
    openSigningSite(),
    startBrowser(),
  ]);
  const partner = await newPartner(service);
  const { post } = newClient(service.baseUrl, partner.key);

  try {
    const codes: string[] = [];
    for (let n = 0; n < listed; n++) {
      const form = orderForm({ ...minimal, svc_sign: "true", name: `Client ${n}` });
      codes.push((await post<{ orderCode: string }>("/api/partner/orders", form)).orderCode);
    }
    const { roomCode } = await post<{ roomCode: string }>("/api/rooms", { name: "12 Elm Street" });
    for (const orderCode of codes.slice(0, 10)) await post(`/api/rooms/${roomCode}/orders`, { orderCode });
    await site.open({ pages: 10 });
    const member = () => signedIn(service, browser, { key: partner.key, ...desk });
    const visits: Visit[] = [
      {
        name: "order page",
        url: `${service.baseUrl}/orders/${codes[0]}`,
        opened: await browser.open(`${service.baseUrl}/sign-in`, phone),
        use: async (page) => {
          await page.locator(".copy").first().click();
          await pressTab(page);
        },
      },
      {
        name: "room page",
        url: `${service.baseUrl}/rooms/${roomCode}`,
        opened: await browser.open(`${service.baseUrl}/sign-in`, phone),
        use: pressTab,
      },
      {
        name: `orders list, ${listed} orders`,
        url: `${service.baseUrl}/dashboard/orders?limit=${listed}`,
        opened: await member(),
        use: async (page) => page.locator("main input[type=search]").first().pressSequentially("Client 42"),
      },
      {
        name: "new order form",
        url: `${service.baseUrl}/dashboard/orders/new`,
        opened: await member(),
        use: async (page) => {
          await page.locator("main input[type=email]").first().pressSequentially("jane@example.com");
          for (const box of await page.locator("main input[type=checkbox]:visible").all()) await box.click();
        },
      },
      {
        name: "signing page, 10 pages",
        url: site.url,
        opened: await browser.open(`${site.baseUrl}/sign/none`, phone),
        use: async (page) => {
          await page.getByRole("button", { name: "Larger" }).click();
          await page.locator(".viewer-bar button").click();
        },
      },
    ];
    const results: Result[] = [];
    for (const visit of visits) results.push(...(await measured(visit)));
    return results;
  } finally {
    await browser.close();
    await Promise.all([service.stop(), site.close()]);
    folder.remove();
  }
}

async function pressTab(page: Page): Promise<void> {
  for (let n = 0; n < 10; n++) await page.keyboard.press("Tab");
}

async function measured({ name, url, opened, use }: Visit): Promise<Result[]> {
  const { page } = opened;
  await page.addInitScript(watch);
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("Network.enable");
  await cdp.send("Network.setCacheDisabled", { cacheDisabled: true });
  await cdp.send("Network.emulateNetworkConditions", network);
  await cdp.send("Emulation.setCPUThrottlingRate", { rate: slowerCpu });
  const [shifts, longest]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    await page.goto(url, { waitUntil: "load" });
    // Waits for late content, most of all the document, which must not shift the layout either.
    await page.waitForTimeout(settledMs);
    await use(page);
    // Waits because the browser reports the last paint with a delay.
    await page.waitForTimeout(1000);
    const { shift, interactions } = (await page.evaluate("seen")) as { shift: number; interactions: number[] };
    shifts.push(Math.round(shift * 1000) / 1000);
    longest.push(Math.max(0, ...interactions));
  }
  await opened.close();
  return [
    within(`pages: ${name}, layout shift`, Math.max(...shifts), budgets.shift, "CLS"),
    within(`pages: ${name}, longest interaction`, Math.min(...longest), budgets.interactionMs, "ms"),
  ];
}

/** Compares our figure with its budget. Both may be zero. */
const within = (name: string, ours: number, other: number, unit: string): Result => ({
  name,
  ours,
  other,
  unit,
  ratio: other === 0 ? ours : ours / other,
  budget: other === 0 ? 0 : 1,
  holds: ours <= other,
});
