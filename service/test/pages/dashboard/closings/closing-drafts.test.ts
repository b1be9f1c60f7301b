import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import { examplePdf } from "@signsealship/testing/inputs/order-form";
import { isWaitedFor } from "@signsealship/testing/lock-waits";
import { newPartner, ownProcess } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { sweepDrafts } from "../../../../src/closing/drafts/drafts.ts";
import { sql } from "../../../../src/kernel/platform/database/sql.ts";
import { sweepFills } from "../../../../src/orders/order/order.ts";
import { newMember, postForm } from "../../../firms/members/signed-in-member.ts";

const running = await forTests(openHarness(ownProcess));
const { db } = running;
const path = "/dashboard/closings/new";
const pdf = new Uint8Array(examplePdf);
let people = 0;

/** A member of a firm, and functions that send requests as one browser window does. */
async function agent(of?: { key: string }) {
  const { key } = of ?? (await newPartner(running.service, { tier: "ClosingDesk" }));
  people += 1;
  const { headers } = await newMember(running.service, `agent${people}@harbor-title.com`, key);
  const url = (at: string) => running.service.baseUrl + at;
  return {
    key,
    headers,
    async page(at: string, cookie = headers.Cookie) {
      const answer = await fetch(url(at), { headers: { Cookie: cookie, Accept: "text/html" }, redirect: "manual" });
      return { status: answer.status, text: await answer.text() };
    },
    async file(name = "Deed.pdf") {
      const body = new FormData();
      body.set("document", new File([pdf], name, { type: "application/pdf" }));
      const answer = await fetch(url(`${path}/file`), {
        method: "POST",
        headers: { ...headers, Accept: "application/json" },
        body,
      });
      return ((await answer.json()) as { file: string }).file;
    },
    async post(to: string, fields: Record<string, string>) {
      const answer = await postForm(url(to), fields, { ...headers, Accept: "text/html" });
      return { status: answer.status, text: await answer.text(), location: answer.headers.get("location") ?? "" };
    },
    async save(fields: Record<string, string>) {
      const answer = await postForm(url(`${path}/draft`), fields, { ...headers, Accept: "application/json" });
      const saved = (await answer.json()) as Saved;
      return { ...saved, status: answer.status };
    },
  };
}
type Saved = { id?: string; version?: number; isCopy?: boolean; isEnded?: boolean; until?: string; error?: string };

const hidden = (text: string, name: string) =>
  new RegExp(`name="${name}" value="([^"]*)"`).exec(text)?.[1]?.replaceAll("&amp;", "&") ?? "";
const names = ["submission", "environment", "draft", "draft_version", "draft_window"];
/** The hidden fields that a page's form has. */
const formOf = (text: string) => Object.fromEntries(names.map((name) => [name, hidden(text, name)]));

const typed = {
  closing_name: "Ortega closing",
  file_number: "2026-1187",
  email: "marcus@example.com",
  name: "Marcus Ortega",
  person1_name: "Ana Ortega",
  person1_email: "ana@example.com",
  people_rows: "2",
};
const withFile = (file: string) => ({ ...typed, doc1: file, doc1_name: "Warranty deed", doc1_sign: "on" });

const keptFiles = async (file: string) =>
  (
    await db.query(
      sql`SELECT FROM fill_documents WHERE token_sha256 = sha256(${Buffer.from(file.split(" ")[0] ?? "")})`,
    )
  ).length;

test("a draft comes back whole on another device, with its file, and the start page leads to it", async () => {
  const dana = await agent();
  const { text } = await dana.page(path);
  assert.equal(hidden(text, "draft_version"), "0");
  const file = await dana.file();
  const saved = await dana.save({ ...formOf(text), ...withFile(file) });
  assert.equal(saved.status, 200, JSON.stringify(saved));
  assert.equal(saved.version, 1);
  const start = await dana.page("/dashboard");
  assert.match(start.text, /Closings that you have not placed[\s\S]*Ortega closing[\s\S]*2026-1187/);
  const resumed = await dana.page(`${path}?draft=${saved.id}`);
  assert.equal(hidden(resumed.text, "doc1"), file);
  for (const value of ["Ortega closing", "2026-1187", "Warranty deed", "marcus@example.com", "Ana Ortega"])
    assert.ok(resumed.text.includes(`value="${value}"`), value);
  assert.match(resumed.text, /Saved as a draft, for you alone\./);
  const empty = await dana.page(path);
  assert.match(empty.text, /Go on with Ortega closing/);
});

