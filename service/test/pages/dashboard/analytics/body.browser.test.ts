import assert from "node:assert/strict";
import {
  after,
  assertGoodLooks,
  type Browser,
  before,
  inEachLook,
  type OpenPage,
  startBrowser,
  test,
} from "@signsealship/testing/browser";
import type { Snapshot } from "../../../../src/orders/analytics/analytics.ts";
import { money } from "../../../../src/pages/ui/format.ts";
import { contrastOfMarks, troublesOfWords } from "../../ui/picture-checks.ts";
import { huge, ordinary, samples, serveSnapshots } from "./samples.ts";

let site: Awaited<ReturnType<typeof serveSnapshots>>;
let browser: Browser;

before(async () => {
  [site, browser] = await Promise.all([
    serveSnapshots({ ...samples, unmeasured: { ...huge, turnaroundHours: { median: 0, p90: 0 } } }),
    startBrowser(),
  ]);
});
after(async () => {
  await browser.close();
  await site.close();
});

const unfold = ({ page }: OpenPage) =>
  page.evaluate("document.querySelectorAll('details').forEach((table) => { table.open = true; })");

test("ordinary, empty and huge figures are accessible and fit, with their tables folded and unfolded", async () => {
  const opened = await browser.open(`${site.baseUrl}/ordinary`, { width: 360 });
  for (const name of ["ordinary", "empty", "huge"]) {
    await opened.page.goto(`${site.baseUrl}/${name}`);
    await inEachLook(opened, async (look) => assert.equal(await opened.overflow(), 0, `${name} ${look}`));
    await unfold(opened);
    await assertGoodLooks(opened);
  }
  assert.deepEqual(opened.troubles, []);
  await opened.close();
});

test("every mark contrasts with its sheet and its background, 3 to 1, in every look", async () => {
  const opened = await browser.open(`${site.baseUrl}/ordinary`, { width: 360 });
  await inEachLook(opened, async () => {
    const contrasts = await opened.page.evaluate(contrastOfMarks);
    assert.ok(Array.isArray(contrasts) && contrasts.length > 20);
    assert.deepEqual(
      contrasts.filter(({ ratio }) => ratio < 3),
      [],
    );
  });
  await opened.close();
});

for (const width of [360, 800, 1060]) {
  test(`at ${width} pixels no words are small, cut off or on top of others`, async () => {
    const opened = await browser.open(`${site.baseUrl}/ordinary`, { width });
    for (const name of ["ordinary", "huge", "single", "unmeasured"]) {
      await opened.page.goto(`${site.baseUrl}/${name}`);
      await unfold(opened);
      assert.deepEqual(await opened.page.evaluate(troublesOfWords), [], name);
    }
    await opened.close();
  });
}

const spaced = new Intl.NumberFormat("en-US");
const rowsOf = async ({ page }: OpenPage, card: string) =>
  (await page.evaluate(
    `[...document.querySelectorAll("#${card} tbody tr")].map((row) => [...row.querySelectorAll("td")].map((cell) => cell.textContent))`,
  )) as string[][];
const firsts = (rows: string[][]) => rows.map(([cell]) => cell);
const inFull = (numbers: readonly number[]) => numbers.map((number) => spaced.format(number));

for (const [name, snapshot] of Object.entries({ ordinary, huge })) {
  test(`the tables of ${name} figures equal the snapshot`, async () => {
    const opened = await browser.open(`${site.baseUrl}/${name}`, { width: 1280, javaScript: false });
    const { funnel, serviceMix, evidence, turnaroundHours } = snapshot;
    const months = (await rowsOf(opened, "by-month")).filter(([created]) => created !== "0");
    assert.deepEqual(
      months,
      snapshot.volumeByMonth.map(({ createdCount, completedCount }) => inFull([createdCount, completedCount])),
    );
    const { created, paid, inProgress, completed, problem } = funnel;
    assert.deepEqual(
      firsts(await rowsOf(opened, "by-status")),
      inFull([created, paid, inProgress, completed, problem]),
    );
    const { sign, notarize, ship, fax } = serviceMix;
    assert.deepEqual(firsts(await rowsOf(opened, "by-service")), inFull([sign, notarize, ship, fax]));
    const hours = (await rowsOf(opened, "by-time")).map(([, cell = ""]) => Number(cell.replaceAll(",", "")));
    assert.deepEqual(hours, [turnaroundHours.median, turnaroundHours.p90]);
    assert.deepEqual(
      firsts(await rowsOf(opened, "by-record")),
      inFull([evidence.totalCompleted, evidence.sealedDocumentCount, evidence.deliveredWithProofCount]),
    );
    assert.deepEqual(await keyValues(opened), [
      ...inFull([sumOf(funnel), funnel.completed]),
      money(snapshot.revenueCents),
      ...(name === "huge" ? ["30 days", "366 days"] : ["26.8 hours", "4.1 days"]),
    ]);
    await opened.close();
  });
}

test("the month without orders is drawn and listed as 0", async () => {
  const opened = await browser.open(`${site.baseUrl}/ordinary`, { width: 1280 });
  assert.deepEqual((await rowsOf(opened, "by-month"))[2], ["0", "0"]);
  assert.equal(await opened.page.locator("#by-month .chart .hollow").count(), 4);
  assert.equal(await opened.page.locator("#by-month .chart .value").count(), 5);
  await opened.close();
});

test("the picker links to another window of the same page", async () => {
  const opened = await browser.open(`${site.baseUrl}/empty`, { width: 360 });
  await opened.page.getByRole("link", { name: "180 days" }).click();
  assert.equal(new URL(opened.page.url()).search, "?days=180");
  await opened.close();
});

const sumOf = (funnel: Snapshot["funnel"]) => Object.values(funnel).reduce((sum, orders) => sum + orders, 0);

const keyValues = async ({ page }: OpenPage) => page.locator(".key-value").allTextContents();
