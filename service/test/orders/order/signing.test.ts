import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { databaseOfRunning } from "@signsealship/testing/database";
import { anyCharacter } from "@signsealship/testing/inputs/any-character";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { zooBytes } from "@signsealship/testing/inputs/zoo";
import { newPartner, type Service, startService, temporaryFolder } from "@signsealship/testing/service";
import fc from "fast-check";
import { isSealed, sql } from "../../../src/kernel/platform/database/sql.ts";
import { ServiceError } from "../../../src/kernel/platform/errors.ts";
import { slowHashHolds } from "../../../src/kernel/platform/slow-hash.ts";
import { parseOrderForm } from "../../../src/orders/order/form/form.ts";
import { signersOf } from "../../../src/orders/order/form/signers.ts";

const rules = { catalogRow: () => null, notarizationBlocked: () => false };
const parse = (fields: Record<string, unknown>) =>
  parseOrderForm(
    new Map(
      Object.entries({ ...minimal, svc_sign: "true", ...fields }).map(([name, value]) => [
        name,
        typeof value === "string" ? value : JSON.stringify(value),
      ]),
    ),
    true,
    rules,
  ).signing;

type Answer = {
  orderCode: string;
  error?: string;
  documentNotices?: { code: string; page: number | null; text: string | null; message: string }[];
};

const jane = { name: "Jane Doe", email: "jane@example.com" };
const signature = { kind: "signature", signer: 1, page: 1, x: 72, y: 600, width: 180, height: 48 };

test("an order that names no signers is signed by its client", () => {
  assert.deepEqual(parse({}), { signers: null, signatureFields: null });
  const client = { signers: null, customerEmail: "client@example.com" };
  assert.deepEqual(
    [
      signersOf({ ...client, customerName: "Cleo" }).map(({ name, email, auth }) => ({ name, email, auth })),
      signersOf({ ...client, customerName: null })[0]?.name,
    ],
    [[{ name: "Cleo", email: "client@example.com", auth: "link" }], "client@example.com"],
  );
});

test("signers sign in parallel, by their link and in English, unless the order says otherwise", () => {
  assert.deepEqual(parse({ signers: [{ ...jane, name: " Jane Doe " }] }).signers, [
    { ...jane, phone: null, routing: 1, auth: "link", accessCode: null, language: "en" },
  ]);
  const bob = { name: "Bob", email: "jane@example.com", phone: "212 555 0123", routing: 2, language: "es" };
  const [first, second] =
    parse({ signer_auth: "mail_code", signers: [jane, { ...bob, auth: "access_code", access_code: "4711" }] })
      .signers ?? [];
  assert.equal(first?.auth, "mail_code");
  assert.deepEqual(second, { ...bob, phone: "+12125550123", auth: "access_code", accessCode: "4711" });
});

test("signer_auth without signers applies to the client", () => {
  assert.deepEqual(
    parse({ signer_auth: "mail_code", name: "Cleo" }).signers?.map(({ name, auth }) => [name, auth]),
    [["Cleo", "mail_code"]],
  );
});

test("fields are stored as requested, and are required by default", () => {
  assert.deepEqual(parse({ fields: [signature] }).signatureFields, [{ ...signature, label: null, required: true }]);
  const text = { ...signature, kind: "text", label: "Unit", required: false };
  assert.deepEqual(parse({ fields: [text, signature] }).signatureFields?.[0], text);
});

test("accepts the largest place of each kind", () => {
  const sizes = { signature: [360, 120], initials: [120, 60], date: [576, 200], name: [576, 200], text: [576, 200] };
  for (const [kind, [width, height]] of Object.entries(sizes)) {
    const fields = [signature, { ...signature, kind, width, height }];
    assert.equal(parse({ fields }).signatureFields?.length, 2, kind);
  }
});

