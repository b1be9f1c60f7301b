import assert from "node:assert/strict";
import { after, assertGoodLooks, before, test } from "@signsealship/testing/browser";
import { examplePdf } from "@signsealship/testing/inputs/order-form";
import { newPartner } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { languages } from "../../../src/kernel/platform/languages.ts";
import { closingWords } from "../../../src/pages/client/closing-words.ts";
import { mailsTo } from "../../firms/members/signed-in-member.ts";
import { type OrdersPages, openOrdersPages } from "../dashboard/orders/orders-pages.ts";

let pages: OrdersPages;

before(async () => {
  pages = await openOrdersPages();
});
after(() => pages.close());

let payers = 0;
/** Places a closing whose client only pays, while another person signs. @returns the mail that asks for the payment */
async function closing(fields: Record<string, string> = {}) {
  const email = `payer${++payers}@example.com`;
  const firm = await newPartner(pages.service, { tier: "ClosingDesk", name: "Harbor Title" });
  const agent = await pages.caller(firm);
  const path = "/dashboard/closings/new";
  const file = async (name: string) => {
    const body = new FormData();
    body.set("document", new File([new Uint8Array(examplePdf)], name, { type: "application/pdf" }));
    const { text } = await agent.send(`${path}/file`, body, { Accept: "application/json" });
    return (JSON.parse(text) as { file: string }).file;
  };
  const { text } = await agent.send(path);
  const placed = await agent.form(path, {
    submission: /name="submission" value="([^"]*)"/.exec(text)?.[1] ?? "",
    closing_name: "Ortega closing",
    doc1: await file("deed.pdf"),
    doc1_name: "Warranty deed",
    doc1_sign: "on",
    doc1_signs_1: "on",
    doc2: await file("note.pdf"),
    doc2_name: "Note",
    doc2_sign: "on",
    doc2_signs_1: "on",
    email,
    name: "Pat Payer",
    byod_confirmed: "on",
    people_rows: "2",
    person1_name: "Sam Signer",
    person1_email: `signer${payers}@example.com`,
    person1_role: "signs",
    ...fields,
  });
  assert.equal(placed.status, 303, placed.text);
  const room = /rooms\/([0-9a-f]{40})/.exec(placed.location)?.[1] ?? "";
  return {
    email,
    firm,
    room,
    mails: (subject: string) => mailsTo(pages.service, email).filter((mail) => mail.includes(subject)),
  };
}

const closingLink = (mail: string) =>
  /\/orders\/[0-9a-f]{40}\/closing\/[0-9a-f]{40}/.exec(mail)?.[0] ?? assert.fail(mail);
const at = (path: string) => pages.service.baseUrl + path;

