import assert from "node:assert/strict";
import { after, before, type OpenPage, test } from "@signsealship/testing/browser";
import { shipping } from "@signsealship/testing/inputs/order-form";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { newPartner } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { unzipSync } from "fflate";
import { mailsTo } from "../../../firms/members/signed-in-member.ts";
import { type OrdersPages, openOrdersPages, part, said } from "../orders/orders-pages.ts";

type Page = OpenPage["page"];
type Locator = ReturnType<Page["locator"]>;

/**
 * The limits of the agent's clicks, of the mails to each client, and of the words that the form shows. `empty`: when
 * the form is opened. `filled`: when the closing is ready to be placed.
 */
const max = { clicks: 12, mails: 5, words: { empty: 170, filled: 620 } };
const words = (x: number, y: number, text: string) => `BT /F1 11 Tf ${x} ${792 - y} Td (${text}) Tj ET`;
/** A line with words below it. */
const line = (x: number, y: number, text: string) =>
  `0.75 w ${x} ${792 - y} m ${x + 190} ${792 - y} l S ${words(x, y + 13, text)}`;
const underscores = "_".repeat(28);
const twoNames = [
  words(72, 340, "IN WITNESS WHEREOF, the parties have signed this document."),
  line(72, 400, "Marcus Ortega"),
  line(330, 400, "Ana Ortega"),
];
const notary = [words(72, 500, "Sworn to before me this day."), line(72, 560, "Notary Public")];
const signatureAndDate = (y: number) => [
  words(72, y, `Signature: ${underscores}`),
  words(350, y, `Date: ${"_".repeat(15)}`),
];
/** The files, and their drawn content. The letter has no place to sign. */
const papers = {
  "warranty_deed.pdf": [...twoNames, ...notary],
  "note.pdf": [...signatureAndDate(400), ...signatureAndDate(450)],
  "payoff_letter.pdf": [],
  "affidavit.pdf": twoNames,
  "disclosure.pdf": signatureAndDate(400),
};
const [marcus, ana] = [
  { name: "Marcus Ortega", email: "marcus@example.com" },
  { name: "Ana Ortega", email: "ana@example.com" },
];
const lender = "lee@lender.example";
let pages: OrdersPages;

before(async () => {
  pages = await openOrdersPages();
});
after(() => pages.close());

const mailed = (email: string, subject: string) =>
  until(() => mailsTo(pages.service, email).find((mail) => mail.includes(subject)));
const pathIn = (mail: string, pattern: RegExp) => pattern.exec(mail)?.[0] ?? assert.fail(mail);

/** Asserts that the painted parts of fields are on their lines, even when the touch target is enlarged. */
async function areOnTheirLines(page: Page): Promise<void> {
  const distances = await page.locator(".viewer-field").evaluateAll((fields) =>
    fields.map((field) => {
      const number = (name: string) => Number(getComputedStyle(field).getPropertyValue(`--${name}`));
      const sheet = field.closest(".viewer-page")?.getBoundingClientRect();
      const lower = (field.firstElementChild?.getBoundingClientRect().bottom ?? 0) - (sheet?.top ?? 0);
      return Math.abs(lower - number("scale") * (number("top") + number("height")));
    }),
  );
  assert.ok(distances.length > 0);
  assert.ok(Math.max(...distances) < 2, distances.join());
}

/** Signs all documents with the only link that was mailed to the person. */
async function signAll(email: string, count: number, javaScript: boolean): Promise<void> {
  const mail = await mailed(email, "please sign");
  const opened = await pages.browser.open(pages.service.baseUrl + pathIn(mail, /\/sign\/[0-9a-f]{40}/), {
    width: 375,
    javaScript,
  });
  const { page } = opened;
  await page.getByLabel("I opened the document").check();
  await page.getByRole("button", { name: "I agree" }).click();
  for (let n = 1; n <= count; n++) {
    await page.getByText(`Document ${n} of ${count}`).first().waitFor();
    const isBelow = await page.locator("#documents").evaluate((documents) => {
      const [title, list] = ["h2", "ol"].map((part) => documents.querySelector(part)?.getBoundingClientRect());
      return title !== undefined && list !== undefined && list.y >= title.bottom;
    });
    assert.ok(isBelow, "the list is below its title");
    if (javaScript) await page.getByText("Checked: the document that you see").waitFor();
    if (javaScript) await areOnTheirLines(page);
    await page.locator("#sign-button").click();
    await page.getByText(`You have signed ${n} of ${count}`).first().waitFor();
  }
  await opened.close();
}