describe("an order is refused, with the member and the rule named,", () => {
  const many = (count: number) => Array.from({ length: count }, (_, n) => ({ ...jane, name: `Jane ${n}` }));
  const cases: [name: string, fields: Record<string, unknown>, message: RegExp][] = [
    ["with signers but without signing", { svc_sign: "", signers: [jane] }, /^signers must be left out unless signing/],
    ["with fields but without signing", { svc_sign: "", fields: [signature] }, /^fields must be left out unless sign/],
    ["with signer_auth but without signing", { svc_sign: "", signer_auth: "link" }, /^signer_auth must be left out/],
    ["with signers that are no JSON", { signers: "[{" }, /^signers must be JSON\.$/],
    ["with signers that are no array", { signers: jane }, /^signers must be a JSON array of 1 to 10 objects\.$/],
    ["with no signers in the array", { signers: [] }, /^signers must be a JSON array of 1 to 10 objects\.$/],
    ["with eleven signers", { signers: many(11) }, /^signers must be a JSON array of 1 to 10 objects\.$/],
    ["with a signer that is a text", { signers: ["Jane"] }, /^signers\[0\] must be an object\.$/],
    ["with a signer in an array", { signers: [[jane]] }, /^signers\[0\] must be an object\.$/],
    ["with a member that is misspelled", { signers: [{ ...jane, mail: "" }] }, /^signers\[0\] .*: mail is not one of/],
    ["with a member of objects' own", { signers: '[{"__proto__":{}}]' }, /^signers\[0\] .*: __proto__ is not one of/],
    ["with a signer without a name", { signers: [jane, { email: "b@c.de" }] }, /^signers\[1\]\.name is required\.$/],
    ["with a name of nothing to see", { signers: [{ ...jane, name: " \u200b" }] }, /^signers\[0\]\.name is required/],
    ["with a name that is a number", { signers: [{ ...jane, name: 7 }] }, /^signers\[0\]\.name must be text of at/],
    ["with a name of 201 characters", { signers: [{ ...jane, name: "x".repeat(201) }] }, /name must be text .* 200/],
    ["with a NUL in a name", { signers: [{ ...jane, name: "a\0b" }] }, /^signers\[0\]\.name must be UTF-8 text/],
    ["with an address that is none", { signers: [{ ...jane, email: "jane" }] }, /email must be an email address/],
    ["with a phone that is none", { signers: [{ ...jane, phone: "12" }] }, /^signers\[0\]\.phone must be a 10-digit/],
    ["with routing 0", { signers: [{ ...jane, routing: 0 }] }, /^signers\[0\]\.routing must be a whole number from 1/],
    ["with routing 1.5", { signers: [{ ...jane, routing: 1.5 }] }, /routing must be a whole number from 1 to 10\.$/],
    ["with routing as text", { signers: [{ ...jane, routing: "1" }] }, /routing must be a whole number from 1 to 10/],
    [
      "in a language we don't have",
      { signers: [{ ...jane, language: "de" }] },
      /language must be one of en, es, fr, pt, zh, vi, ko, tl\.$/,
    ],
    ["with a way to identify of no name", { signer_auth: "sms" }, /^signer_auth must be one of link, mail_code, acc/],
    ["with the same for one signer", { signers: [{ ...jane, auth: "sms" }] }, /^signers\[0\]\.auth must be one of/],
    ["with the same person twice", { signers: [jane, { ...jane, name: "JANE DOE" }] }, /^signers\[1\] must be another/],
    ["with no access code", { signers: [{ ...jane, auth: "access_code" }] }, /access_code is required when auth is/],
    ["with codes for all, and none", { signer_auth: "access_code", signers: [jane] }, /access_code is required when/],
    ["with codes for all, and no signers", { signer_auth: "access_code" }, /^signers is required when signer_auth is/],
    ["with codes by text, and no number", { signers: [{ ...jane, auth: "text_code" }] }, /^signers\[0\]\.phone is req/],
    [
      "with codes by text for all, and no signers",
      { signer_auth: "text_code" },
      /^signers is required when signer_aut/,
    ],
    [
      "with codes by text to a satellite",
      { signers: [{ ...jane, auth: "text_code", phone: "+870773111632" }] },
      /^signers\[0\]\.phone must not be a premium-rate or satellite number\.$/,
    ],
    ["with an access code unasked", { signers: [{ ...jane, access_code: "4711" }] }, /access_code must be left out/],
    [
      "with an access code of three characters",
      { signers: [{ ...jane, auth: "access_code", access_code: "123" }] },
      /^signers\[0\]\.access_code must have at least 4 characters\.$/,
    ],
    ["with 501 fields", { fields: Array(501).fill(signature) }, /^fields must be a JSON array of 1 to 500 objects\.$/],
    ["with a field without x", { fields: [{ ...signature, x: undefined }] }, /^fields\[0\]\.x is required\.$/],
    ["with a field of no kind", { fields: [{ ...signature, kind: "stamp" }] }, /^fields\[0\]\.kind must be one of sig/],
    ["on page 0", { fields: [{ ...signature, page: 0 }] }, /^fields\[0\]\.page must be a whole number from 1 to/],
    ["left of the page", { fields: [{ ...signature, x: -1 }] }, /^fields\[0\]\.x must be a number from 0 to 14400\.$/],
    ["with a field of no width", { fields: [{ ...signature, width: 0 }] }, /width must be a number from 8 to 14400/],
    [
      "with a signature wider than 360 points",
      { fields: [signature, { ...signature, width: 361 }] },
      /^fields\[1\]\.width must be at most 360 points for a signature\.$/,
    ],
    [
      "with initials higher than 60 points",
      { fields: [signature, { ...signature, kind: "initials", width: 120, height: 60.5 }] },
      /^fields\[1\]\.height must be at most 60 points for initials\.$/,
    ],
    [
      "with a text higher than 200 points",
      { fields: [{ ...signature, kind: "text", height: 201 }] },
      /^fields\[0\]\.height must be at most 200 points for a text\.$/,
    ],
    ["with an x as text", { fields: [{ ...signature, x: "72" }] }, /^fields\[0\]\.x must be a number from 0 to/],
    ["with an x beyond numbers", { fields: '[{"x":1e999}]' }, /^fields\[0\]\.kind is required/],
    ["for a signer it has not", { fields: [{ ...signature, signer: 2 }] }, /signer must be at most 1, the number of/],
    ["with a signature that may wait", { fields: [{ ...signature, required: false }] }, /required must not be false/],
    ["with a flag as text", { fields: [{ ...signature, required: "no" }] }, /required must be true or false\.$/],
    [
      "with a signer who signs nowhere",
      { signers: [jane, { ...jane, name: "Bob" }], fields: [signature, { ...signature, kind: "date", signer: 2 }] },
      /^fields must hold a signature for each signer: signer 2 has none\.$/,
    ],
  ];
  for (const [name, fields, message] of cases)
    test(name, () => {
      assert.throws(
        () => parse(fields),
        (error) => error instanceof ServiceError && message.test(error.message),
      );
    });
});

