import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { readCustodyCertificate } from "@signsealship/evidence/envelope";
import { readClosingCertificate, sealReasons } from "@signsealship/evidence/seal";
import { readZip } from "@signsealship/evidence/zip";
import { type Browser, type OpenPage, startBrowser } from "@signsealship/testing/browser";
import { type CalendarDouble, startCalendar } from "@signsealship/testing/doubles/calendar";
import { startTsa, type TsaDouble } from "@signsealship/testing/doubles/tsa";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { temporaryFolder } from "@signsealship/testing/service";
import { testsNeeding } from "@signsealship/testing/tools/tools";
import { until } from "@signsealship/testing/until";
import { makeReceipt } from "../../../src/delivery/receipts/make.ts";
import { isSealed, sql } from "../../../src/kernel/platform/database/sql.ts";
import { openCeremonyService, signBy } from "../../signing/envelopes/ceremony/ceremony-service.ts";

const { after, before, test } = testsNeeding("chromium", "openssl");

const sealed = "A test document, unchanged";
const notSealed = "This PDF has no seal";
const notChecked = "This file was not checked";

const folder = temporaryFolder();
let tsa: TsaDouble;
let calendar: CalendarDouble;
let running: Awaited<ReturnType<typeof openCeremonyService>>;
let browser: Browser;
/** Files that the service offers: for each, its name, its bytes, and the verdict on the file alone. */
let artifacts: (readonly [name: string, bytes: Uint8Array, verdict: string])[];
let passport: string;

const get = async (path: string): Promise<Buffer> => {
  const answer = await fetch(running.service.baseUrl + path, { headers: { ...running.headers, accept: "*/*" } });
  assert.equal(answer.status, 200, path);
  return Buffer.from(await answer.arrayBuffer());
};

before(async () => {
  [tsa, calendar, browser] = await Promise.all([startTsa(), startCalendar(), startBrowser()]);
  const tsaTrust = join(folder.path, "tsa.pem");
  writeFileSync(tsaTrust, tsa.caPem);
  running = await openCeremonyService({ TSA_URLS: tsa.url, TSA_TRUST: tsaTrust, OTS_CALENDARS: calendar.url });
  artifacts = [...(await ofPassport()), ...(await ofOrder()), ...(await ofRoom())];
});
after(async () => {
  await browser.close();
  await running.close();
  await Promise.all([tsa.close(), calendar.close()]);
  folder.remove();
});

async function ofPassport(): Promise<typeof artifacts> {
  const original = makePdf({ text: "Deed" });
  const form = new FormData();
  form.set("file", new Blob([Uint8Array.from(original)], { type: "application/pdf" }), "deed.pdf");
  ({ verifyCode: passport } = await running.client.post<{ verifyCode: string }>("/api/passport/seal", form));
  const api = `/api/passport/verify/${passport}`;
  const zip = await get(`${api}/evidence`);
  const inside = [...readZip(zip)].map(
    ([name, bytes]) => [`evidence-${name}`, bytes, name.endsWith(".pdf") ? sealed : notChecked] as const,
  );
  assert.ok(inside.length >= 6, inside.map(([name]) => name).join(" "));
  return [
    ["deed.pdf", original, notSealed],
    ["sealed-deed.pdf", await get(`${api}/document`), sealed],
    ["evidence.zip", zip, sealed],
    ["proof-certificate.pdf", await get(`${api}/certificate`), sealed],
    ["passport-answer.json", await get(api), notChecked],
    ["trust.json", await get("/seal/trust.json"), notChecked],
    ["certificate.pem", await get("/seal/certificate.pem"), notChecked],
    ...inside,
  ];
}

async function ofOrder(): Promise<typeof artifacts> {
  const jane = { name: "Jane Doe", email: "jane@example.com" };
  const code = await running.order([jane]);
  await signBy(running.ceremony, await running.linkOf(jane.email), "Jane Doe");
  const [order] = await running.db.query<{ id: number }>(
    sql`SELECT id FROM orders WHERE ${isSealed(sql`code`, "order", code)}`,
  );
  const providers = { rawEvents: async () => [] };
  for (const kind of ["delivery_receipt", "mail_receipt", "fax_certificate"] as const) {
    const content = { title: "Fax", sentence: "It arrived.", rows: [["Pages", "3"] as const], events: [] };
    const deps = { ...running.deps, providers } as unknown as Parameters<typeof makeReceipt>[0];
    await makeReceipt(deps, async () => content, { orderId: order?.id ?? 0, kind, subject: 7 });
  }
  const path = `/api/partner/orders/${code}/documents`;
  const { documents } = JSON.parse((await get(path)).toString()) as {
    documents: { documentId: string; kind: string }[];
  };
  const made = await Promise.all(
    documents.map(
      async ({ documentId, kind }) =>
        [`${kind}.pdf`, await get(`${path}/${documentId}`), kind === "original" ? notSealed : sealed] as const,
    ),
  );
  assert.deepEqual(made.map(([name]) => name.replace(".pdf", "")).toSorted(), [
    "custody_certificate",
    "delivery_receipt",
    "fax_certificate",
    "mail_receipt",
    "original",
    "sealed",
  ]);
  const custody = made.find(([name]) => name === "custody_certificate.pdf")?.[1] ?? assert.fail();
  const { envelope } = await readCustodyCertificate(custody);
  assert.ok(envelope);
  const { verifyCode } = JSON.parse(Buffer.from(envelope).toString()) as { verifyCode: string };
  const sealedAs = async (reason: (typeof sealReasons)["notarized" | "journal"]["test"]) =>
    (await running.deps.sealDocument({ bytes: makePdf({}), holder: "test", reason })).bytes;
  return [
    ...made,
    ["envelope.json", envelope, notChecked],
    ["envelope-answer.json", await get(`/api/verify/envelope/${verifyCode}`), notChecked],
    ["notarized.pdf", await sealedAs(sealReasons.notarized.test), sealed],
    ["journal.pdf", await sealedAs(sealReasons.journal.test), sealed],
  ];
}

