import assert from "node:assert/strict";
import { type Browser, type Look, looks, type OpenPage } from "@signsealship/testing/browser";
import type { Service } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { linksTo } from "../../members/signed-in-member.ts";

/** A browser that is signed in and, with a key, linked to its firm; it is on the dashboard's first page. */
export async function signedIn(
  service: Service,
  browser: Browser,
  { key, email = "dana@harbor-title.com", ...look }: Look & { key?: string; email?: string },
): Promise<OpenPage> {
  const before = linksTo(service, email).length;
  const opened = await browser.open(`${service.baseUrl}/sign-in`, look);
  const { page } = opened;
  await page.getByLabel("Work email").fill(email);
  await page.getByRole("button", { name: "Send me a link" }).click();
  await page.getByRole("heading", { name: "Check your email" }).waitFor();
  await until(() => linksTo(service, email).length > before);
  await page.goto(service.baseUrl + (linksTo(service, email)[0] ?? ""));
  await page.getByRole("main").getByRole("button", { name: "Sign in" }).click();
  if (key && page.url().includes("/dashboard/link")) {
    await page.getByLabel("API key").fill(key);
    await page.getByRole("button", { name: "Connect" }).click();
  }
  return opened;
}

/** The page is accessible and fits, in every look. */
export async function assertGoodLooks(opened: OpenPage): Promise<void> {
  for (const { width, colorScheme } of looks) {
    await opened.page.setViewportSize({ width, height: 800 });
    await opened.page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    const where = `${opened.page.url()} ${width} ${colorScheme}`;
    assert.deepEqual(await opened.axe(), [], where);
    assert.equal(await opened.overflow(), 0, where);
  }
}
