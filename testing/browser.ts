import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { RunOptions } from "axe-core";
import { chromium, type Locator, type Page } from "playwright-core";
import { inTurn } from "./inputs/fuzz.ts";
import { chromiumPath, testsNeeding } from "./tools/tools.ts";

/** What a file of browser tests takes in place of `node:test`. */
export const { test, describe, before, after, beforeEach, afterEach } = testsNeeding("chromium");

const args = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  // Chromium starts no process ahead of its use.
  "--renderer-process-limit=1",
];

export type Look = {
  width: number;
  height?: number;
  colorScheme?: "light" | "dark";
  javaScript?: boolean;
  /** Default UTC. */
  timeZone?: string;
  /** Timers of the page move only by `page.clock`. */
  heldClock?: boolean;
  /** `name=value`, as a sign-in over HTTP got it: the browser need not go its way. */
  cookie?: string;
};

/** The looks in which a page must be accessible and fit: narrow and light, wide and dark. */
const looks: { width: number; colorScheme: "light" | "dark" }[] = [
  { width: 360, colorScheme: "light" },
  { width: 1280, colorScheme: "dark" },
];

type Finding = { rule: string; targets: string[] };

const nameOf = ({ width, colorScheme }: (typeof looks)[number]): string => `${width}-${colorScheme}`;

export type OpenPage = {
  page: Page;
  /** What went wrong so far: console errors and warnings, exceptions, violations of the CSP, foreign and failed requests. */
  troubles: string[];
  /** axe-core's findings: rule, and the elements that break it. */
  axe: () => Promise<Finding[]>;
  /** How many CSS pixels the page is wider than its window. */
  overflow: () => Promise<number>;
  screenshot: (path: string) => Promise<void>;
  close: () => Promise<void>;
};

export type Browser = { open: (url: string, look: Look) => Promise<OpenPage>; close: () => Promise<void> };

const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** A real Chromium with a new, temporary profile; every page opens in a context of its own. */
export async function startBrowser(): Promise<Browser> {
  const executablePath = chromiumPath();
  if (executablePath === undefined) throw new Error("Chromium is not installed");
  const browser = await chromium.launch({ executablePath, args });
  return {
    async open(url, { width, height = 800, colorScheme = "light", ...look }) {
      const { javaScript = true, timeZone = "UTC", heldClock = false, cookie } = look;
      const context = await browser.newContext({
        viewport: { width, height },
        colorScheme,
        javaScriptEnabled: javaScript,
        timezoneId: timeZone,
        // No color is looked at on its way from one to another.
        reducedMotion: "reduce",
      });
      if (cookie !== undefined) await context.addCookies([inJar(cookie, url)]);
      const page = await context.newPage();
      clickToTheEnd(page);
      if (heldClock) await page.clock.install();
      const troubles = watch(page, new URL(url).origin);
      await page.goto(url, { waitUntil: "load" });
      return {
        page,
        troubles,
        axe: () => runAxe(page),
        overflow: () => page.evaluate("document.documentElement.scrollWidth - window.innerWidth"),
        screenshot: async (path) => void (await page.screenshot({ path, fullPage: true })),
        close: () => context.close(),
      };
    },
    close: () => browser.close(),
  };
}

/** A cookie as the service sets its own: for one host, which the prefix `__Host-` of its name asks for. */
function inJar(cookie: string, url: string) {
  const [name = "", value = ""] = cookie.split("=", 2);
  const domain = new URL(url).hostname;
  return { name, value, domain, path: "/", secure: true, httpOnly: true, sameSite: "Lax" as const };
}

/** Looks at a page in every look, without loading it anew; it stays in the last. */
export async function inEachLook({ page }: OpenPage, look: (name: string) => Promise<void>): Promise<void> {
  for (const each of looks) {
    await page.setViewportSize({ width: each.width, height: 800 });
    await page.emulateMedia({ colorScheme: each.colorScheme });
    await look(nameOf(each));
  }
}

let asserted = 0;

/** The page is accessible and fits, in every look: in a plain run in one, in turn. */
export function assertGoodLooks(opened: OpenPage): Promise<void> {
  const inThese = inTurn(looks.map(nameOf), asserted++);
  return inEachLook(opened, async (look) => {
    if (!inThese.includes(look)) return;
    const where = `${opened.page.url()} ${look}`;
    assert.deepEqual(await opened.axe(), [], where);
    assert.equal(await opened.overflow(), 0, where);
  });
}

let isPatched = false;

/** A click ends when the page that it leads to is whole: Playwright waits for its first byte alone, and a test would count half its rows. */
function clickToTheEnd(page: Page): void {
  if (isPatched) return;
  isPatched = true;
  const locators = Object.getPrototypeOf(page.locator("html")) as Locator;
  const click = locators.click;
  locators.click = async function (this: Locator, options) {
    await click.call(this, options);
    await this.page().waitForLoadState("load");
  };
}

function watch(page: Page, origin: string): string[] {
  const troubles: string[] = [];
  page.on("console", (message) => {
    // A violation of the Content-Security-Policy is reported as a console error, too.
    if (["error", "warning"].includes(message.type())) troubles.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => troubles.push(`exception: ${error.message}`));
  page.on("requestfailed", (request) => {
    // What a page still loaded when it was left is no fault of it.
    if (request.failure()?.errorText !== "net::ERR_ABORTED") troubles.push(`failed: ${request.url()}`);
  });
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(`${origin}/`) && !url.startsWith("data:")) troubles.push(`foreign: ${url}`);
  });
  return troubles;
}

const axeOptions: RunOptions = { resultTypes: ["violations"] };
// Told apart in the page: to hand over all that holds takes longer than many a rule.
const findings = `violations.map(({ id, nodes }) => ({ rule: id, targets: nodes.map(({ target }) => target.join(" ")) }))`;

// Evaluated over the debugging protocol, which the page's Content-Security-Policy does not bind.
async function runAxe(page: Page): Promise<Finding[]> {
  if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(axeSource);
  return page.evaluate(`axe.run(document, ${JSON.stringify(axeOptions)}).then(({ violations }) => ${findings})`);
}
