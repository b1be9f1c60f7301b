import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { openMembersService } from "../../../firms/members/members-service.ts";
import { newMember, postForm } from "../../../firms/members/signed-in-member.ts";

const running = await forTests(openMembersService());

const path = "/dashboard/templates";
const words =
  "This purchase agreement is made between the buyer and the seller of the house named below, who agree to the price and to the day of closing";
const agreement = makePdf({ text: words });
const signature = { kind: "signature", page: 1, x: 72, y: 600, width: 180, height: 40 };
const fields = [
  { ...signature, signer: 1 },
  { ...signature, signer: 2, y: 500 },
  { kind: "text", signer: 1, page: 1, x: 72, y: 300, width: 200, height: 20, label: "Address", required: false },
];

async function member() {
  const { key } = await running.newPartner();
  const { headers } = await newMember(running.service, running.somebody(), key);
  const { baseUrl } = running.service;
  const send = async (at: string, form: FormData) => {
    const answer = await fetch(baseUrl + at, { method: "POST", redirect: "manual", headers, body: form });
    return { status: answer.status, text: await answer.text(), location: answer.headers.get("location") ?? "" };
  };
  const page = async (at: string) => (await running.call(at, { headers })).body as string;
  const press = async (at: string, values: Record<string, string> = {}) => {
    const answer = await postForm(baseUrl + at, values, headers);
    return answer.headers.get("location") ?? "";
  };
  const api = async (at: string, body?: FormData) => {
    const answer = await fetch(`${baseUrl}/api/partner/${at}`, {
      ...(body && { method: "POST", body }),
      headers: { Authorization: `Bearer ${key}` },
    });
    return (await answer.json()) as Record<string, unknown> & { templateId: string; orderCode: string };
  };
  const made = async () =>
    (
      await api(
        "templates",
        orderForm(
          {
            name: "Purchase agreement",
            svc_sign: "true",
            roles: JSON.stringify([
              { name: "Buyer", auth: "access_code" },
              { name: "Seller", routing: 2 },
            ]),
            fields: JSON.stringify(fields),
          },
          agreement,
        ),
      )
    ).templateId;
  return { send, page, press, api, made };
}

const people = {
  person1_name: "Jane Doe",
  person1_email: "jane@example.com",
  person1_access_code: "4711",
  person2_name: "Sam Roe",
  person2_email: "sam@example.com",
};

test("a member makes a template from a PDF, with the named roles, and finds it in the list", async () => {
  const { send, page } = await member();
  assert.match(await page(path), /No templates yet/);
  const form = {
    name: "Lease",
    svc_sign: "on",
    role1_name: "Tenant",
    role1_routing: "1",
    role1_auth: "mail_code",
    role1_language: "es",
    role2_name: "",
  };
  const answer = await send(`${path}/new`, orderForm(form, agreement));
  assert.equal(answer.status, 303, answer.text);
  const shown = await page(answer.location);
  assert.match(shown, /<h1>Lease<\/h1>/);
  assert.match(shown, /value="Tenant"/);
  assert.match(shown, /The template was made/);
  assert.match(await page(path), />Lease<\/a>/);
});

test("a template without a role, a name or a file is rejected with a message, and the typed text stays", async () => {
  const { send } = await member();
  const cases: [Record<string, string>, Uint8Array | null, RegExp][] = [
    [{ name: "Lease", svc_sign: "on" }, agreement, /Name at least one role/],
    [{ name: "", svc_sign: "on", role1_name: "Tenant" }, agreement, /name is required/],
    [
      { name: "Lease", svc_sign: "on", role1_name: "Tenant", role1_routing: "soon" },
      agreement,
      /Role 1: the turn must be a whole number/,
    ],
    [{ name: "Lease", svc_sign: "on", role1_name: "Tenant" }, null, /document is required/],
  ];
  for (const [form, document, said] of cases) {
    const answer = await send(`${path}/new`, orderForm(form, document));
    assert.equal(answer.status, 400, answer.text);
    assert.match(answer.text, said);
    if (form["role1_name"]) assert.match(answer.text, /value="Tenant"/);
  }
});

test("a member makes a template from an order: its signers become roles without names", async () => {
  const { send, page, api } = await member();
  const signers = JSON.stringify([
    { name: "Jane Doe", email: "jane@example.com" },
    { name: "Sam Roe", email: "sam@example.com" },
  ]);
  const { orderCode } = await api(
    "orders",
    orderForm({ ...minimal, svc_sign: "true", signers, fields: JSON.stringify(fields) }, agreement),
  );
  assert.match(await page(`/dashboard/orders/${orderCode}`), new RegExp(`href="${path}/new\\?order=${orderCode}"`));
  const form = await page(`${path}/new?order=${orderCode}`);
  assert.match(form, /value="Signer 1"/);
  assert.doesNotMatch(form, /Jane Doe|jane@example\.com/);
  const answer = await send(
    `${path}/new`,
    orderForm({ order: orderCode, name: "From an order", role1_name: "Buyer", role2_name: "Seller" }, null),
  );
  assert.equal(answer.status, 303, answer.text);
  assert.match(await page(answer.location), /Address/);
});

