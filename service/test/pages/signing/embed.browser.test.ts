import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { type Browser, startBrowser, test } from "@signsealship/testing/browser";
import { until } from "@signsealship/testing/until";
import { build } from "esbuild";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { insertEmbed } from "../../../src/signing/envelopes/records/embeds.ts";
import { openCeremonyService } from "../../signing/envelopes/ceremony/ceremony-service.ts";

type Running = Awaited<ReturnType<typeof openCeremonyService>>;
type Told = { type: string; code?: string; signer?: number };

const jane = { name: "Jane Doe", email: "jane@example.com" };
const sdk = fileURLToPath(new URL("../../../../packages/sdk/src/index.ts", import.meta.url));

/** A partner's page on another site, built with the SDK. With `plain` it contains only the frame. */
async function openHost() {
  const { outputFiles } = await build({
    stdin: {
      contents: `import { mountSigning } from ${JSON.stringify(sdk)};
        const url = new URLSearchParams(location.search).get("url");
        window.told = [];
        window.all = [];
        addEventListener("message", ({ data, origin }) => window.all.push({ data, origin }));
        window.mounted = mountSigning({ url, container: document.querySelector("main"), onEvent: (event) => window.told.push(event) });`,
      resolveDir: ".",
    },
    bundle: true,
    write: false,
    format: "iife",
  });
  const script = outputFiles[0]?.text ?? "";
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
    response.setHeader("Content-Type", "text/html; charset=utf-8");
    const frame = `<iframe title="Sign" width="800" height="1600" src="${searchParams.get("url")}"></iframe>`;
    const body = pathname === "/plain" ? frame : `<main style="height:960px"></main><script>${script}</script>`;
    response.end(`<!doctype html><html lang="en"><title>Partner</title><body>${body}</body></html>`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { origin, close: () => new Promise((resolve) => server.close(resolve)) };
}

type Host = Awaited<ReturnType<typeof openHost>>;

async function embedded(work: (running: Running, browser: Browser, host: Host) => Promise<void>): Promise<void> {
  const [running, browser, host] = await Promise.all([openCeremonyService(), startBrowser(), openHost()]);
  try {
    await running.client.ok("POST", "/api/partner/embed-origins", { origin: host.origin });
    await work(running, browser, host);
  } finally {
    await browser.close();
    await host.close();
    await running.close();
  }
}

async function urlFor(running: Running, origin: string): Promise<string> {
  const code = await running.order([jane]);
  await running.linkOf(jane.email);
  await until(async () => {
    const { signers } = await running.client.ok<{ signers: { status: string }[] }>(
      "GET",
      `/api/partner/orders/${code}/signers`,
    );
    return signers[0]?.status === "sent";
  });
  const { url } = await running.client.ok<{ url: string }>("POST", `/api/partner/orders/${code}/signers/1/embed`, {
    origin,
  });
  return url;
}

const show = (browser: Browser, host: { origin: string }, url: string, path = "/", look = {}) =>
  browser.open(`${host.origin}${path}?url=${encodeURIComponent(url)}`, { width: 900, height: 1000, ...look });

type Page = Awaited<ReturnType<Browser["open"]>>["page"];
const told = (page: Page) => page.evaluate("window.told") as Promise<Told[]>;

test("a signer signs in the frame of another site without a cookie, and the page around it learns only that", () =>
  embedded(async (running, browser, host) => {
    // The service runs at `localhost`, so that the partner's page is on another site, and not only on another origin.
    const url = await urlFor(running, host.origin);
    assert.equal(new URL(url).hostname, "localhost");
    const { page } = await show(browser, host, url);
    const frame = page.frameLocator("iframe");
    await frame.getByRole("button", { name: "Begin" }).click();
    await frame.getByLabel("I opened the document").check();
    await frame.getByRole("button", { name: "I agree" }).click();
    await frame.getByText("Checked: the document that you see").waitFor();
    await page.waitForTimeout(1300);
    const button = frame.locator("#sign-button");
    await frame.getByLabel("Your full name").or(frame.locator("#field-name")).first().fill("Jane Doe");
    await button.scrollIntoViewIfNeeded();
    await page.waitForTimeout(1300);
    await button.click();
    await frame.getByText("Your signature is in the document.").waitFor();
    const events = await told(page);
    assert.deepEqual(
      [...new Set(events.filter(({ type }) => type !== "error").map(({ type }) => type))],
      ["ready", "viewed", "signed"],
    );
    const all = (await page.evaluate("window.all")) as { data: object; origin: string }[];
    assert.deepEqual([...new Set(all.map(({ origin }) => origin))], [new URL(url).origin]);
    assert.doesNotMatch(JSON.stringify(all), /Jane|jane@|[0-9a-f]{40}.*\/sign|\/embed\//);
    assert.deepEqual(await page.context().cookies(), []);
    await frame.getByRole("button", { name: "Close" }).click();
    await until(async () => (await told(page)).at(-1)?.type === "closed");
    await page.evaluate("window.mounted.close()");
    assert.equal(await page.locator("iframe").count(), 0);
  }));

test("a signer who declines in the frame ends the signing, and the page around it learns that, but not the reason", () =>
  embedded(async (running, browser, host) => {
    const { page } = await show(browser, host, await urlFor(running, host.origin));
    const frame = page.frameLocator("iframe");
    await frame.getByRole("button", { name: "Begin" }).click();
    await frame.getByText("I do not want to sign", { exact: true }).click();
    await frame.getByLabel("Why?").fill("The price is wrong.");
    await frame.getByRole("button", { name: "Decline to sign" }).click();
    await frame.getByRole("heading", { name: "The signing has ended" }).waitFor();
    await until(async () => (await told(page)).some(({ type }) => type === "declined"));
    assert.ok(!(await told(page)).some(({ type }) => type === "signed"));
    assert.doesNotMatch(JSON.stringify(await page.evaluate("window.all")), /price|Jane|jane@/);
  }));

test("without a script the frame leads to its own tab, where plain forms lead to the signature", () =>
  embedded(async (running, browser, host) => {
    const url = await urlFor(running, host.origin);
    const { page } = await show(browser, host, url, "/plain", { javaScript: false });
    const frame = page.frameLocator("iframe");
    await frame.getByRole("button", { name: "Begin" }).click();
    await frame.getByLabel("I opened the document").check();
    await frame.getByRole("button", { name: "I agree" }).click();
    await frame.locator("#field-name").fill("Jane Doe");
    await frame.locator("#sign-button").click();
    await frame.getByRole("alert").getByText("To sign without scripts").waitFor();
    const [tab] = await Promise.all([
      page.context().waitForEvent("page"),
      frame.getByRole("link", { name: "Open in a new tab instead" }).click(),
    ]);
    await tab.locator("#field-name").fill("Jane Doe");
    await tab.locator("#sign-button").click();
    await tab.getByText("Your signature is in the document.").waitFor();
    assert.deepEqual(await page.context().cookies(), []);
  }));

test("another origin can't show the page, neither before it begins nor later", () =>
  embedded(async (running, browser, host) => {
    const other = await openHost();
    try {
      const url = await urlFor(running, host.origin);
      const { page } = await show(browser, other, url);
      await page.waitForTimeout(500);
      assert.deepEqual(await told(page), []);
      assert.equal(await page.frameLocator("iframe").getByRole("button", { name: "Begin" }).count(), 0);
      const redeemed = await fetch(`${url}/begin`, {
        method: "POST",
        redirect: "manual",
        headers: { Origin: new URL(url).origin, "Content-Type": "application/x-www-form-urlencoded" },
      });
      const session = new URL(redeemed.headers.get("location") ?? "", url).href;
      const { page: again } = await show(browser, other, session);
      await again.waitForTimeout(500);
      assert.deepEqual(await told(again), []);
      assert.equal(await again.frameLocator("iframe").getByLabel("I opened the document").count(), 0);
    } finally {
      await other.close();
    }
  }));

test("an address that was used, or has expired, tells the page around it the reason", () =>
  embedded(async (running, browser, host) => {
    const url = await urlFor(running, host.origin);
    const first = await show(browser, host, url);
    await first.page.frameLocator("iframe").getByRole("button", { name: "Begin" }).click();
    await first.page.frameLocator("iframe").getByLabel("I opened the document").waitFor();
    const second = await show(browser, host, url);
    await until(async () => (await told(second.page)).length > 0);
    assert.deepEqual(await told(second.page), [{ type: "error", code: "used" }]);
    await second.page.frameLocator("iframe").getByRole("heading", { name: "This page has ended" }).waitFor();

    const ticket = "5".repeat(40);
    const [signer] = await running.db.query<{ id: number }>(sql`SELECT max(id) AS id FROM envelope_signers`);
    await running.db.transaction((tx) =>
      insertEmbed(tx, {
        signerId: signer?.id ?? 0,
        origin: host.origin,
        ticket,
        expiresAt: new Date(Date.now() - 1000),
      }),
    );
    const late = await show(browser, host, url.replace(/[0-9a-f]{40}$/, ticket));
    await until(async () => (await told(late.page)).length > 0);
    assert.deepEqual(await told(late.page), [{ type: "error", code: "expired" }]);
  }));

test("the page signs nothing in a frame that shows too little of it", () =>
  embedded(async (running, browser, host) => {
    const { page } = await show(browser, host, await urlFor(running, host.origin));
    const frame = page.frameLocator("iframe");
    await frame.getByRole("button", { name: "Begin" }).click();
    await frame.getByLabel("I opened the document").check();
    await frame.getByRole("button", { name: "I agree" }).click();
    await frame.getByText("Checked: the document that you see").waitFor();
    await frame.locator("#field-name").fill("Jane Doe");
    await frame.locator("html:not(.settling)").waitFor({ state: "attached" });
    await page.evaluate("window.mounted.frame.style.maxHeight = '200px'");
    await frame.locator("#sign-button").dispatchEvent("click");
    await until(async () => (await told(page)).some(({ type, code }) => type === "error" && code === "hidden"));
    assert.ok(!(await told(page)).some(({ type }) => type === "signed"));
  }));
