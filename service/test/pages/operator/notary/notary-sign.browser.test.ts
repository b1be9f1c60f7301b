import assert from "node:assert/strict";
import { createPrivateKey } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, assertGoodLooks, type Browser, before, startBrowser, test } from "@signsealship/testing/browser";
import { type CscDouble, startCsc } from "@signsealship/testing/doubles/csc";
import { freePort } from "@signsealship/testing/free-port";
import { type Harness, openHarness } from "@signsealship/testing/harness";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { newPartner, temporaryFolder } from "@signsealship/testing/service";
import { addNotary } from "../../../../src/signing/notaries/notaries.ts";
import { postForm } from "../../../firms/members/signed-in-member.ts";
import { newOperator } from "../../../firms/operators/console-people.ts";
import { certificateFiles, password } from "../../../signing/notaries/certificate-files.ts";
import { ohioCommission, ordersToNotarize } from "../../../signing/notaries/orders-to-notarize.ts";

const folder = temporaryFolder();
const make = certificateFiles(folder.path);
const nora = make("Nora Ames", { key: "p256" });

let csc: CscDouble;
let running: Harness;
let browser: Browser;
let partner: Awaited<ReturnType<typeof newPartner>>;
let person: Awaited<ReturnType<typeof newOperator>>;

before(async () => {
  const port = String(await freePort());
  csc = await startCsc();
  [running, browser] = await Promise.all([
    openHarness({ PORT: port, BASE_URL: `http://127.0.0.1:${port}`, REMOTE_SIGNING_URL: csc.url }),
    startBrowser(),
  ]);
  partner = await newPartner(running.service);
  person = await newOperator(running, { roles: ["notary"], environment: "test", passkey: false });
  const commission = { ...ohioCommission, certificate: nora.pem };
  await addNotary({ db: running.db, clock: () => new Date() }, person.id, commission, "operator");
});
after(async () => {
  await browser.close();
  await running.close();
  await csc.close();
  folder.remove();
});

const at = (path: string) => running.service.baseUrl + path;
const post = (path: string, fields: Record<string, string> = {}) =>
  postForm(at(path), fields, { cookie: person.cookie, Origin: running.service.baseUrl });

const act = {
  act: "acknowledgment",
  mode: "ron",
  document: "Deed",
  venue_state: "OH",
  venue_county: "Franklin",
  started_at: "2026-01-15T14:05",
  ended_at: "2026-01-15T14:35",
  fee: "10.00",
  tool: "T",
  session_id: "S",
  recording_sha256: "ab".repeat(32),
  recording_at: "Vault",
  recording_until: "2036-01-15",
  principal_1_name: "Jane Doe",
  principal_1_address: "1 Main Street",
  principal_1_basis: "personal_knowledge",
  principal_1_city: "Columbus",
  principal_1_region: "Ohio",
  principal_1_country: "US",
};

/** The page of a claimed order whose act is noted. */
async function notedOrder() {
  const orders = ordersToNotarize(running, partner);
  const code = await orders.place();
  await orders.claim(code, person.cookie);
  assert.equal((await post(`/operator/notary/orders/${code}/act`, act)).status, 303);
  const opened = await browser.open(at(`/operator/notary/orders/${code}`), { width: 1280, cookie: person.cookie });
  return { code, ...opened, opened };
}

function fileOf(name: string, bytes: Buffer): string {
  const path = join(folder.path, name);
  writeFileSync(path, bytes);
  return path;
}

const statusOf = async (code: string) =>
  ((await (await fetch(at(`/api/partner/orders/${code}`), { headers: partner.headers })).json()) as { status: string })
    .status;

test("the desk checks a certificate file before the first act, and sends nothing of it", async () => {
  const opened = await browser.open(at("/operator/notary"), { width: 375, cookie: person.cookie });
  const { page } = opened;
  const sent: string[] = [];
  page.on("request", (request) => void sent.push(`${request.method()} ${request.url()}`));
  await page.getByText("Try your certificate file").click();
  await assertGoodLooks(opened);
  const tries = async (name: string, made: ReturnType<typeof make>, typed: string, said: RegExp) => {
    const file = join(folder.path, name);
    writeFileSync(file, made.p12);
    await page.getByLabel("Certificate file").setInputFiles(file);
    await page.getByLabel("Password of the file").fill(typed);
    await page.getByRole("button", { name: "Try the file" }).click();
    await page.locator("#notary-sign-said").filter({ hasText: said }).waitFor();
  };
  await tries("own.p12", nora, "wrong", /The password is wrong/);
  await tries("own.p12", nora, password, /has the certificate that is on record/);
  await tries("other.p12", make("Olga Other", { key: "p256" }), password, /another certificate: .*Olga Other/);
  assert.deepEqual(
    sent.filter((request) => !request.startsWith("GET ")),
    [],
  );
  await opened.close();
});

