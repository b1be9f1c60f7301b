import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { RunOptions } from "axe-core";
import { chromium, type Locator, type Page } from "playwright-core";
import { inTurn } from "./inputs/fuzz.ts";
import { chromiumPath, testsNeeding } from "./tools/tools.ts";

/** Replaces `node:test` in a file of browser tests. */
export const { test, describe, before, after, beforeEach, afterEach } = testsNeeding("chromium");

/** A step may take this long on a busy machine. Playwright's own limit is 30 s. */
export const maxStepMs = 90_000;

const args = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  // Keeps Chromium from starting a spare process in advance.
  "--renderer-process-limit=1",
];

export type Look = {
  width: number;
  height?: number;
  colorScheme?: "light" | "dark";
  javaScript?: boolean;
  /** The time zone of the browser; UTC by default. */
  timeZone?: string;
  /** True if the page has Playwright's fake clock. It runs in real time, and `page.clock` can advance it at once. */
  fakeClock?: boolean;
  /** A session cookie, `name=value`, from a sign-in over HTTP. With it, the browser can skip the sign-in pages. */
  cookie?: string;
};

/**
 * The window sizes and color schemes in which every page must be accessible and fit its window: narrow and light, wide
 * and dark.
 */
const looks: { width: number; colorScheme: "light" | "dark" }[] = [
  { width: 360, colorScheme: "light" },
  { width: 1280, colorScheme: "dark" },
];

type Finding = { rule: string; targets: string[] };

const nameOf = ({ width, colorScheme }: (typeof looks)[number]): string => `${width}-${colorScheme}`;

export type OpenPage = {
  page: Page;
  /** Failures so far: console errors and warnings, exceptions, CSP violations, foreign and failed requests. */
  troubles: string[];
  /** axe-core's findings: each rule, and the elements that break it. */
  axe: () => Promise<Finding[]>;
  /** The number of CSS pixels by which the page is wider than its window. */
  overflow: () => Promise<number>;
  /** The ids of cards without space between them and the card before. */
  touchingCards: () => Promise<string[]>;
  screenshot: (path: string) => Promise<void>;
  close: () => Promise<void>;
};

export type Browser = { open: (url: string, look: Look) => Promise<OpenPage>; close: () => Promise<void> };

const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/**
 * A real Chromium with a new temporary profile. Every page opens in its own context.
 * @param more further flags for Chromium
 */
export async function startBrowser(more: readonly string[] = []): Promise<Browser> {
  const executablePath = chromiumPath();
  if (executablePath === undefined) throw new Error("Chromium is not installed");
  const browser = await chromium.launch({ executablePath, args: [...args, ...more] });
  return {
    async open(url, { width, height = 800, colorScheme = "light", ...look }) {
      const { javaScript = true, timeZone = "UTC", fakeClock = false, cookie } = look;
      const context = await browser.newContext({
        viewport: { width, height },
        colorScheme,
        javaScriptEnabled: javaScript,
        timezoneId: timeZone,
        // Turns transitions off, so that no check measures a color in the middle of one.
        reducedMotion: "reduce",
      });
      context.setDefaultTimeout(maxStepMs);
      if (cookie !== undefined) await context.addCookies([inJar(cookie, url)]);
      const page = await context.newPage();
      clickToTheEnd(page);
      if (fakeClock) await page.clock.install();
      const troubles = watch(page, new URL(url).origin);
      await page.goto(url, { waitUntil: "load" });
      return {
        page,
        troubles,
        axe: () => runAxe(page),
        overflow: () => page.evaluate("document.documentElement.scrollWidth - window.innerWidth"),
        touchingCards: () => page.evaluate(touching),
        screenshot: async (path) => void (await page.screenshot({ path, fullPage: true })),
        close: () => context.close(),
      };
    },
    close: () => browser.close(),
  };
}

/** Converts a cookie to Playwright's form. The cookie is limited to one host, as the name prefix `__Host-` requires. */
function inJar(cookie: string, url: string) {
  const [name = "", value = ""] = cookie.split("=", 2);
  const domain = new URL(url).hostname;
  return { name, value, domain, path: "/", secure: true, httpOnly: true, sameSite: "Lax" as const };
}

/** Checks a page in every look, without reloading it. Afterwards the page keeps the last look. */
export async function inEachLook({ page }: OpenPage, look: (name: string) => Promise<void>): Promise<void> {
  for (const each of looks) {
    await page.setViewportSize({ width: each.width, height: 800 });
    await page.emulateMedia({ colorScheme: each.colorScheme });
    await look(nameOf(each));
  }
}

let asserted = 0;

/**
 * Asserts that the page fits in every look, and that its cards have space between them. Each call checks accessibility
 * in only one look, and the next call takes the next look. With FUZZ=long, each call checks it in every look.
 */
export function assertGoodLooks(opened: OpenPage): Promise<void> {
  const inThese = inTurn(looks.map(nameOf), asserted++);
  return inEachLook(opened, async (look) => {
    const where = `${opened.page.url()} ${look}`;
    if (inThese.includes(look)) assert.deepEqual(await opened.axe(), [], where);
    assert.equal(await opened.overflow(), 0, where);
    assert.deepEqual(await opened.touchingCards(), [], where);
  });
}

let isPatched = false;

/**
 * Makes each click wait until the next page is complete. Playwright waits only for the page's first byte, so a test
 * could count rows while half of them are missing.
 */
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
    // The browser also reports violations of the content security policy as console errors.
    if (["error", "warning"].includes(message.type())) troubles.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => troubles.push(`exception: ${error.message}`));
  page.on("requestfailed", (request) => {
    // A request that was still running when the browser left the page is not a failure.
    if (request.failure()?.errorText !== "net::ERR_ABORTED") troubles.push(`failed: ${request.url()}`);
  });
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(`${origin}/`) && !url.startsWith("data:")) troubles.push(`foreign: ${url}`);
  });
  return troubles;
}

const touching = `[...document.querySelectorAll(".panels > .card + .card")]
  .filter((card) => {
    const [before, own] = [card.previousElementSibling, card].map((each) => each.getBoundingClientRect());
    return own.height > 0 && own.top - before.bottom < 8 && own.left - before.right < 8;
  })
  .map(({ id }) => id)`;

const axeOptions: RunOptions = { resultTypes: ["violations"] };
// Reduces axe's results inside the page: transferring the results of all passed rules takes longer than many checks.
const findings = `violations.map(({ id, nodes }) => ({ rule: id, targets: nodes.map(({ target }) => target.join(" ")) }))`;

// The script is evaluated over the debugging protocol, because the page's CSP does not restrict that.
async function runAxe(page: Page): Promise<Finding[]> {
  if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(axeSource);
  return page.evaluate(`axe.run(document, ${JSON.stringify(axeOptions)}).then(({ violations }) => ${findings})`);
}