test("nobody else opens, changes or discards a draft: no colleague, no other firm", async () => {
  const dana = await agent();
  const colleague = await agent(dana);
  const stranger = await agent();
  const { text } = await dana.page(path);
  const saved = await dana.save({ ...formOf(text), ...typed });
  for (const other of [colleague, stranger]) {
    const seen = await other.page(`${path}?draft=${saved.id}`);
    assert.match(seen.text, /This draft is gone/);
    assert.ok(!seen.text.includes("marcus@example.com"));
    assert.ok(!(await other.page("/dashboard")).text.includes("Ortega closing"));
    const overwrite = { ...formOf(text), ...typed, closing_name: "Taken", draft: saved.id ?? "", draft_version: "1" };
    assert.deepEqual((await other.save(overwrite)).isEnded, true);
    await other.post(`/dashboard/closings/drafts/${saved.id}/discard`, {});
  }
  assert.match((await dana.page(`${path}?draft=${saved.id}`)).text, /value="Ortega closing"/);
});

test("what is stored is encrypted, and a row that is given to another member in the database opens nothing", async () => {
  const dana = await agent();
  const eve = await agent(dana);
  const { text } = await dana.page(path);
  const saved = await dana.save({ ...formOf(text), ...typed });
  const [row] = await db.query<{ fields: Buffer }>(sql`SELECT fields FROM closing_drafts WHERE id = ${saved.id ?? ""}`);
  assert.ok(row && !row.fields.includes("marcus@example.com"));
  const own = await eve.save({ ...formOf((await eve.page(path)).text), ...typed, closing_name: "Eve's" });
  await db.query(sql`UPDATE closing_drafts SET user_id = (SELECT user_id FROM closing_drafts WHERE id = ${own.id ?? ""})
    WHERE id = ${saved.id ?? ""}`);
  const seen = await eve.page(`${path}?draft=${saved.id}`);
  assert.equal(seen.status, 503);
  assert.match(seen.text, /is not what the service wrote/);
  assert.ok(!seen.text.includes("marcus@example.com"));
  assert.match((await eve.page("/dashboard")).text, /Eve’s|Eve&#39;s|Eve's/);
});

test("a draft under a missing key is not left out of the list as if it were altered", async () => {
  const dana = await agent();
  const saved = await dana.save({ ...formOf((await dana.page(path)).text), ...typed });
  // The key's id follows five bytes of a prefix.
  await db.query(sql`
    UPDATE closing_drafts SET fields = set_byte(fields, 5, get_byte(fields, 5) # 1) WHERE id = ${saved.id ?? ""}`);
  for (const at of ["/dashboard", `${path}?draft=${saved.id}`]) {
    const { status, text } = await dana.page(at);
    assert.equal(status, 503);
    assert.match(text, /neither SECRETS_KEY nor SECRETS_KEYS_OLD/);
  }
});

test("a form that was only opened makes no draft, and neither does an empty one that a button submits", async () => {
  const dana = await agent();
  const { text } = await dana.page(path);
  const saved = await dana.save({ ...formOf(text), people_rows: "2", client_signs: "on", pay_by: "client" });
  assert.deepEqual({ id: saved.id, isEnded: saved.isEnded }, { id: undefined, isEnded: false });
  await dana.post(`${path}/rows`, { ...formOf(text), people_rows: "2", more_people: "1" });
  assert.doesNotMatch((await dana.page("/dashboard")).text, /not placed/);
});

test("without a script, each button saves the form", async () => {
  const dana = await agent();
  const { text } = await dana.page(path);
  const shown = await dana.post(`${path}/rows`, { ...formOf(text), ...typed, more_people: "1" });
  assert.equal(hidden(shown.text, "draft_version"), "1");
  const refused = await dana.post(path, { ...formOf(shown.text), ...typed, closing_name: "Ortega, Elm Street" });
  assert.equal(refused.status, 400);
  const resumed = await dana.page(`${path}?draft=${hidden(shown.text, "draft")}`);
  assert.match(resumed.text, /value="Ortega, Elm Street"/);
});

test("two windows lose nothing: the one that has not seen the other's changes saves a draft of its own", async () => {
  const dana = await agent();
  const { text } = await dana.page(path);
  const file = await dana.file();
  const first = await dana.save({ ...formOf(text), ...withFile(file) });
  const laptop = formOf((await dana.page(`${path}?draft=${first.id}`)).text);
  const phone = formOf((await dana.page(`${path}?draft=${first.id}`)).text);
  const onLaptop = await dana.save({ ...laptop, ...withFile(file), closing_name: "From the laptop" });
  assert.deepEqual([onLaptop.id, onLaptop.isCopy], [first.id, false]);
  const onPhone = await dana.save({ ...phone, ...withFile(file), closing_name: "From the phone" });
  assert.equal(onPhone.isCopy, true);
  assert.notEqual(onPhone.id, first.id);
  // The laptop saves again and names an older version of its own draft, as if the response to its first save was lost.
  const repeated = await dana.save({ ...laptop, ...withFile(file), closing_name: "From the laptop again" });
  assert.deepEqual([repeated.id, repeated.isCopy], [first.id, false]);
  // The phone's draft uses the same file. So the file is kept when the laptop's draft is discarded, until the phone's
  // is too.
  await dana.post(`/dashboard/closings/drafts/${first.id}/discard`, {});
  assert.equal(await keptFiles(file), 1);
  await dana.post(`/dashboard/closings/drafts/${onPhone.id}/discard`, {});
  assert.equal(await keptFiles(file), 0);
});

test("saves of one window at once keep one draft", async () => {
  const dana = await agent();
  const form = formOf((await dana.page(path)).text);
  const saves = await Promise.all(
    Array.from({ length: 8 }, (_, n) => dana.save({ ...form, ...typed, closing_name: `Closing ${n}` })),
  );
  const ids = new Set(saves.flatMap(({ id }) => id ?? []));
  assert.deepEqual([...ids], [form["draft"]]);
});

test("placing ends the draft in the same transaction, and a late save revives nothing", async () => {
  const dana = await agent();
  const { text } = await dana.page(path);
  const file = await dana.file();
  const form = {
    ...formOf(text),
    ...withFile(file),
    client_signs: "on",
    doc1_signs_client: "on",
    byod_confirmed: "on",
  };
  const { person1_name: _, person1_email: __, ...alone } = form;
  const saved = await dana.save(alone);
  const placed = await dana.post(path, { ...alone, draft_version: "1" });
  assert.equal(placed.status, 303, placed.text);
  assert.equal((await dana.save({ ...alone, draft_version: "1" })).isEnded, true);
  assert.match((await dana.page(`${path}?draft=${saved.id}`)).text, /This draft is gone/);
  assert.doesNotMatch((await dana.page("/dashboard")).text, /not placed/);
  const again = await dana.post(path, { ...alone, draft_version: "2" });
  assert.equal(again.location.split("?")[0], placed.location.split("?")[0], "the same form is the same closing");
  // Once the closing is placed, its form can't be saved as a draft: the draft's first save may arrive after the
  // placement.
  const second = formOf((await dana.page(path)).text);
  const other = { ...alone, ...second, doc1: await dana.file() };
  assert.equal((await dana.post(path, other)).status, 303);
  assert.equal((await dana.save(other)).id, undefined);
});

test("a placing and saves at once leave no draft, and one closing", async () => {
  const dana = await agent();
  for (let round = 0; round < 3; round++) {
    const form = formOf((await dana.page(path)).text);
    const { person1_name: _, person1_email: __, ...fields } = withFile(await dana.file()) as Record<string, string>;
    const all = { ...form, ...fields, client_signs: "on", doc1_signs_client: "on", byod_confirmed: "on" };
    const [placed] = await Promise.all([dana.post(path, all), ...Array.from({ length: 4 }, () => dana.save(all))]);
    assert.equal(placed?.status, 303, placed?.text);
    const open = await db.query(sql`SELECT FROM closing_drafts WHERE id = ${form["draft"] ?? ""} AND ended_at IS NULL`);
    assert.equal(open.length, 0);
  }
});

test("a draft outlives a killed service, and a removed document takes its file along", async () => {
  const dana = await agent();
  const { text } = await dana.page(path);
  const file = await dana.file();
  const saved = await dana.save({ ...formOf(text), ...withFile(file) });
  await running.service.kill();
  running.service = await running.service.restart();
  const resumed = await dana.page(`${path}?draft=${saved.id}`);
  assert.equal(hidden(resumed.text, "doc1"), file);
  await dana.post(`${path}/rows`, { ...formOf(resumed.text), ...withFile(file), remove: "1" });
  assert.equal(await keptFiles(file), 0);
});

test("a file that is gone is named when the draft is opened again", async () => {
  const dana = await agent();
  const { text } = await dana.page(path);
  const file = await dana.file();
  const saved = await dana.save({ ...formOf(text), ...withFile(file) });
  await db.query(sql`DELETE FROM fill_documents WHERE token_sha256 = sha256(${Buffer.from(file.split(" ")[0] ?? "")})`);
  const resumed = await dana.page(`${path}?draft=${saved.id}`);
  assert.match(resumed.text, /Document 1 \(Warranty deed\): its file is no longer stored\./);
});

test("after 14 days a draft is deleted with its files, and not before", async () => {
  const dana = await agent();
  const { text } = await dana.page(path);
  const file = await dana.file();
  const saved = await dana.save({ ...formOf(text), ...withFile(file) });
  const almost = new Date(Date.now() + 14 * day - 60 * 1000);
  await sweepDrafts(db, almost);
  await sweepFills(db, almost);
  assert.equal(await keptFiles(file), 1);
  assert.equal((await dana.page(`${path}?draft=${saved.id}`)).text.includes("Warranty deed"), true);
  await sweepDrafts(db, new Date(Date.now() + 14 * day));
  assert.equal(await keptFiles(file), 0);
  assert.deepEqual(await db.query(sql`SELECT FROM closing_drafts WHERE id = ${saved.id ?? ""}`), []);
});

test("a member has at most 20 drafts, and learns that another one is not saved", async () => {
  const dana = await agent();
  for (let n = 0; n < 20; n++)
    assert.equal((await dana.save({ ...formOf((await dana.page(path)).text), ...typed })).status, 200);
  const form = formOf((await dana.page(path)).text);
  const refused = await dana.save({ ...form, ...typed });
  assert.equal(refused.status, 409);
  assert.match(refused.error ?? "", /You have 20 closings that are not placed/);
  const shown = await dana.post(`${path}/rows`, { ...form, ...typed });
  assert.equal(shown.status, 200);
  assert.match(shown.text, /You have 20 closings that are not placed[\s\S]*value="Ortega closing"/);
});

test("parallel saves don't exceed the limit of 20 drafts, and a draft that is there is saved at the limit", async () => {
  const dana = await agent();
  const { text } = await dana.page(path);
  const form = () => ({ ...formOf(text), draft: crypto.randomUUID(), ...typed });
  const first = form();
  assert.equal((await dana.save(first)).status, 200);
  for (let n = 0; n < 17; n++) assert.equal((await dana.save(form())).status, 200);
  const saves = await Promise.all(Array.from({ length: 8 }, () => dana.save(form())));
  assert.deepEqual(saves.map(({ status }) => status).sort(), [200, 200, 409, 409, 409, 409, 409, 409]);
  assert.equal((await dana.save({ ...first, draft_version: "1" })).version, 2);
});

test("a form that is too long is not saved as a draft, and the page says so", async () => {
  const dana = await agent();
  const form = { ...formOf((await dana.page(path)).text), ...typed, doc1_fields: "x".repeat(257 * 1024) };
  const refused = await dana.save(form);
  assert.equal(refused.status, 409);
  assert.match(refused.error ?? "", /too long to be saved as a draft/);
  assert.match((await dana.post(`${path}/rows`, form)).text, /too long to be saved as a draft/);
});

test("a form that is not saved still says when the draft that is stored is deleted", async () => {
  const dana = await agent();
  const first = await dana.save({ ...formOf((await dana.page(path)).text), ...typed });
  const [phone, laptop] = [await dana.page(`${path}?draft=${first.id}`), await dana.page(`${path}?draft=${first.id}`)];
  const endIn = (text: string) => /id="draft-until">(.*?)<\/span>/.exec(text)?.[1];
  const end = endIn(phone.text);
  assert.ok(end);
  const long = await dana.post(`${path}/rows`, {
    ...formOf(phone.text),
    ...typed,
    doc1_fields: "x".repeat(257 * 1024),
  });
  assert.match(long.text, /too long to be saved as a draft/);
  assert.equal(endIn(long.text), end);
  await dana.save({ ...formOf(laptop.text), ...typed, closing_name: "From the laptop" });
  const refused = await dana.post(path, { ...formOf(phone.text), ...typed, closing_name: "From the phone" });
  assert.deepEqual([refused.status, endIn(refused.text)], [400, end]);
});

test("a version that no draft can have is read as none", async () => {
  const dana = await agent();
  const form = { ...formOf((await dana.page(path)).text), ...typed };
  for (const version of ["99999999999", "2147483648", "1e3", "-1", "0x10"]) {
    const saved = await dana.save({ ...form, draft_version: version, draft: crypto.randomUUID() });
    assert.deepEqual([saved.status, saved.version], [200, 1]);
  }
});

test("a removed document's file stays while another window's draft names it", async () => {
  const dana = await agent();
  const file = await dana.file();
  const first = await dana.save({ ...formOf((await dana.page(path)).text), ...withFile(file) });
  const laptop = formOf((await dana.page(`${path}?draft=${first.id}`)).text);
  const phone = formOf((await dana.page(`${path}?draft=${first.id}`)).text);
  await dana.save({ ...laptop, ...withFile(file), closing_name: "From the laptop" });
  const shown = await dana.post(`${path}/rows`, { ...phone, ...withFile(file), remove: "1" });
  assert.match(shown.text, /The draft was changed in another window/);
  assert.equal(await keptFiles(file), 1);
  const resumed = await dana.page(`${path}?draft=${first.id}`);
  assert.equal(hidden(resumed.text, "doc1"), file);
  assert.doesNotMatch(resumed.text, /no longer stored/);
});

test("a removal that is refused after a switch of the environment deletes no file", async () => {
  const dana = await agent();
  const file = await dana.file();
  const form = formOf((await dana.page(path)).text);
  await dana.save({ ...form, ...withFile(file) });
  const other = form["environment"] === "test" ? "live" : "test";
  const shown = await dana.post(`${path}/rows`, {
    ...form,
    ...withFile(file),
    draft_version: "1",
    environment: other,
    remove: "1",
  });
  assert.match(shown.text, /Nothing was changed/);
  assert.equal(await keptFiles(file), 1);
});

test("a form that was emptied stays empty when its draft is opened again", async () => {
  const dana = await agent();
  const file = await dana.file();
  const form = { ...formOf((await dana.page(path)).text), doc1: file };
  const saved = await dana.save(form);
  await dana.post(`${path}/rows`, { ...form, draft_version: "1", remove: "1" });
  assert.equal(await keptFiles(file), 0);
  const resumed = await dana.page(`${path}?draft=${saved.id}`);
  assert.equal(hidden(resumed.text, "doc1"), "");
  assert.doesNotMatch(resumed.text, /no longer stored/);
});

test("a copied draft ends with the first, and a new one no later than its files", async () => {
  const dana = await agent();
  const file = await dana.file();
  const first = await dana.save({ ...formOf((await dana.page(path)).text), ...withFile(file) });
  await db.query(
    sql`UPDATE closing_drafts SET expires_at = expires_at - interval '5 days' WHERE id = ${first.id ?? ""}`,
  );
  const laptop = formOf((await dana.page(`${path}?draft=${first.id}`)).text);
  const phone = formOf((await dana.page(`${path}?draft=${first.id}`)).text);
  await dana.save({ ...laptop, ...withFile(file) });
  const copy = await dana.save({ ...phone, ...withFile(file) });
  assert.deepEqual([copy.isCopy, copy.until], [true, first.until && earlier(first.until, 5)]);
  await db.query(sql`UPDATE fill_documents SET expires_at = ${new Date(first.until ?? "")}::timestamptz - interval '10 days'
    WHERE token_sha256 = sha256(${Buffer.from(file.split(" ")[0] ?? "")})`);
  const later = await dana.save({ ...formOf((await dana.page(path)).text), ...withFile(file) });
  assert.equal(later.until, first.until && earlier(first.until, 10));
});
const day = 24 * 60 * 60 * 1000;
const earlier = (at: string, days: number) => new Date(Date.parse(at) - days * day).toISOString();

test("one member's files don't block the closings of the firm", async () => {
  const dana = await agent();
  const colleague = await agent(dana);
  const file = await dana.file();
  await db.query(sql`
    INSERT INTO fill_documents (token_sha256, sha256, bytes, pages, blob_key, created_at, expires_at, kept_for, kept_by, kept_form)
    SELECT sha256(convert_to(n || token_sha256::text, 'UTF8')), sha256, bytes, pages, blob_key, created_at, expires_at, kept_for, kept_by,
      kept_form
    FROM fill_documents, generate_series(1, 99) AS n WHERE token_sha256 = sha256(${Buffer.from(file.split(" ")[0] ?? "")})`);
  assert.equal(await dana.file(), undefined);
  assert.match(await colleague.file(), /^[0-9a-f]{40} /);
});

test("a file that no draft names is deleted after a day, and one that a draft names stays", async () => {
  const dana = await agent();
  const [named, unnamed] = [await dana.file(), await dana.file()];
  await dana.save({ ...formOf((await dana.page(path)).text), ...withFile(named) });
  await sweepDrafts(db, new Date(Date.now() + day - 60_000));
  assert.deepEqual([await keptFiles(named), await keptFiles(unnamed)], [1, 1]);
  await sweepDrafts(db, new Date(Date.now() + day));
  assert.deepEqual([await keptFiles(named), await keptFiles(unnamed)], [1, 0]);
});

test("a rejected attempt to place neither restores the draft of a closing that was just placed nor copies a draft", async () => {
  const dana = await agent();
  const form = { ...formOf((await dana.page(path)).text), ...withFile(await dana.file()) };
  const { person1_name: _, person1_email: __, ...alone } = form as Record<string, string>;
  const whole = { ...alone, client_signs: "on", doc1_signs_client: "on", byod_confirmed: "on" };
  await dana.save(whole);
  assert.equal((await dana.post(path, { ...whole, draft_version: "1" })).status, 303);
  // The placed closing has used the file. So the form is refused if it has the same file and another closing name.
  const again = await dana.post(path, { ...whole, draft_version: "1", closing_name: "Ortega, once more" });
  assert.equal(again.status, 400);
  assert.doesNotMatch((await dana.page("/dashboard")).text, /not placed/);
  const first = await dana.save({ ...formOf((await dana.page(path)).text), ...typed });
  const phone = formOf((await dana.page(`${path}?draft=${first.id}`)).text);
  const laptop = formOf((await dana.page(`${path}?draft=${first.id}`)).text);
  await dana.save({ ...laptop, ...typed, closing_name: "From the laptop" });
  assert.equal((await dana.post(path, { ...phone, ...typed, closing_name: "From the phone" })).status, 400);
  const start = await dana.page("/dashboard");
  assert.match(start.text, /From the laptop/);
  assert.doesNotMatch(start.text, /From the phone/);
});

test("a draft that is copied while it is discarded, or deleted after its time, loses no file", async () => {
  const dana = await agent();
  const ends: ((id: string) => Promise<unknown>)[] = [
    (id) => dana.post(`/dashboard/closings/drafts/${id}/discard`, {}),
    () => sweepDrafts(db, new Date(Date.now() + 14 * day)),
  ];
  for (const end of ends) {
    const file = await dana.file();
    const { id = "" } = await dana.save({ ...formOf((await dana.page(path)).text), ...withFile(file) });
    let ended: Promise<unknown> = Promise.resolve();
    await db.transaction(async (tx) => {
      await tx.query(sql`
        SELECT pg_advisory_xact_lock(hashtextextended('closing drafts ' || user_id, 0)) FROM closing_drafts WHERE id = ${id}`);
      let isDone = false;
      ended = end(id).finally(() => (isDone = true));
      await until(async () => isDone || (await isWaitedFor(tx)));
      await tx.query(sql`
        INSERT INTO closing_drafts (id, partner_id, environment, user_id, fields, files, saved_in, created_at, updated_at, expires_at)
        SELECT gen_random_uuid(), partner_id, environment, user_id, fields, files, saved_in, created_at, updated_at,
          expires_at + interval '1 day' FROM closing_drafts WHERE id = ${id}`);
    });
    await ended;
    assert.equal(await keptFiles(file), 1);
  }
});