async function ofRoom(): Promise<typeof artifacts> {
  const { roomUrl } = await running.client.post<{ roomUrl: string }>("/api/rooms", { name: "12 Elm Street" });
  const { verifyCode } = await running.client.post<{ verifyCode: string }>(`/api${roomUrl}/passport`);
  const certificate = await get(`/api/verify/room/${verifyCode}/pdf`);
  const { manifest } = readClosingCertificate(certificate);
  assert.ok(manifest);
  return [
    ["closing.pdf", certificate, "A test certificate, unchanged"],
    ["manifest.json", manifest, "There is no seal to check"],
    ["closing-answer.json", await get(`/api/verify/room/${verifyCode}`), "There is no seal to check"],
  ];
}

async function verdictsOn({ page }: OpenPage, name: string, bytes: Uint8Array): Promise<string[]> {
  const file = join(folder.path, "given", name);
  mkdirSync(join(folder.path, "given"), { recursive: true });
  writeFileSync(file, bytes);
  await page.evaluate("document.getElementById('outcome').replaceChildren()");
  await page.setInputFiles("#drop-files", file);
  await page.locator("#outcome article").last().waitFor();
  return page.locator("#outcome article h2").allTextContents();
}

test("every kind of file that the service offers gets exactly one verdict, the right one", async () => {
  const opened = await browser.open(`${running.service.baseUrl}/verify`, { width: 375 });
  for (const [name, bytes, verdict] of artifacts) {
    assert.deepEqual(await verdictsOn(opened, name, bytes), [verdict], name);
  }
  assert.deepEqual(opened.troubles, []);
});

test("every changed byte of a sealed one causes a failure", async () => {
  const opened = await browser.open(`${running.service.baseUrl}/verify`, { width: 375 });
  for (const [name, bytes, verdict] of artifacts) {
    if (!name.endsWith(".pdf") || verdict === notSealed) continue;
    const changed = Uint8Array.from(bytes).fill(0x20, 200, 201);
    const [heading] = await verdictsOn(opened, name, changed);
    assert.match(String(heading), /failed the check$/, name);
  }
});

test("the page states whose statement the time is: a checked stamp of an authority is no gap", async () => {
  const opened = await browser.open(`${running.service.baseUrl}/verify/${passport}`, { width: 375 });
  const summary = () => opened.page.locator("main .result .summary").innerText();
  assert.match(await summary(), /Time stamped by an independent authority, 127\.0\.0\.1/);
  assert.match(
    String(await opened.page.locator(".trust p").first().textContent()),
    /Time stamps are checked against \S+/,
  );
  const [, bytes] = artifacts.find(([name]) => name === "evidence.zip") ?? assert.fail();
  await verdictsOn(opened, "evidence.zip", bytes);
  const said = await opened.page.locator("#outcome").innerText();
  assert.match(said, /An independent authority stamped this time\. Its stamp passed\./);
  const [, original] = artifacts.find(([name]) => name === "deed.pdf") ?? assert.fail();
  const verdicts = await verdictsOn(opened, "deed.pdf", original);
  assert.deepEqual(verdicts, ["This is the document on record, before it was sealed"]);
});

test("a log proof that is dropped with its file is checked, on the page and in the file that works from a disk", async () => {
  const path = `/api/passport/verify/${passport}`;
  await until(async () => (await fetch(`${running.service.baseUrl}${path}/tlog-proof`)).status === 200);
  const proof = (await get(`${path}/tlog-proof`)).toString();
  const given = (name: string, bytes: Uint8Array | string) => {
    mkdirSync(join(folder.path, "logged"), { recursive: true });
    writeFileSync(join(folder.path, "logged", name), bytes);
    return join(folder.path, "logged", name);
  };
  const pdf = given("sealed.pdf", await get(`${path}/document`));
  const good = given("sealed.pdf.tlog-proof", proof);
  const index = Number(/^index (\d+)$/m.exec(proof)?.[1]);
  const bad = given("bad.tlog-proof", proof.replace(/^index \d+$/m, `index ${index + 1}`));
  const single = given("verifier.html", await get("/verify/offline"));
  for (const url of [`${running.service.baseUrl}/verify`, pathToFileURL(single).href]) {
    const { page, close } = await browser.open(url, { width: 375 });
    await page.setInputFiles("#drop-files", [pdf, good]);
    await page.locator("#outcome article").last().waitFor();
    const outcome = page.locator("#outcome");
    assert.match(String(await outcome.textContent()), new RegExp(`Entry ${index} of the log \\S+/log/test`), url);
    await page.evaluate("document.getElementById('outcome').replaceChildren()");
    await page.setInputFiles("#drop-files", [pdf, bad]);
    await page.locator("#outcome article").last().waitFor();
    assert.match(String(await outcome.locator("h2").textContent()), /failed the check$/, url);
    assert.match(String(await outcome.textContent()), /The proof does not lead from this seal/, url);
    await close();
  }
});