test("a member orders from a template: the people, a value, the template's document, and the version in the order", async () => {
  const { send, page, made } = await member();
  const templateId = await made();
  const form = await page(`${path}/${templateId}/order`);
  assert.match(form, /<legend>Buyer<\/legend>/);
  assert.match(form, /<label for="field-value1">Address/);
  assert.match(form, /After you place it:<\/strong> Once the client has paid, the document goes out for signature/);
  assert.doesNotMatch(form, /When your firm pays/, "an order from a template is paid by the client");
  const typed = { ...minimal, ...people, value1: "350 Fifth Avenue" };
  const answer = await send(`${path}/${templateId}/order`, orderForm(typed, null));
  assert.equal(answer.status, 303, answer.text);
  const order = await page(answer.location);
  assert.match(order, new RegExp(`href="${path}/${templateId}/versions/1"`));
  assert.match(order, /Jane Doe/);
});

test("a refused order names the role, and keeps the typed text", async () => {
  const { send, made } = await member();
  const templateId = await made();
  const at = `${path}/${templateId}/order`;
  const other = makePdf({
    text: "This deed of trust is given by the borrower to the trustee for the lender named below and its successors",
  });
  const cases: [Record<string, string>, Uint8Array | null, RegExp][] = [
    [{ person2_email: "sam" }, null, /Seller: the email must be an email address/],
    [{ person1_access_code: "" }, null, /Buyer: the access code is required/],
    [{ byod_confirmed: "" }, null, /Confirm that this is the client’s own/],
    [{}, other, /This PDF is not the form of the template/],
  ];
  for (const [changes, document, said] of cases) {
    const answer = await send(at, orderForm({ ...minimal, ...people, ...changes }, document));
    assert.equal(answer.status, 400, answer.text);
    assert.match(answer.text, said);
    assert.match(answer.text, /value="Jane Doe"/);
  }
  const confirmed = await send(at, orderForm({ ...minimal, ...people, other_document: "on" }, other));
  assert.equal(confirmed.status, 303, confirmed.text);
});

test("a change is a new version; a form of an earlier one is refused, and the earlier one can be read with its document", async () => {
  const { send, page, made } = await member();
  const templateId = await made();
  const at = `${path}/${templateId}`;
  const form = (name: string) =>
    orderForm(
      {
        name,
        from_version: "1",
        role1_name: "Purchaser",
        role1_auth: "link",
        role2_name: "Vendor",
        message: "By Friday",
      },
      null,
    );
  const saved = await send(at, form("Agreement 2027"));
  assert.equal(saved.status, 303, saved.text);
  const shown = await page(at);
  assert.match(shown, /Version 2 of 2/);
  assert.match(shown, /By Friday/);
  const late = await send(at, form("Agreement 2028"));
  assert.equal(late.status, 409);
  assert.match(late.text, /Another version was added since you opened this form/);
  assert.match(await page(`${at}/versions/1`), /Buyer/);
  assert.match(await page(`${at}/versions/1/document`), /^%PDF/);
});

test("an archived template offers no order, is listed separately, and can be restored", async () => {
  const { page, press, made } = await member();
  const templateId = await made();
  const at = `${path}/${templateId}`;
  assert.match(await press(`${at}/archive`), /done=template-archived/);
  assert.doesNotMatch(await page(path), new RegExp(templateId));
  assert.match(await page(`${path}?archived=true`), new RegExp(templateId));
  assert.doesNotMatch(await page(at), /Place an order from it/);
  assert.match(await press(`${at}/restore`), /done=template-restored/);
  assert.match(await page(path), new RegExp(templateId));
});

test("a PDF finds its template, and an unrelated one finds none", async () => {
  const { send, made } = await member();
  const templateId = await made();
  const dated = makePdf({ text: words.replace("the day of closing", "the 4th day") });
  assert.match((await send(`${path}/match`, orderForm({}, dated))).text, new RegExp(`${path}/${templateId}/order`));
  assert.match((await send(`${path}/match`, orderForm({}, makePdf()))).text, /No template has this form/);
  assert.equal((await send(`${path}/match`, orderForm({}, null))).status, 400);
});

test("another firm's template is a page that does not exist", async () => {
  const templateId = await (await member()).made();
  const { page, send } = await member();
  for (const at of ["", "/order", "/versions/1", "/versions/1/document"])
    assert.doesNotMatch(JSON.stringify(await page(`${path}/${templateId}${at}`)), /Purchase agreement|%PDF/);
  assert.equal((await send(`${path}/${templateId}`, orderForm({ name: "Mine", from_version: "1" }, null))).status, 404);
});
