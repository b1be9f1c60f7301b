import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { type OpenPage, startBrowser } from "@signsealship/testing/browser";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { openOrdersPages } from "../service/test/pages/dashboard/orders/orders-pages.ts";
import { atMost, type Result } from "./result.ts";

type Page = OpenPage["page"];

/** With two rounds, the median is the longer of the two times. */
const rounds = 2;
/**
 * The most time, in milliseconds, from opening the document until its first page is drawn. It is long enough for a busy
 * machine.
 */
const maxToOpen = 120_000;
/** A task that takes more processor time than this, in milliseconds, blocks the page. */
const longMs = 50;
const frames = 600;
/** The limit of our longest task, as a multiple of the rival's. Both draw with pdf.js, and their longest tasks vary. */
const maxOfRival = 1.25;

const clause = "The parties agree that this agreement is governed by the laws of the state of the property, and that";
const lines = Array.from({ length: 44 }, (_, n) => `BT /F1 10 Tf 60 ${730 - 14 * n} Td (${clause}) Tj ET`);
const blanks = `BT /F1 10 Tf 60 90 Td (Signature of Buyer: ${"_".repeat(30)} Date: ${"_".repeat(16)}) Tj ET`;
const longPdf = makePdf({ pages: 300, content: [...lines, blanks].join("\n") });

type TraceEvent = { name: string; pid: number; tid: number; tdur?: number; args?: { name?: string } };

/**
 * The processor time of the longest task on the page's main thread, in milliseconds. Wall-clock time would also count
 * the time that other programs of the machine use.
 */
function longestTask(trace: Buffer): number {
  const { traceEvents } = JSON.parse(trace.toString()) as { traceEvents: TraceEvent[] };
  const threadOf = ({ pid, tid }: TraceEvent) => `${pid}/${tid}`;
  const main = new Set(traceEvents.filter(({ args }) => args?.name === "CrRendererMain").map(threadOf));
  const tasks = traceEvents.filter((event) => event.name.endsWith("RunTask") && main.has(threadOf(event)));
  const times = tasks.flatMap(({ tdur }) => (tdur === undefined ? [] : [tdur / 1_000]));
  if (times.length === 0) throw new Error("the trace has no tasks");
  return times.reduce((most, time) => Math.max(most, time), 0);
}

/** Scrolls in small steps, with one jump each second. @returns the processor time of the longest task */
async function scrollThrough(page: Page, scroller: string): Promise<number> {
  const browser = page.context().browser();
  if (!browser) throw new Error("the page has no browser");
  await browser.startTracing(page, { categories: ["toplevel", "disabled-by-default-devtools.timeline"] });
  await page.evaluate(
    async ([selector, count]) => {
      const box = document.querySelector(selector);
      if (!box) throw new Error("nothing scrolls");
      for (let frame = 0; frame < count; frame++) {
        box.scrollTop += frame % 60 === 59 ? box.scrollHeight / 12 : 40;
        await new Promise((resolve) => requestAnimationFrame(resolve));
      }
    },
    [scroller, frames] as const,
  );
  return longestTask(await browser.stopTracing());
}

/** The rival: pdf.js's own viewer, in the pdf.js version that we use, with the same document. */
async function openRival() {
  const page = `<!doctype html><style>#c{position:absolute;inset:0;overflow:auto}</style>
    <link rel="stylesheet" href="/web/pdf_viewer.css"><div id="c"><div id="v" class="pdfViewer"></div></div>
    <script type="module">
      import * as lib from "/build/pdf.min.mjs";
      globalThis.pdfjsLib = lib;
      const { EventBus, PDFViewer, PDFLinkService } = await import("/web/pdf_viewer.mjs");
      lib.GlobalWorkerOptions.workerSrc = "/build/pdf.worker.min.mjs";
      const eventBus = new EventBus();
      const linkService = new PDFLinkService({ eventBus });
      const viewer = new PDFViewer({ container: document.getElementById("c"), eventBus, linkService });
      linkService.setViewer(viewer);
      const pdf = await lib.getDocument({ url: "/document.pdf" }).promise;
      viewer.setDocument(pdf);
    </script>`;
  const library = new URL(".", import.meta.resolve("pdfjs-dist/package.json"));
  async function answerTo(path: string): Promise<[type: string, body: string | Uint8Array | null]> {
    if (path === "/") return ["text/html", page];
    if (path === "/document.pdf") return ["application/pdf", longPdf];
    const body = await readFile(fileURLToPath(new URL(`.${path}`, library))).catch(() => null);
    return [path.endsWith(".css") ? "text/css" : "text/javascript", body];
  }
  const server = createServer(async (request, response) => {
    const [type, body] = await answerTo(request.url ?? "/");
    if (body) response.setHeader("Content-Type", type).end(body);
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return { url, close: () => server.close() };
}

/** The field editor with a document of 300 pages, while it searches the pages for places to sign. */
export async function run(): Promise<Result[]> {
  const [pages, browser, rival] = await Promise.all([openOrdersPages(), startBrowser(), openRival()]);

  async function ours(): Promise<number> {
    const { opened, page } = await pages.open();
    await pages.go(page, "/dashboard/orders/new");
    await page.getByLabel("Signing").check();
    await page
      .getByLabel("File: a PDF")
      .setInputFiles({ name: "Long.pdf", mimeType: "application/pdf", buffer: longPdf });
    await page.getByRole("button", { name: "Place fields on the pages" }).click();
    await page.locator(".place-scroller canvas").first().waitFor({ timeout: maxToOpen });
    const longest = await scrollThrough(page, ".place-scroller");
    await opened.close();
    return longest;
  }

  async function theirs(): Promise<number> {
    const { page, close } = await browser.open(rival.url, { width: 1280 });
    await page.locator(".page[data-loaded] canvas").first().waitFor({ timeout: maxToOpen });
    const longest = await scrollThrough(page, "#c");
    await close();
    return longest;
  }

  try {
    const [own, other]: [number[], number[]] = [[], []];
    for (let round = 0; round < rounds; round++) {
      own.push(await ours());
      other.push(await theirs());
    }
    return [
      atMost("editor: longest task, 300 pages scrolled", own, [longMs], "ms CPU", 1),
      atMost("editor: the same, against pdf.js's viewer", own, other, "ms CPU", maxOfRival),
    ];
  } finally {
    rival.close();
    await browser.close();
    await pages.close();
  }
}