/**
 * Opens the lender's link, and types the code from a second mail.
 * @returns the browser's cookies, which permit the download
 */
async function entered(link: string): Promise<string> {
  const { page, close } = await pages.browser.open(pages.service.baseUrl + link, { width: 375 });
  await page.getByRole("button", { name: "Mail the code" }).click();
  const mail = await mailed(lender, "Your code for the documents");
  await page.locator("input[name=code]").fill(pathIn(mail, /(?<=^|\s)\d{6}(?=\s|$)/m));
  await page.locator("input[name=code]").press("Enter");
  await page
    .getByRole("button", { name: /Download/ })
    .first()
    .waitFor();
  const cookies = await page.context().cookies();
  await close();
  return cookies.map(({ name, value }) => `${name}=${value}`).join("; ");
}

/** Pays like a client on a phone, with the link in the only mail about money. */
async function payAll(): Promise<void> {
  const quote = await mailed(marcus.email, "Your quote is ready");
  assert.match(quote, /Ortega closing \(5 documents\)/);
  const path = pathIn(quote, /\/orders\/[0-9a-f]{40}\/closing\/[0-9a-f]{40}/);
  const { page, close } = await pages.browser.open(pages.service.baseUrl + path, { width: 375 });
  await page.getByRole("button", { name: /^Pay all 5 documents together/ }).click();
  await page.waitForURL(/\/c\/pay\//);
  await page.getByRole("button", { name: "Pay by card" }).click();
  await close();
  const [event, ...more] = pages.stripe.paidByPayers;
  assert.ok(event);
  assert.deepEqual(more, [], "one payment");
  await pages.stripe.deliver(pages.service.baseUrl, event);
}

/**
 * Opens the page of one of the closing's orders. The page names the fields of each signer, and links to all documents.
 */
async function orderShows(page: Page, document: string): Promise<void> {
  const room = page.url();
  await mailed(ana.email, "please sign");
  await page.goto(room);
  await page.getByRole("link", { name: document }).first().click();
  const signer = page.getByRole("region", { name: /^Ana Ortega/ });
  await signer.getByText("1 signature on page 1").waitFor();
  const address = await signer.getByRole("link", { name: "Sign as Ana Ortega" }).getAttribute("href");
  const { page: signing, close } = await pages.browser.open(new URL(address ?? "", pages.service.baseUrl).href, {
    width: 375,
  });
  await signing.locator("#documents ol").waitFor();
  assert.equal(await signing.locator("#documents ol > li").count(), 4);
  await close();
  await page.goto(room);
}

/** How many words the form shows, without the choices of its lists. */
const wordsShown = async (page: Page): Promise<number> => {
  const main = page.locator("main");
  const lists = await main.locator("select:visible").allInnerTexts();
  const count = (text: string) => text.split(/\s+/).filter(Boolean).length;
  return lists.reduce((sum, text) => sum - count(text), count(await main.innerText()));
};

test("five documents for two clients: 12 clicks of the agent, one payment, a link and 5 mails for each client", async (t) => {
  const firm = await newPartner(pages.service, { tier: "ClosingDesk" });
  const { page } = await pages.open({ firm });
  let clicks = 0;
  const click = async (target: Locator) => {
    clicks += 1;
    await target.click();
  };

  await click(page.getByRole("link", { name: "New closing" }));
  await page.locator("#field-closing_name").fill("Ortega closing");
  const words = { empty: await wordsShown(page), filled: 0 };
  assert.equal(await page.locator("#field-fax_to").isVisible(), false, "nothing is faxed yet");
  clicks += 1;
  await page.getByLabel("Add files").setInputFiles(
    Object.entries(papers).map(([name, drawn]) => ({
      name,
      mimeType: "application/pdf",
      buffer: makePdf({ text: `The ${name}`, content: drawn.join("\n") }),
    })),
  );
  await page.getByText("5 files were added.").waitFor();
  for (const service of ["doc1_notary", "doc2_ship", "doc3_fax"]) await click(page.locator(`#field-${service}`));
  await page.locator("#field-email").fill(marcus.email);
  await page.locator("#field-name").fill(marcus.name);
  await page.locator("#field-person1_name").fill(ana.name);
  await page.locator("#field-person1_email").fill(ana.email);
  await click(page.getByRole("group", { name: "5. Disclosure", exact: true }).getByLabel(ana.name));
  for (const [name, value] of Object.entries(shipping).filter(([name]) => !/svc_|state/.test(name)))
    await page.locator(`#field-${name}`).fill(value);
  // Selects the state, like a person who types its letters.
  await page.locator("#field-ship_state").selectOption(shipping.ship_state);
  await page.locator("#field-fax_to").fill("2125550123");
  await click(page.getByLabel("These are the client’s own documents"));
  const found = page.getByRole("group", { name: "Where they sign" });
  await found.getByText("3. Payoff letter No place for Marcus Ortega and Ana Ortega to sign.").waitFor();
  await click(found.getByRole("button", { name: "Place all 10 fields that were found in 4 documents" }));
  await found.getByText("10 fields placed in 4 documents.").waitFor();
  assert.deepEqual(await found.getByRole("listitem").locator("p").allTextContents(), [
    "1. Warranty deed Placed. Marcus Ortega: 1 signature on page 1. Ana Ortega: 1 signature on page 1.",
    "2. Note Placed. Marcus Ortega: 1 signature and 1 date on page 1. Ana Ortega: 1 signature and 1 date on page 1.",
    "3. Payoff letter No place for Marcus Ortega and Ana Ortega to sign.",
    "4. Affidavit Placed. Marcus Ortega: 1 signature on page 1. Ana Ortega: 1 signature on page 1.",
    "5. Disclosure Placed. Marcus Ortega: 1 signature and 1 date on page 1.",
  ]);
  await page.locator("#places-1").getByText("The notary’s box is added where a page has room").waitFor();
  await click(page.getByLabel("Where a document has no place for somebody to sign"));
  words.filled = await wordsShown(page);
  t.diagnostic(`words shown: ${words.empty} at first, ${words.filled} at last`);
  assert.ok(words.empty <= max.words.empty && words.filled <= max.words.filled, JSON.stringify(words));
  await page.screenshot({
    fullPage: true,
    clip: { x: 250, y: 2600, width: 1000, height: 2600 },
  });
  await page.screenshot({
    fullPage: true,
    clip: { x: 250, y: 5200, width: 1000, height: 2600 },
  });
  await click(page.getByRole("button", { name: "Place the test closing" }));
  await said(page, "The closing was placed. This is its room.");

  await payAll();
  await orderShows(page, "Warranty deed");
  await signAll(marcus.email, 5, true);
  await signAll(ana.email, 4, false);
  await page.reload();
  await click(part(page, "Sandbox").getByRole("button", { name: "Complete 5 orders" }));
  await said(page, "The test orders of this room are completed.");
  await until(async () => {
    await page.reload();
    return (await page.getByText("The service sealed version 1").count()) > 0;
  });
  const delivery = part(page, "Deliver");
  await delivery.getByLabel("Name of the recipient").fill("Lee Lender");
  await delivery.getByLabel("Email").fill(lender);
  await click(delivery.getByRole("button", { name: "Send the documents" }));
  await page.getByText(lender).first().waitFor();

  const link = pathIn(await mailed(lender, "/deliveries/"), /\/deliveries\/[\w-]+\/\w+/);
  const zip = await fetch(pages.service.baseUrl + link, { method: "POST", headers: { cookie: await entered(link) } });
  assert.equal(zip.status, 200);
  const names = Object.keys(unzipSync(new Uint8Array(await zip.arrayBuffer()))).join("\n");
  for (const name of [
    "Warranty deed, notarization simulated",
    "Note, signed",
    "Payoff letter, signed",
    "Affidavit, signed",
    "Disclosure, signed",
  ])
    assert.ok(names.includes(`${name}.pdf`), names);
  assert.ok(names.includes("Certificates/Closing certificate.pdf"), names);

  await mailed(marcus.email, "Your documents are complete");
  const asked = await mailed(marcus.email, "please sign");
  assert.match(asked, /Your payment of \$[\d,]+\.\d\d has cleared\./, "one mail tells of the payment and asks to sign");
  assert.ok(!mailsTo(pages.service, marcus.email).some((mail) => mail.includes("Payment received")));
  for (const { email } of [marcus, ana]) {
    const mails = mailsTo(pages.service, email);
    const subjects = mails.map((mail) => /^Subject: (.*)$/m.exec(mail)?.[1]?.trim() ?? "");
    t.diagnostic(`${email}: ${mails.length} mails: ${subjects.join(" | ")}`);
    assert.ok(mails.length <= max.mails, subjects.join("\n"));
    const links = mails.flatMap((mail) => /\/sign\/[0-9a-f]{40}/.exec(mail)?.[0] ?? []);
    assert.equal(new Set(links).size, 1, "one link");
  }
  t.diagnostic(`${clicks} clicks of the agent`);
  assert.ok(clicks <= max.clicks, String(clicks));
});