test("a client who only pays gets one link, sees what the payment is for, pays once, and gets the receipts", async () => {
  const { mails } = await closing();
  const mail = await until(() => mails("Your quote is ready")[0]);
  assert.match(mail, /Ortega closing \(2 documents\)/);
  const path = closingLink(mail);
  const opened = await pages.browser.open(at(path), { width: 375 });
  const { page } = opened;
  await page.getByRole("heading", { level: 1, name: "Ortega closing" }).waitFor();
  await page.getByText("2 documents from Harbor Title.").waitFor();
  for (const name of ["Warranty deed", "Note"]) await page.getByRole("link", { name }).waitFor();
  await page.getByRole("rowheader", { name: "Warranty deed" }).waitFor();
  await page.getByText("One payment covers all of them.").waitFor();
  await assertGoodLooks(opened);
  const label = await page.getByRole("button", { name: /^Pay all 2 documents together: \$/ }).textContent();
  const total = /\$[\d,.]+$/.exec(label ?? "")?.[0] ?? "";
  assert.equal(await page.locator("tr.total td").textContent(), total, "the button asks for the sum of the table");
  await page.getByRole("button", { name: /^Pay all 2 documents/ }).click();
  await page.waitForURL(/\/c\/pay\//);
  await page.getByRole("button", { name: "Pay by card" }).click();
  const [event, ...more] = pages.stripe.paidByPayers;
  assert.ok(event);
  assert.deepEqual(more, [], "one payment");
  await pages.stripe.deliver(pages.service.baseUrl, event);
  await page.goto(at(path));
  await page.getByText("There is nothing to pay now.").waitFor();
  assert.equal(await page.getByRole("button", { name: /^Pay/ }).count(), 0);
  const receipts = page.getByRole("region", { name: "Receipts" }).getByRole("link");
  assert.ok((await receipts.count()) >= 1);
  await assertGoodLooks(opened);
  const file = await fetch(at((await receipts.first().getAttribute("href")) ?? ""));
  assert.deepEqual([file.status, file.headers.get("content-type")], [200, "application/pdf"]);
  const ownTroubles = opened.troubles.filter((line) => !line.startsWith("foreign:"));
  assert.deepEqual(ownTroubles, [], "the processor's page is foreign, and so is the way back from it");
  await opened.close();
  const paid = await until(() => mails("Payment received")[0]);
  assert.equal(closingLink(paid), path, "the mail about the payment leads to the same page");
  assert.equal(mails("Subject:").length, 2, "one request and one receipt");
});

for (const width of [375, 1280])
  test(`the client's closing is accessible and fits ${width} pixels, in every language`, async () => {
    const { mails } = await closing();
    const path = closingLink(await until(() => mails("Your quote is ready")[0]));
    for (const language of languages) {
      const opened = await pages.browser.open(at(`${path}?lang=${language}`), { width });
      await opened.page.getByText(closingWords[language].onePayment).waitFor();
      assert.equal(await opened.overflow(), 0, language);
      assert.deepEqual(await opened.axe(), [], language);
      assert.deepEqual(opened.troubles, [], language);
      await opened.close();
    }
  });

test("without a script the client pays with the same button", async () => {
  const { mails } = await closing();
  const path = closingLink(await until(() => mails("Your quote is ready")[0]));
  const { page, close } = await pages.browser.open(at(path), { width: 375, javaScript: false });
  await page.getByRole("button", { name: /^Pay all 2 documents/ }).click();
  await page
    .getByRole("heading", { name: "Opening the payment page" })
    .or(page.getByRole("button", { name: "Pay by card" }))
    .waitFor();
  await close();
});

test("a client whose firm pays sees no prices and gets no mail about money", async () => {
  const { mails, email, room } = await closing({ pay_by: "firm" });
  const { orders } = (await (await fetch(at(`/api/rooms/${room}`))).json()) as { orders: { orderCode: string }[] };
  assert.equal(orders.length, 2);
  assert.deepEqual(mails("Your quote is ready"), [], email);
});

test("the link is the client's own: an order's code, another token, and a link that opens a checkout do nothing", async () => {
  const { mails } = await closing();
  const other = await closing();
  const path = closingLink(await until(() => mails("Your quote is ready")[0]));
  const foreign = closingLink(await until(() => other.mails("Your quote is ready")[0]));
  const token = foreign.split("/").at(-1) ?? "";
  for (const wrong of [
    path.replace(/[0-9a-f]{40}$/, token),
    path.replace(/[0-9a-f]{40}$/, "x"),
    path.replace(/\/orders\/[0-9a-f]{40}/, `/orders/${"0".repeat(40)}`),
  ])
    for (const [method, more] of [
      ["GET", ""],
      ["GET", "/status"],
      ["POST", "/checkout"],
      ["GET", "/receipts/1"],
    ] as const)
      assert.equal((await fetch(at(wrong + more), { method })).status, 404, `${method} ${more}`);
  const followed = await fetch(at(`${path}/checkout`), { redirect: "manual" });
  assert.equal(followed.headers.get("location"), path, "a mail scanner opens no checkout");
});
