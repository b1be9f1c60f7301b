import assert from "node:assert/strict";
import { after, assertGoodLooks, type Browser, before, startBrowser, test } from "@signsealship/testing/browser";
import { forTests } from "@signsealship/testing/for-tests";
import { orderForm } from "@signsealship/testing/inputs/order-form";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { sql } from "../../../../src/kernel/platform/database/sql.ts";
import { openMembersService } from "../../../firms/members/members-service.ts";
import { newOperator, newSession } from "../../../firms/operators/console-people.ts";
import { everyKind } from "../../../orders/fills/made-form.ts";

const running = await forTests(openMembersService());
let browser: Browser;

before(async () => {
  browser = await startBrowser();
});
after(() => browser.close());

const at = (path: string) => running.service.baseUrl + path;
const pdf = (name: string, bytes: Buffer) => ({ name, mimeType: "application/pdf", buffer: bytes });
const linesOf = async (slug: string) =>
  running.db.query<{ action: string; actor: string; environment: string; version: number | null }>(sql`
    SELECT action, actor, detail ->> 'environment' AS environment, (detail ->> 'version')::int AS version FROM audit_log
    WHERE detail ->> 'slug' = ${slug} ORDER BY id`);

test("an admin adds a form, learns why a file is refused, and retires the form, by keyboard on a phone", async () => {
  const admin = await newOperator(running, { roles: ["admin"], environment: "test" });
  const opened = await browser.open(at("/operator/forms"), { width: 375, cookie: admin.cookie });
  const { page } = opened;
  await page.getByText("No document of the catalog has a form for test orders.").waitFor();
  await assertGoodLooks(opened);
  const add = async (name: string, bytes: Buffer) => {
    await page.getByLabel("Document", { exact: true }).selectOption("affidavit");
    await page.getByLabel("File").setInputFiles(pdf(name, bytes));
    await page.getByRole("button", { name: "Add the form" }).press("Enter");
  };
  await add("flat.pdf", makePdf());
  await page.getByText("The file can't be filled in online: it has no form fields that are open.").waitFor();
  assert.equal(await page.getByLabel("Document", { exact: true }).inputValue(), "affidavit");
  await assertGoodLooks(opened);
  await add("note.pdf", Buffer.from("text"));
  await page.getByText("The file must be a PDF.").waitFor();
  await add("affidavit.pdf", everyKind());
  await page.getByText("The form was added.").waitFor();
  await add("affidavit-2.pdf", everyKind());
  await page
    .getByRole("row", { name: /General affidavit/ })
    .getByText("2", { exact: true })
    .waitFor();
  await assertGoodLooks(opened);
  const { cookie } = admin;
  const file = await fetch(at("/operator/forms/affidavit/form.pdf"), { headers: { cookie } });
  assert.ok(Buffer.from(await file.arrayBuffer()).equals(everyKind()));
  await page.getByText("Retire the form of General affidavit").press("Enter");
  await page.getByRole("button", { name: "Retire the form" }).press("Enter");
  await page.getByText("The form was retired.").waitFor();
  await page.getByText("No document of the catalog has a form for test orders.").waitFor();
  await assertGoodLooks(opened);
  assert.equal((await fetch(at("/operator/forms/affidavit/form.pdf"), { headers: { cookie } })).status, 404);
  const actor = `operator:${admin.id}`;
  assert.deepEqual(await linesOf("affidavit"), [
    { action: "catalog_form.added", actor, environment: "test", version: 1 },
    { action: "catalog_form.added", actor, environment: "test", version: 2 },
    { action: "template.archived", actor, environment: "test", version: null },
  ]);
  // The browser itself reports the status of the two rejected files as errors.
  assert.deepEqual(
    opened.troubles.filter((trouble) => !trouble.includes("400")),
    [],
  );
  await opened.close();
});

