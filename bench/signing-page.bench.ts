import { type OpenPage, startBrowser } from "@signsealship/testing/browser";
import { openSigningSite } from "../service/test/pages/signing/signing-site.ts";
import { atMost, type Result } from "./result.ts";

// A mid-range phone on 4G.
const phone = { width: 390, height: 844 };
const slowerCpu = 4;
const network = { offline: false, latency: 170, downloadThroughput: 9e6 / 8, uploadThroughput: 3e6 / 8 };
const rounds = 3;

const consent = { version: "1", at: new Date("2026-11-22T10:00:00Z") };
// Notes when the first page of the document is drawn, in ms since the start of the navigation.
const noteFirstPage = `new MutationObserver((_, observer) => {
  if (!document.querySelector(".viewer-page > canvas")) return;
  globalThis.firstPageMs = performance.now();
  observer.disconnect();
}).observe(document, { childList: true, subtree: true })`;

type Metrics = { metrics: { name: string; value: number }[] };

/** A signer's waiting times on a phone, each against its promised budget. */
export async function run(): Promise<Result[]> {
  const [site, browser] = await Promise.all([openSigningSite(), startBrowser()]);

  async function openPhone(): Promise<OpenPage> {
    const opened = await browser.open(`${site.baseUrl}/sign/none`, phone);
    await opened.page.addInitScript(noteFirstPage);
    const cdp = await opened.page.context().newCDPSession(opened.page);
    await cdp.send("Network.enable");
    await cdp.send("Network.emulateNetworkConditions", network);
    await cdp.send("Emulation.setCPUThrottlingRate", { rate: slowerCpu });
    return opened;
  }

  async function firstPageMs({ page }: OpenPage): Promise<number> {
    await page.goto(site.url);
    await page.locator(".viewer-page > canvas").first().waitFor();
    return Number(await page.evaluate("firstPageMs"));
  }

  try {
    const [cold, warm, next]: [number[], number[], number[]] = [[], [], []];
    for (let round = 0; round < rounds; round++) {
      const envelope = await site.open({ pages: 100, bytes: 5_000_000 });
      envelope.change({ consent });
      const opened = await openPhone();
      cold.push(await firstPageMs(opened));
      warm.push(await firstPageMs(opened));
      await opened.page.getByText("Checked: the document").waitFor({ timeout: 120_000 });
      next.push(await nextFieldMs(opened));
      await opened.close();
    }
    const { canvases, heapMb } = await atPage100();
    return [
      atMost("signing: first page, 100 pages of 5 MB, cold", cold, [3000], "ms", 1),
      atMost("signing: first page, the same, warm", warm, [1200], "ms", 1),
      atMost("signing: next field, 99 pages on, drawn", next, [150], "ms", 1),
      atMost("signing: drawings at page 100 of 300", [canvases], [4], "canvases", 1),
      atMost("signing: JS heap at page 100 of 300", [heapMb], [60], "MB", 1),
    ];
  } finally {
    await browser.close();
    await site.close();
  }

  /** Milliseconds from the tap on the bar's button until a field has the focus and its page is drawn. */
  async function nextFieldMs({ page }: OpenPage): Promise<number> {
    await page.getByLabel("Initials (page 1)").fill("JD");
    // A signer needs about a second before the next tap, and the page can use that time.
    await page.waitForTimeout(1000);
    return page.evaluate(async () => {
      const bar = document.querySelector<HTMLElement>(".viewer-bar button");
      const begun = performance.now();
      bar?.click();
      if (!document.activeElement?.classList.contains("viewer-field")) throw new Error("no field has the focus");
      do await new Promise((resolve) => requestAnimationFrame(resolve));
      while (!document.querySelector(".viewer-page:last-child > canvas"));
      return performance.now() - begun;
    });
  }

  async function atPage100() {
    (await site.open({ pages: 300 })).change({ consent });
    const { page, close } = await browser.open(site.url, phone);
    let canvases = 0;
    for (const n of [1, 25, 50, 75, 99, 100]) {
      const box = page.locator(`.viewer-page:nth-child(${n})`);
      await box.evaluate((one) => one.scrollIntoView());
      await box.locator("canvas").waitFor();
      canvases = Math.max(canvases, await page.locator("canvas:not(.hiddenCanvasElement)").count());
    }
    const cdp = await page.context().newCDPSession(page);
    await cdp.send("HeapProfiler.collectGarbage");
    await cdp.send("Performance.enable");
    const { metrics } = (await cdp.send("Performance.getMetrics")) as Metrics;
    const heapMb = (metrics.find(({ name }) => name === "JSHeapUsedSize")?.value ?? 0) / 1e6;
    await close();
    return { canvases, heapMb };
  }
}
