import assert from "node:assert/strict";
import { after, type Browser, before, describe, startBrowser, test } from "@signsealship/testing/browser";
import { roomCode, roomRow } from "./samples.ts";
import { code, order, servePages } from "./serve-pages.ts";

let site: Awaited<ReturnType<typeof servePages>>;
let browser: Browser;

before(async () => {
  const shown = { orders: new Map([[code, order()]]), rooms: new Map([[roomCode, roomRow()]]) };
  [site, browser] = await Promise.all([servePages(shown), startBrowser()]);
});
after(async () => {
  await browser.close();
  await site.close();
});

describe("times", () => {
  const newYork = { width: 1280, timeZone: "America/New_York" };

  test("are in the reader's zone, with UTC next to exact ones and in the title of all", async () => {
    const { page, close } = await browser.open(`${site.baseUrl}/sample`, newYork);
    const [long, short] = [page.locator("#hash time"), page.locator(".records time")];
    assert.equal(await long.innerText(), "September 8, 2001 at 9:46 PM EDT (September 9, 2001 at 01:46 UTC)");
    assert.equal(await short.innerText(), "Sep 8, 2001, 9:46 PM EDT");
    const plain = page.locator(".timeline time").last();
    assert.equal(await plain.innerText(), "September 8, 2001 at 9:46 PM EDT");
    for (const time of [long, short, plain])
      assert.equal(await time.getAttribute("title"), "September 9, 2001 at 01:46 UTC");
    assert.equal((await page.locator(".records thead").innerText()).trim(), "Order\tPlaced");
    await close();
  });

  test("are UTC, and say so, for readers in that zone and for readers without a script", async () => {
    for (const look of [{ width: 1280 }, { ...newYork, javaScript: false }]) {
      const { page, close } = await browser.open(`${site.baseUrl}/sample`, look);
      assert.equal(await page.locator(".timeline time").last().innerText(), "September 9, 2001 at 01:46 UTC");
      assert.equal(await page.locator(".records time").innerText(), "Sep 9, 2001, 01:46");
      assert.equal((await page.locator(".records thead").innerText()).trim(), "Order\tPlaced (UTC)");
      await close();
    }
  });

  test("on a phone have a label that is as accurate as the head of the table", async () => {
    for (const [timeZone, said] of [
      ["UTC", '"Placed (UTC)"'],
      ["America/New_York", '"Placed"'],
    ] as const) {
      const { page, close } = await browser.open(`${site.baseUrl}/sample`, { width: 375, timeZone });
      const label = "getComputedStyle(document.querySelector('.records td'), '::before').content";
      assert.equal(await page.evaluate(label), said);
      const { width } = (await page.locator(".records thead").boundingBox()) ?? { width: 0 };
      assert.equal(width, 1, "the head is there for who does not see the page");
      await close();
    }
  });

  test("stay in the reader's zone in parts that load later, for clients without UTC next to them", async () => {
    const { page, close } = await browser.open(`${site.baseUrl}/orders/${code}`, newYork);
    const fresh = `fetch("/orders/${code}/status").then((answer) => answer.text()).then((text) => {
      document.getElementById("order").innerHTML = text;
    })`;
    await page.evaluate(fresh);
    assert.equal(await page.locator("#order time").innerText(), "November 20, 2026 at 10:04 AM EST");
    await close();
  });
});

test("printed, an order and a room have their address, a code to scan and the date, and no buttons", async () => {
  for (const path of [`/orders/${code}`, `/rooms/${roomCode}`]) {
    const { page, close } = await browser.open(site.baseUrl + path, { width: 1280 });
    assert.equal(await page.locator(".on-paper").isVisible(), false);
    await page.emulateMedia({ media: "print" });
    const paper = await page.locator(".on-paper").innerText();
    assert.ok(paper.includes(`http://localhost${path}`), paper);
    assert.match(paper, new RegExp(`Printed on .*${new Date().getFullYear()}`));
    for (const idle of ["header nav", "footer"])
      assert.equal(await page.locator(idle).first().isVisible(), false, idle);
    await close();
  }
});