test("a form with a file asks for the passkey first, is shown again without it, and leads back to its page", async () => {
  const admin = await newOperator(running, { roles: ["admin"], environment: "test" });
  const at16 = { at: new Date(Date.now() - 16 * 60_000), environment: "test" } as const;
  const { cookie } = await newSession(running, admin.id, at16);
  const call = async (by: string, path: string, body?: FormData | URLSearchParams) => {
    const headers = { cookie: by, Accept: "text/html" };
    const answer = await fetch(at(path), { headers, redirect: "manual", ...(body && { method: "POST", body }) });
    return { status: answer.status, text: await answer.text(), location: answer.headers.get("location") };
  };
  assert.doesNotMatch((await call(admin.cookie, "/operator/forms")).text, /This needs a passkey/);
  assert.match(
    (await call(cookie, "/operator/forms")).text,
    /This needs a passkey[\s\S]*Use your passkey[\s\S]*id="form-file"/,
  );
  const refused = await call(cookie, "/operator/forms", orderForm({ slug: "affidavit" }, everyKind()));
  assert.equal(refused.status, 403);
  assert.match(refused.text, /Sign in with a passkey to do this[\s\S]*Use your passkey[\s\S]*id="form-file"/);
  const lead = (by: string, to: string) => call(by, "/operator/passkey", new URLSearchParams({ return_to: to }));
  const asked = await lead(cookie, "/operator/forms");
  assert.equal(asked.status, 403);
  assert.match(asked.text, /Confirm that it is you[\s\S]*name="return_to" value="\/operator\/forms"/);
  assert.equal((await lead(admin.cookie, "/operator/forms")).location, "/operator/forms");
  assert.doesNotMatch((await lead(admin.cookie, "https://evil.example/operator")).location ?? "", /evil/);
  const bare = await newOperator(running, { roles: ["admin"], environment: "test", passkey: false });
  assert.match((await lead(bare.cookie, "/operator/forms")).text, /Add a passkey/);
  const auditor = await newOperator(running, { roles: ["auditor"], environment: "test" });
  assert.equal((await lead(auditor.cookie, "/operator/forms")).status, 403);
});

test("a slug with a NUL character has no form", async () => {
  const { cookie } = await newOperator(running, { roles: ["admin"], environment: "test" });
  const headers = { cookie, Accept: "text/html" };
  for (const [method, path] of [
    ["GET", "/operator/forms/a%00b/form.pdf"],
    ["POST", "/operator/forms/a%00b/retire"],
  ] as const)
    assert.equal((await fetch(at(path), { method, headers, redirect: "manual" })).status, 404, path);
});

test("live and test have forms of their own, and an auditor sees them without changing any", async () => {
  const [admin, auditor] = await Promise.all([
    newOperator(running, { roles: ["admin"] }),
    newOperator(running, { roles: ["auditor"] }),
  ]);
  const form = () => orderForm({ slug: "warranty-deed" }, everyKind());
  const send = (path: string, cookie: string, body?: FormData) =>
    fetch(at(path), {
      method: "POST",
      redirect: "manual",
      headers: { cookie, Accept: "text/html" },
      ...(body && { body }),
    });
  assert.equal((await send("/operator/forms", auditor.cookie, form())).status, 403);
  assert.equal((await send("/operator/forms", admin.cookie, form())).status, 303);
  assert.equal((await send("/operator/forms/warranty-deed/retire", auditor.cookie)).status, 403);
  const shown = async (cookie: string) => (await fetch(at("/operator/forms"), { headers: { cookie } })).text();
  const seen = await shown(auditor.cookie);
  assert.match(seen, /Warranty deed<br>/);
  assert.doesNotMatch(seen, /Add the form|Retire the form/);
  const inTest = await newOperator(running, { roles: ["admin"], environment: "test" });
  assert.doesNotMatch(await shown(inTest.cookie), /Warranty deed<br>/);
  const wrong = await send("/operator/forms/warranty-deed/retire", inTest.cookie);
  assert.equal(wrong.status, 404);
  assert.match(await wrong.text(), /warranty-deed has no form for test orders/);
  assert.deepEqual(
    (await linesOf("warranty-deed")).map(({ actor, environment }) => [actor, environment]),
    [[`operator:${admin.id}`, "live"]],
  );
});