test("a document that the law excludes is not signed electronically, and an order that requests it is refused with the law", () => {
  const will = { sign: false, notarize: false, esignExcluded: "15 USC 7003(a)(1)" };
  const order = (fields: Record<string, string>) => () =>
    parseOrderForm(new Map(Object.entries({ ...minimal, doc_slug: "last-will", ...fields })), true, {
      ...rules,
      catalogRow: () => will,
    });
  assert.throws(
    order({ svc_sign: "true" }),
    /^ServiceError: svc_sign must be left out: this document can't be signed electronically \(15 USC 7003\(a\)\(1\)\)\.$/,
  );
  assert.throws(order({ signers: JSON.stringify([jane]) }), /^ServiceError: signers must be left out/);
  assert.equal(order({})().services.sign, false);
});

test("any JSON is accepted, or refused by one sentence that names the field", () => {
  const member = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom("name", "a@b.co", 1, 0, -1, 1e308, true, null, "link", "en", "signature", "__proto__"),
  );
  const keys = fc.constantFrom("name", "email", "routing", "auth", "kind", "signer", "page", "x", "width", "toString");
  const list = fc.oneof(
    fc.json(),
    fc.array(fc.dictionary(keys, member)).map((items) => JSON.stringify(items)),
  );
  const anything = fc.oneof(list, fc.string({ unit: anyCharacter }));
  fc.assert(
    fc.property(anything, anything, fc.constantFrom("", "link", "access_code"), (signers, fields, signer_auth) => {
      try {
        const { signers: kept } = parse({ signers, fields, signer_auth });
        assert.ok(kept === null || (kept.length > 0 && kept.length <= 10));
      } catch (error) {
        assert.ok(error instanceof ServiceError, String(error));
        assert.match(error.message, /^(signers|fields|signer_auth)\b.*\.$/s);
      }
    }),
    { numRuns: 2000 },
  );
});