test("a notary signs in the page with a certificate file, and no request contains the file, its key or its password", async () => {
  const { code, page, troubles, opened } = await notedOrder();
  const sent: Buffer[] = [];
  page.on("request", (request) => {
    sent.push(
      Buffer.from(`${request.url()} ${JSON.stringify(request.headers())}`),
      request.postDataBuffer() ?? Buffer.alloc(0),
    );
  });
  const said = page.locator("#notary-sign-said");
  const open = page.getByRole("button", { name: "Open the certificate" });
  await open.click();
  await said.filter({ hasText: "Choose the certificate file." }).waitFor();
  await page.getByLabel("Certificate file").setInputFiles(fileOf("nora.p12", nora.p12));
  await page.getByLabel("Password of the file").fill(`${password}!`);
  await open.click();
  await said.filter({ hasText: "The password is wrong." }).waitFor();
  assert.equal(await page.locator("#notary-sign-ready").isHidden(), true);
  await page.getByLabel("Password of the file").fill(password);
  await open.click();
  const facts = page.locator("#notary-sign-facts");
  await facts.filter({ hasText: "You sign as CN=Nora Ames" }).waitFor();
  assert.match(await facts.innerText(), /Nora Ames, Notary Public, State of OH, Franklin/);
  assert.equal(await page.getByLabel("Password of the file").inputValue(), "");
  await assertGoodLooks(opened);
  await page.getByRole("button", { name: "Sign the document" }).click();
  await page.getByRole("heading", { name: /What you signed/ }).waitFor();
  assert.match(await page.locator("#checks").innerText(), /It is by your registered certificate/);
  assert.equal(await page.getByText("Fails", { exact: true }).count(), 0);
  for (const box of await page.getByRole("checkbox").all()) await box.check();
  await page.getByRole("button", { name: "Enter the act and seal the document" }).click();
  await page.waitForURL(/\/operator\/notary(\?|$)/);
  assert.equal(await statusOf(code), "NotarizationComplete");
  assert.deepEqual(troubles, []);

  // Browsers send forms as application/x-www-form-urlencoded, so the requests are also searched in decoded form.
  const texts = sent.flatMap((bytes) => [bytes.toString("latin1"), decodeURIComponent(bytes.toString())]);
  const scalar = Buffer.from(
    createPrivateKey({ key: nora.keyDer, format: "der", type: "pkcs8" }).export({ format: "jwk" }).d ?? "",
    "base64url",
  );
  assert.equal(scalar.length, 32);
  const secrets = [scalar, ...windows(nora.p12)];
  for (const text of texts) {
    assert.ok(!text.includes(password) && !text.includes(encodeURIComponent(password)));
    const bytes = [
      Buffer.from(text, "latin1"),
      ...(text.match(/[A-Za-z0-9+/]{32,}/g) ?? []).map((part) => Buffer.from(part, "base64")),
    ];
    for (const secret of secrets) {
      assert.ok(!bytes.some((each) => each.includes(secret)), "a request has bytes of the file or the key");
      assert.ok(!text.includes(secret.toString("hex")));
    }
  }
  await opened.close();
});

test("a key at a trust service signs the hash that the page computed, and nothing for another revision", async () => {
  csc.keys = new Map([["key-1", nora]]);
  const { code, page, troubles, opened } = await notedOrder();
  const said = page.locator("#notary-sign-said");
  await page.getByText("Sign by your trust service").click();
  await page.getByLabel("Access token").fill("another");
  await page.getByRole("button", { name: "Find my keys" }).click();
  await said.filter({ hasText: "does not accept this access token" }).waitFor();
  await page.getByLabel("Access token").fill(csc.token);
  await page.getByRole("button", { name: "Find my keys" }).click();
  await said.filter({ hasText: "Choose the key." }).waitFor();
  await page.route("**/sign/remote/prepare", async (route) => {
    const answer = await route.fetch();
    const prepared = (await answer.json()) as { record: string };
    await route.fulfill({ json: { ...prepared, record: prepared.record.replace("Jane Doe", "Jane Dox") } });
  });
  const [openKey, sign] = ["Open the key", "Sign the document"].map((name) => page.getByRole("button", { name }));
  await openKey?.click();
  await page.getByLabel("Your PIN").fill(csc.pin);
  await sign?.click();
  await said.filter({ hasText: "Nothing was signed." }).waitFor();
  assert.ok(csc.said.every(({ method }) => /^credentials\/(list|info)$/.test(method)));
  await page.unroute("**/sign/remote/prepare");
  await openKey?.click();
  await said.filter({ hasText: "Look at what you sign." }).waitFor();
  await assertGoodLooks(opened);
  await page.getByLabel("Your PIN").fill("1");
  await sign?.click();
  await said.filter({ hasText: "The PIN is invalid" }).waitFor();
  await page.getByLabel("Your PIN").fill(csc.pin);
  await sign?.click();
  await page.getByRole("heading", { name: /What you signed/ }).waitFor();
  assert.match(await page.locator("#checks").innerText(), /It is by your registered certificate/);
  assert.equal(await statusOf(code), "NotarizationPending");
  assert.deepEqual(troubles, []);
  await opened.close();
});

