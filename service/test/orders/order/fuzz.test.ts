import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { anyCharacter } from "@signsealship/testing/inputs/any-character";
import { minimal, orderForm, sender, shipping } from "@signsealship/testing/inputs/order-form";
import { newPartner, startService, temporaryFolder } from "@signsealship/testing/service";
import fc from "fast-check";

const folder = temporaryFolder();

const service = await forTests(startService({ DATA_DIR: folder.path, RATE_LIMITS: "off" }));
const { headers } = await newPartner(service);

const names = Object.keys({
  ...minimal,
  ...shipping,
  ...sender,
  name: "",
  doc_slug: "",
  svc_sign: "",
  svc_notary: "",
  signer_state: "",
  dest_state: "",
  external_reference: "",
  ship_line2: "",
  ship_method: "",
  fax_to: "",
  fill_token: "",
  create_checkout: "",
  pay_by: "",
  signers: "",
  fields: "",
  signer_auth: "",
});
const nasty = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 300 }),
  fc.constantFrom(
    "",
    "\0",
    "true",
    "on",
    "NY",
    "90210",
    "+12125550123",
    "a@b.co",
    "'; DROP TABLE orders;--",
    "<script>",
    "\ud800",
    "𝕏".repeat(120),
    "-1",
    "NaN",
  ),
);
// Creating fast-check's own arbitrary for query strings takes a second.
const queryText = fc.string({
  unit: fc.oneof(fc.constantFrom(..."abz059-._~!$&'()*+,;=:@/?"), anyCharacter.map(encodeURIComponent)),
});
const form = fc.record({
  base: fc.constantFrom({}, minimal, { ...minimal, ...shipping }, { ...minimal, ...sender }),
  changes: fc.dictionary(fc.oneof(fc.constantFrom(...names), fc.string({ minLength: 1, maxLength: 20 })), nasty, {
    maxKeys: 6,
  }),
  document: fc.option(fc.oneof(fc.uint8Array({ maxLength: 500 }), fc.constant(Buffer.from("%PDF-1.4\n%%EOF")))),
});

test("every order form gets a 201 or a 400 with one clear error", async () => {
  await fc.assert(
    fc.asyncProperty(form, async ({ base, changes, document }) => {
      const body = orderForm({ ...base, ...changes }, document);
      const response = await fetch(`${service.baseUrl}/api/partner/orders`, { method: "POST", headers, body });
      const answer = (await response.json()) as { error?: string };
      assert.ok(
        response.status === 201 || (response.status === 400 && answer.error),
        `${response.status} ${JSON.stringify(answer)}`,
      );
    }),
    { numRuns: 600 },
  );
});

test("no query string and no path causes a 5xx", async () => {
  const value = fc.oneof(nasty, queryText, fc.string({ maxLength: 40 }));
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom("limit", "status", "external_reference", "cursor", "x"),
      value,
      async (name, text) => {
        for (const query of [
          `${name}=${encodeURIComponent(text.toWellFormed())}`,
          text.toWellFormed().replace(/[^\x21-\x7e]|#/g, "%"),
        ]) {
          const response = await fetch(`${service.baseUrl}/api/partner/orders?${query}`, { headers });
          assert.ok([200, 400].includes(response.status), `${query}: ${response.status} ${await response.text()}`);
        }
        const code = await fetch(
          `${service.baseUrl}/api/partner/orders/${encodeURIComponent(text.toWellFormed()) || "x"}`,
          { headers },
        );
        assert.ok([404, 400, 200].includes(code.status), `${text}: ${code.status} ${await code.text()}`);
      },
    ),
    { numRuns: 400 },
  );
});

test("mutated raw multipart bytes never cause a 5xx", async () => {
  const source = new Response(orderForm(minimal, Buffer.from("%PDF-1.4\n%%EOF")));
  const type = source.headers.get("content-type") ?? "";
  const bytes = Buffer.from(await source.arrayBuffer());
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.integer({ min: 0, max: 255 })), { minLength: 1, maxLength: 8 }),
      fc.nat(bytes.length),
      async (edits, cut) => {
        const mutated = Buffer.from(bytes);
        for (const [at, byte] of edits) mutated[at] = byte;
        const body = cut % 3 === 0 ? mutated.subarray(0, cut) : mutated;
        const response = await fetch(`${service.baseUrl}/api/partner/orders`, {
          method: "POST",
          headers: { ...headers, "Content-Type": type },
          body,
        });
        assert.ok([201, 400].includes(response.status), `${response.status} ${await response.text()}`);
      },
    ),
    { numRuns: 600 },
  );
});
