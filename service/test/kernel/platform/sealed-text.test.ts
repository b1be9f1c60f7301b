import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { newDatabase } from "@signsealship/testing/database";
import type { Database } from "../../../src/kernel/platform/database/database.ts";
import { isSealed, sealed, sql } from "../../../src/kernel/platform/database/sql.ts";
import { openSealedTexts, type SealedKind } from "../../../src/kernel/platform/sealed-text.ts";
import { keyIdText, secretBytes } from "../../../src/kernel/platform/secrets.ts";

const [old, next] = [secretBytes(Buffer.alloc(32, 1)), secretBytes(Buffer.alloc(32, 2))];
const oldTexts = openSealedTexts(old);
const nextTexts = openSealedTexts(secretBytes(next.reveal(), [old]));
const code = "mfrggzdfmztwq2lknnwg23tpoa";

test("encrypts equal texts alike, names the key, and reveals nothing of the text", () => {
  const form = oldTexts.seal("proof", code);
  assert.equal(form, oldTexts.seal("proof", code));
  assert.ok(form.startsWith(`c1.${keyIdText(old)}.`));
  assert.notEqual(form, oldTexts.seal("proof", `${code.slice(0, -1)}b`));
  const bytes = Buffer.from(form.slice(12), "base64url");
  for (const shown of [code.slice(0, 6), Buffer.from(code).toString("hex").slice(0, 12)])
    assert.ok(!`${form}${bytes.toString("latin1")}${bytes.toString("hex")}`.includes(shown));
});

test("decrypts its own forms, under an old key, too, and finds a text under either", () => {
  assert.equal(oldTexts.open("proof", oldTexts.seal("proof", code)), code);
  assert.equal(nextTexts.open("proof", oldTexts.seal("proof", code)), code);
  const forms = nextTexts.allForms("proof", code);
  assert.deepEqual(forms, [nextTexts.seal("proof", code), oldTexts.seal("proof", code)]);
  assert.equal(new Set(forms).size, 2);
});

test("leaves a text of another kind, an altered one and an unsealed one unchanged", () => {
  const form = oldTexts.seal("proof", code);
  const altered = form.slice(0, -2) + (form.endsWith("AA") ? "BB" : "AA");
  for (const stored of [form.replace("c1.", "c2."), altered, code, "", "c1.", `c1.${keyIdText(old)}.AAAA`])
    assert.equal(oldTexts.open("proof", stored), stored);
  for (const kind of ["closing", "room", "envelope", "event"] as SealedKind[])
    assert.equal(oldTexts.open(kind, form), form);
});

test("encrypts and decrypts a long text", () => {
  const long = "Straße 12 — unit 4. ".repeat(1000);
  const form = oldTexts.seal("manifest", long);
  assert.equal(oldTexts.open("manifest", form), long);
  assert.equal(nextTexts.open("manifest", form), long);
});

test("leaves a form unchanged whose encoding differs from the one that this service writes", () => {
  for (const text of [code, "Deed of 12 Elm Street. ".repeat(1000)]) {
    const form = oldTexts.seal("manifest", text);
    const middle = form.length >> 1;
    const inserted = [" ", "\n", ".", "é", "=", "*"].map((each) => form.slice(0, middle) + each + form.slice(middle));
    const appended = [" ", "\n", "=", "A", "!"].map((each) => form + each);
    for (const stored of [...inserted, ...appended, form.slice(0, -1)])
      assert.equal(oldTexts.open("manifest", stored), stored);
  }
  // Standard base64 writes "+" and "/" in place of "-" and "_". The service must not accept it as another form of the
  // same bytes.
  const forms = Array.from({ length: 20 }, (_, n) => oldTexts.seal("manifest", `${code}${n}`));
  const others = forms.map((form) => form.replaceAll("-", "+").replaceAll("_", "/"));
  assert.notDeepEqual(others, forms);
  others.forEach((stored, n) => {
    if (stored !== forms[n]) assert.equal(oldTexts.open("manifest", stored), stored);
  });
});

test("refuses a text under a missing key, and names the key", () => {
  assert.throws(() => oldTexts.open("proof", nextTexts.seal("proof", code)), {
    code: "unavailable",
    message: new RegExp(keyIdText(next)),
  });
});

describe("in the database", () => {
  let db: Database;

  before(async () => {
    db = await newDatabase();
    db.useSealedTexts(nextTexts);
    await db.transaction((tx) => tx.script("CREATE TABLE kept (n int, code text UNIQUE, label text)"));
    await db.query(sql`INSERT INTO kept VALUES (1, ${sealed("room", code)}, ${nextTexts.seal("room", code)})`);
    await db.query(sql`INSERT INTO kept VALUES (2, ${oldTexts.seal("room", "other")}, NULL)`);
  });
  after(() => db.close());

  test("stores the form under the current key, and finds texts under every key", async () => {
    const stored = await db.query(sql`SELECT n, code FROM kept ORDER BY n`);
    assert.deepEqual(stored, [
      { n: 1, code: nextTexts.seal("room", code) },
      { n: 2, code: oldTexts.seal("room", "other") },
    ]);
    for (const [text, n] of [
      [code, 1],
      ["other", 2],
    ] as const)
      assert.deepEqual(await db.query(sql`SELECT n FROM kept WHERE ${isSealed(sql`code`, "room", text)}`), [{ n }]);
    assert.deepEqual(await db.query(sql`SELECT n FROM kept WHERE ${isSealed(sql`code`, "proof", code)}`), []);
  });

  test("decrypts only the columns that a statement names", async () => {
    const [row] = await db.query(sql`SELECT code AS "code@room", label, NULL AS "none@room" FROM kept WHERE n = 1`);
    assert.deepEqual(row, { code, label: nextTexts.seal("room", code), none: null });
  });

  test("decrypts only the named member of JSON: a form that somebody put into another text stays encrypted", async () => {
    const [row] = await db.query<{ list: object[] }>(sql`
      SELECT json_agg(json_build_object('code', code, 'label', label) ORDER BY n) AS "list@room.code" FROM kept`);
    assert.deepEqual(row?.list, [
      { code, label: nextTexts.seal("room", code) },
      { code: "other", label: null },
    ]);
  });

  test("fails when a text is under a missing key", async () => {
    const closed = await newDatabase();
    closed.useSealedTexts(oldTexts);
    await closed.transaction((tx) => tx.script("CREATE TABLE kept (code text)"));
    await closed.query(sql`INSERT INTO kept VALUES (${nextTexts.seal("room", code)})`);
    await assert.rejects(closed.query(sql`SELECT code AS "code@room" FROM kept`), { code: "unavailable" });
    await closed.close();
  });
});