/** Pieces of the encrypted file, to search for in the requests. */
const windows = (file: Buffer): Buffer[] =>
  Array.from({ length: Math.floor(file.length / 24) }, (_, index) => file.subarray(index * 24, index * 24 + 16));

test("a file in RC4, of another notary, or without a key is rejected with a message that says what to do", async () => {
  const { code, page, opened } = await notedOrder();
  const attempt = async (name: string, bytes: Buffer, words: RegExp) => {
    await page.getByLabel("Certificate file").setInputFiles(fileOf(name, bytes));
    await page.getByLabel("Password of the file").fill(password);
    await page.getByRole("button", { name: "Open the certificate" }).click();
    await page.locator("#notary-sign-said").filter({ hasText: words }).waitFor();
    assert.equal(await page.locator("#notary-sign-ready").isHidden(), true);
  };
  await attempt(
    "old.p12",
    make("Nora Ames", { export: ["-legacy", "-certpbe", "PBE-SHA1-RC4-128"] }).p12,
    /Convert it on your computer: openssl pkcs12 -legacy/,
  );
  await attempt(
    "eve.p12",
    make("Eve Stranger").p12,
    /certificate of CN=Eve Stranger \(serial number [0-9A-Fa-f:]+, until \d{4}-\d\d-\d\d\), and another one is registered for you, of CN=Nora Ames \(/,
  );
  await attempt("bare.p12", make("Nora Ames", { export: ["-nokeys"] }).p12, /The file has no private key/);
  await attempt("deed.pdf", makePdf(), /This is not a certificate file/);
  assert.equal(await statusOf(code), "NotarizationPending");
  await opened.close();
});

test("the page does not sign a prepared document when one byte of the record, or of its recording's head, differs", async () => {
  const { code, page, opened } = await notedOrder();
  let completed = 0;
  page.on("request", (request) => {
    if (request.url().endsWith("/sign/complete")) completed++;
  });
  await page.getByLabel("Certificate file").setInputFiles(fileOf("nora.p12", nora.p12));
  for (const [was, is] of [
    ["Jane Doe", "Jane Dox"],
    ["ab".repeat(32), `${"ab".repeat(31)}ac`],
  ] as const) {
    await page.unroute("**/sign/prepare");
    await page.route("**/sign/prepare", async (route) => {
      const answer = await route.fetch();
      const prepared = (await answer.json()) as { record: string };
      assert.ok(prepared.record.includes(was));
      await route.fulfill({ json: { ...prepared, record: prepared.record.replace(was, is) } });
    });
    await page.getByLabel("Password of the file").fill(password);
    await page.getByRole("button", { name: "Open the certificate" }).click();
    await page.locator("#notary-sign-facts").filter({ hasText: is }).waitFor();
    await page.getByRole("button", { name: "Sign the document" }).click();
    await page.locator("#notary-sign-said").filter({ hasText: "Nothing was signed." }).waitFor();
  }
  assert.equal(completed, 0);
  assert.equal(await statusOf(code), "NotarizationPending");
  await opened.close();
});

test("the page does not sign a prepared document that adds more than the notary's signature", async () => {
  const { code, page, opened } = await notedOrder();
  await page.route("**/sign/prepare", async (route) => {
    const answer = await route.fetch();
    const prepared = (await answer.json()) as { tail: string };
    const tail = Buffer.from(prepared.tail, "base64");
    // Changes one digit of a field's coordinate, which is far behind the bytes of the signature.
    const digit = tail.lastIndexOf("/Rect[") + 6;
    tail.writeUInt8(tail.readUInt8(digit) === 0x31 ? 0x32 : 0x31, digit);
    await route.fulfill({ json: { ...prepared, tail: tail.toString("base64") } });
  });
  let completed = 0;
  page.on("request", (request) => {
    if (request.url().endsWith("/sign/complete")) completed++;
  });
  await page.getByLabel("Certificate file").setInputFiles(fileOf("nora.p12", nora.p12));
  await page.getByLabel("Password of the file").fill(password);
  await page.getByRole("button", { name: "Open the certificate" }).click();
  await page.getByRole("button", { name: "Sign the document" }).click();
  await page.locator("#notary-sign-said").filter({ hasText: "Nothing was signed." }).waitFor();
  assert.equal(completed, 0);
  assert.equal(await statusOf(code), "NotarizationPending");
  await opened.close();
});