test("a list nested to the form's limit is refused without recursion", () => {
  const deep = "[".repeat(32_000) + "]".repeat(32_000);
  assert.throws(() => parse({ signers: deep }), /^ServiceError: signers\[0\] must be an object/);
});

describe("an order that is placed", () => {
  const folder = temporaryFolder();
  let service: Service;
  let headers: { Authorization: string };
  before(async () => {
    service = await startService({ DATA_DIR: folder.path, RATE_LIMITS: "off" });
    ({ headers } = await newPartner(service));
  });
  after(async () => {
    await service.stop();
    folder.remove();
  });
  const twoPages = makePdf({ pages: 2 });
  const post = async (
    fields: Record<string, unknown>,
    more: Record<string, string> = {},
    document: Buffer | null = twoPages,
  ) => {
    const texts = Object.entries({ ...minimal, svc_sign: "true", ...fields }).map(
      ([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)] as const,
    );
    const body = orderForm(Object.fromEntries(texts), document);
    const sent = { ...headers, ...more };
    const response = await fetch(`${service.baseUrl}/api/partner/orders`, { method: "POST", headers: sent, body });
    return { status: response.status, body: (await response.json()) as Answer };
  };
  const kept = async (code: string) => {
    const db = databaseOfRunning(service.dataDir);
    const [row] = await db.query<{ signers: { accessCodeHash: string }[] | null; signature_fields: unknown }>(
      sql`SELECT signers, signature_fields FROM orders WHERE ${isSealed(sql`code`, "order", code)}`,
    );
    await db.close();
    return row;
  };

  test("stores its signers and fields, and of an access code only a salted hash", async () => {
    const signers = [{ ...jane, auth: "access_code", access_code: "sesame-4711" }];
    const fraction = { ...signature, x: 72.5, y: 660.125 };
    const { status, body } = await post({ signers, fields: [signature, fraction] });
    assert.equal(status, 201, JSON.stringify(body));
    const row = await kept(body.orderCode);
    const { accessCodeHash = "", ...signer } = row?.signers?.[0] ?? {};
    assert.deepEqual(signer, { ...jane, phone: null, routing: 1, auth: "access_code", language: "en" });
    assert.ok(await slowHashHolds(accessCodeHash, "sesame-4711"));
    assert.ok(!(await slowHashHolds(accessCodeHash, "sesame-4712")));
    const asked = [signature, fraction];
    assert.deepEqual(
      row?.signature_fields,
      asked.map((field) => ({ ...field, label: null, required: true })),
    );
  });

  test("accepts codes by text message only if text messages are sent", async () => {
    const signers = [jane, { ...jane, name: "Bob", auth: "text_code", phone: "2125550123" }];
    const cases: [Record<string, unknown>, string][] = [
      [{ signers }, "signers[1].auth"],
      [{ signers: [{ ...jane, phone: "2125550123" }], signer_auth: "text_code" }, "signer_auth"],
    ];
    for (const [fields, name] of cases)
      assert.deepEqual(await post(fields).then(({ status, body }) => [status, body.error]), [
        400,
        `${name} must not be text_code: this service sends no text messages.`,
      ]);
  });

  test("stores nulls when its form says nothing about signing", async () => {
    const { body } = await post({});
    assert.deepEqual(await kept(body.orderCode), { signers: null, signature_fields: null });
  });

  test("differs with another access code, for one Idempotency-Key", async () => {
    const withCode = (access_code: string) => ({ signers: [{ ...jane, auth: "access_code", access_code }] });
    const key = { "Idempotency-Key": "one-key-two-codes" };
    const first = await post(withCode("4711"), key);
    assert.equal((await post(withCode("4711"), key)).body.orderCode, first.body.orderCode);
    assert.equal((await post(withCode("4712"), key)).status, 409);
  });

  test("for a notary only is refused when nobody can open its document, and reports when only ink is possible", async () => {
    const notary = { svc_sign: "", svc_notary: "true" };
    const refused = await post(notary, {}, zooBytes("encrypted-aes-256.pdf"));
    assert.equal(refused.status, 400);
    assert.match(refused.body.error ?? "", /^document can't be notarized: it is encrypted/);
    const certified = await post(notary, {}, zooBytes("certified-p1.pdf"));
    assert.equal(certified.status, 201, JSON.stringify(certified.body));
    assert.deepEqual(
      certified.body.documentNotices?.map(({ code }) => code),
      ["ink_only"],
    );
    assert.ok(!("documentNotices" in (await post(notary)).body));
  });

  test("is refused when its document can't be signed, unless signing is not bought", async () => {
    const encrypted = zooBytes("encrypted-aes-256.pdf");
    const refused = await post({}, {}, encrypted);
    assert.equal(refused.status, 400);
    assert.match(refused.body.error ?? "", /^document can't be signed: it is encrypted/);
    assert.equal((await post({ svc_sign: "" }, {}, encrypted)).status, 201);
    const outside = await post({ fields: [{ ...signature, page: 3 }] });
    assert.equal(outside.body.error, "fields[0] is on page 3 of a document with 2 pages.");
  });

  test("reports to its sender the words below a place: the order quotes them, the stored answer does not", async () => {
    const words = makePdf({ content: "BT /F1 16 Tf 80 150 Td (And <b>1000000</b> dollars.) Tj ET" });
    const { status, body } = await post({ fields: [signature] }, {}, words);
    assert.equal(status, 201, JSON.stringify(body));
    const notice = { code: "text_below_place", page: 1 };
    const message = "A place to sign or fill in is on top of words (page 1)";
    assert.deepEqual(body.documentNotices, [{ ...notice, text: null, message: `${message}.` }]);
    const order = async () => {
      const response = await fetch(`${service.baseUrl}/api/partner/orders/${body.orderCode}`, { headers });
      return ((await response.json()) as typeof body).documentNotices;
    };
    const quote = "And <b>1000000</b> dollars.";
    assert.deepEqual(await order(), [{ ...notice, text: quote, message: `${message}: "${quote}".` }]);
    const db = databaseOfRunning(service.dataDir);
    const [row] = await db.query<{ sealed: Buffer }>(
      sql`SELECT document_notices AS sealed FROM orders WHERE ${isSealed(sql`code`, "order", body.orderCode)}`,
    );
    assert.ok(row && !row.sealed.includes("1000000"), "the quote is in the database as it is");
    // A changed byte makes the words unreadable, but the page still says that there were notices.
    const changed = Buffer.from(row.sealed.with(-1, 255 - (row.sealed.at(-1) ?? 0)));
    await db.query(
      sql`UPDATE orders SET document_notices = ${changed} WHERE ${isSealed(sql`code`, "order", body.orderCode)}`,
    );
    assert.deepEqual(
      (await order())?.map(({ code }) => code),
      ["partly_examined"],
    );
    await db.close();
  });

  test("reports nothing for a document whose places are free, nor without signing", async () => {
    for (const fields of [{ fields: [signature] }, { svc_sign: "" }]) {
      const { body } = await post(fields);
      const response = await fetch(`${service.baseUrl}/api/partner/orders/${body.orderCode}`, { headers });
      assert.ok(!("documentNotices" in body) && !("documentNotices" in ((await response.json()) as Answer)));
    }
  });

  test("with a document that was completed online reports the same", async () => {
    const file = join(folder.path, "words.pdf");
    writeFileSync(file, makePdf({ content: "BT 3 Tr /F1 16 Tf 80 150 Td (Unseen.) Tj ET" }));
    const { fillToken = "" } = await service.cli("fill", "add", file);
    const { body } = await post({ fill_token: fillToken }, {}, null);
    assert.deepEqual(
      body.documentNotices?.map(({ code }) => code),
      ["hidden_text"],
    );
  });

  test("with a document that was completed online is refused in the same way", async () => {
    const file = join(folder.path, "encrypted.pdf");
    writeFileSync(file, zooBytes("encrypted-aes-256.pdf"));
    const { fillToken = "" } = await service.cli("fill", "add", file);
    const refused = await post({ fill_token: fillToken }, {}, null);
    assert.match(refused.body.error ?? "", /^document can't be signed: it is encrypted/);
    assert.equal((await post({ svc_sign: "", fill_token: fillToken }, {}, null)).status, 201);
  });

  test("is refused by the first rule that a signer breaks", async () => {
    const { status, body } = await post({ signers: [jane, { ...jane, email: "x" }] });
    assert.deepEqual([status, body], [400, { error: "signers[1].email must be an email address." }]);
  });
});
