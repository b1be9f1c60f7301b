import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, type Browser, before, startBrowser, test } from "@signsealship/testing/browser";
import { inTurn } from "@signsealship/testing/inputs/fuzz";
import { order } from "../../../orders/fulfilment/mail-samples.ts";
import { everyMail } from "./every-mail.ts";

const plain = everyMail({ firm: { ...order.firm, logoUrl: null }, title: "Deed of trust" });
// The longest texts that firms may enter, without any place for a line break.
const odd = everyMail({
  firm: { ...order.firm, name: "W".repeat(120), accentColor: "#ffffff", logoUrl: null },
  title: "x".repeat(120),
});

let browser: Browser;
let server: Server;
let url: string;

before(async () => {
  server = createServer((request, response) => {
    const { pathname, search } = new URL(request.url ?? "", "http://localhost");
    const html = (search === "?odd" ? odd : plain).get(pathname.slice(1));
    response.writeHead(html ? 200 : 404, { "Content-Type": "text/html; charset=utf-8" }).end(html);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  browser = await startBrowser();
});
after(async () => {
  await browser.close();
  server.close();
});

test("each mail fits a window of 320 pixels, whatever a firm writes", async () => {
  const { page, overflow, close } = await browser.open(url, { width: 320 });
  for (const name of plain.keys())
    for (const words of ["", "?odd"]) {
      await page.goto(`${url}/${name}${words}`);
      assert.equal(await overflow(), 0, name + words);
    }
  await close();
});

test("each mail is accessible, light and dark, and loads nothing", async () => {
  const { axe, page, troubles, close } = await browser.open(url, { width: 700 });
  for (const [number, name] of [...plain.keys()].entries()) {
    await page.goto(`${url}/${name}`);
    assert.equal(await page.getByRole("heading").count(), 1);
    for (const colorScheme of inTurn(["light", "dark"] as const, number)) {
      await page.emulateMedia({ colorScheme });
      assert.deepEqual(await axe(), [], `${name} ${colorScheme}`);
    }
  }
  assert.deepEqual(
    troubles.filter((each) => !each.includes("404")),
    [],
  );
  await close();
});

test("the preview words of mail lists are in the mail, and are not visible twice", async () => {
  const { page, close } = await browser.open(`${url}/payment_received`, { width: 700 });
  const first = page.getByText("Your payment of $109.50 for the document from Acme Title & Escrow has cleared");
  assert.deepEqual([await first.first().isVisible(), await first.last().isVisible()], [false, true]);
  await close();
});
