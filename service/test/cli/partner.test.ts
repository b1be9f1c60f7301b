import assert from "node:assert/strict";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parseArgs } from "node:util";
import { forTests } from "@signsealship/testing/for-tests";
import { freePort } from "@signsealship/testing/free-port";
import { examplePdf } from "@signsealship/testing/inputs/order-form";
import { newPartner, runCli, startService, temporaryFolder } from "@signsealship/testing/service";
import { ask, partnerOf } from "../../src/cli/partner/api.ts";
import { partnerBulkVerbs } from "../../src/cli/partner/bulk.ts";
import { createOrder } from "../../src/cli/partner/order.ts";
import { partnerTemplateVerbs } from "../../src/cli/partner/template.ts";
import type { Verb } from "../../src/cli/verb.ts";
import { orderVerbs } from "../../src/cli/verbs/order.ts";
import { storeAddress } from "../../src/kernel/platform/data-folder.ts";

const folder = temporaryFolder();
const document = join(folder.path, "deed.pdf");

const service = await forTests(startService({ DATA_DIR: folder.path, RATE_LIMITS: "off" }));
const partner = await newPartner(service);
writeFileSync(document, examplePdf);

/** Runs a verb as a partner would, without a database. */
const asPartner = (...args: string[]) => runCli({ BASE_URL: service.baseUrl, SIGNSEALSHIP_KEY: partner.key }, ...args);
const wanted = ["--document", document, "--email", "a@example.com", "--byod-confirmed"];

/** Runs a verb in this process, because a process of its own would spend most of its time loading code. */
async function run({ options, run: work }: Verb, ...args: string[]) {
  const asked = ["--base-url", service.baseUrl, "--key", partner.key, ...args];
  const { values, positionals } = parseArgs({ args: asked, options, strict: true, allowPositionals: true });
  return work(positionals, values);
}

const listOrders = () => {
  const found = orderVerbs.find(({ name }) => name === "order list");
  assert.ok(found);
  return found;
};

test("a partner places an order and lists it, with the price and the service's warnings", async () => {
  const { code, stdout, stderr } = await asPartner(
    "order",
    "create",
    ...wanted,
    "--notarize",
    "--fax",
    "2125550123",
    "--reference",
    "FILE-9",
    "--field",
    "signer_state=TX",
    "--field",
    "scv_sign=true",
  );
  assert.deepEqual([code, stderr], [0, ""]);
  const [, orderCode] = /^order: ([0-9a-f]{40})$/m.exec(stdout) ?? [];
  assert.match(stdout, new RegExp(`^page: ${service.baseUrl}/orders/${orderCode}$`, "m"));
  assert.match(stdout, /^ {6}\$70\.00 {2}Total$/m);
  assert.match(stdout, /^warning: scv_sign is not a field .* did you mean "svc_sign"\?$/m);

  const listed = await run(listOrders(), "--reference", "FILE-9", "--status", "QuoteReady");
  assert.match(listed.text, new RegExp(`^${orderCode}  QuoteReady  \\S+  Notarize, Fax  a@example.com  FILE-9$`));
  const none = await run(listOrders(), "--reference", "FILE-8");
  assert.deepEqual(none.json, { orders: [], nextCursor: null });
});

test("an order with one idempotency key is placed once", async () => {
  const place = () => run(createOrder, ...wanted, "--sign", "--idempotency-key", "from-a-script");
  const first = await place();
  assert.match(first.text, /^order: /);
  assert.deepEqual(await place(), first);
});

test("a partner makes a template, places an order from it, and changes it: the order keeps its version", async () => {
  const verb = (name: string) => partnerTemplateVerbs.find((each) => each.name === name) ?? assert.fail(name);
  const create = ["--name", "Lease", "--document", document, "--sign", "--roles", '[{"name":"Tenant"}]'];
  const { json: template } = (await run(verb("template create"), ...create)) as { json: { templateId: string } };
  const { templateId } = template;
  const tenant = `roles={"Tenant":{"name":"Jane Roe","email":"jane@example.com"}}`;
  const from = ["--template", templateId, "--email", "a@example.com", "--byod-confirmed"];
  const placed = (await run(createOrder, ...from, "--field", tenant)) as { json: { orderCode: string } };
  const changed = await run(verb("template publish"), templateId, "--name", "Lease 2027");
  assert.match(changed.text, /^version: 2$/m);
  assert.match((await run(verb("template list"))).text, new RegExp(`^${templateId}  v2 .*Tenant  Lease 2027$`, "m"));
  const response = await fetch(`${service.baseUrl}/api/partner/orders/${placed.json.orderCode}`, {
    headers: partner.headers,
  });
  const order = (await response.json()) as { template: object };
  assert.deepEqual(order.template, { templateId, version: 1 });
  await run(verb("template retire"), templateId);
  await assert.rejects(run(createOrder, ...from, "--field", tenant), /--template: template is archived/);
  await run(verb("template restore"), templateId);
  assert.match((await run(createOrder, ...from, "--field", tenant)).text, /^order: /);
});

const at = (y: number, height = 18) => ({ page: 1, x: 72, y, width: 150, height });
const ruled = [
  { kind: "signature", signer: 1, ...at(100, 40) },
  { kind: "checkbox", signer: 1, ...at(160), width: 18, label: "Pets", id: "pets" },
  { kind: "text", signer: 1, ...at(190), label: "Breed", show_when: { field: "pets", operator: "checked" } },
  { kind: "number", signer: 1, ...at(220), label: "Rent", id: "rent" },
  { kind: "number", signer: 1, ...at(250), label: "Yearly", formula: "rent * 12" },
];
const rulesOf = (fields: readonly { label?: string; show_when?: object; formula?: string }[]) =>
  fields.flatMap(({ label, show_when, formula }) => (show_when || formula ? [[label, show_when ?? formula]] : []));
const expectedRules = [
  ["Breed", { field: "pets", operator: "checked" }],
  ["Yearly", "rent * 12"],
];

test("conditions and formulas can be given with an order's fields and with a template's, and invalid ones are refused", async () => {
  const verb = (name: string) => partnerTemplateVerbs.find((each) => each.name === name) ?? assert.fail(name);
  const placed = await run(createOrder, ...wanted, "--sign", "--field", `fields=${JSON.stringify(ruled)}`);
  assert.match(placed.text, /^order: /);
  const unknown = JSON.stringify(ruled).replace('"field":"pets"', '"field":"cats"');
  await assert.rejects(run(createOrder, ...wanted, "--sign", "--field", `fields=${unknown}`), /fields\[2\]\.show_when/);
  const create = ["--name", "Lease", "--document", document, "--sign", "--roles", '[{"name":"Tenant"}]'];
  const { json } = (await run(verb("template create"), ...create, "--fields", JSON.stringify(ruled))) as {
    json: { templateId: string };
  };
  const shown = (await run(verb("template show"), json.templateId)) as { json: { fields: [] } };
  assert.deepEqual(rulesOf(shown.json.fields), expectedRules);
});

test("a bulk is checked, placed, followed, retried and canceled", async () => {
  const bulk = (name: string, ...args: string[]) =>
    run(partnerBulkVerbs.find((each) => each.name === `bulk ${name}`) ?? assert.fail(name), ...args);
  const template = (name: string, ...args: string[]) =>
    run(partnerTemplateVerbs.find((each) => each.name === `template ${name}`) ?? assert.fail(name), ...args);
  const create = ["--name", "Rules", "--document", document, "--sign", "--roles", '[{"name":"Tenant"}]'];
  const { json } = (await template("create", ...create)) as { json: { templateId: string } };
  const { templateId } = json;
  const file = join(folder.path, "people.csv");
  const send = async (...rows: string[]) => {
    writeFileSync(file, ["Tenant.name,Tenant.email", ...rows].join("\n"));
    return (await bulk("create", file, "--template", templateId, "--byod-confirmed")) as { json: { bulkId: string } };
  };
  await assert.rejects(send("Jane,jane@example.com", "Sam,no address"), /row 2: roles\.Tenant\.email must be/);
  const { bulkId } = (await send("Jane,jane@example.com", "Sam,sam@example.com")).json;
  await template("retire", templateId);
  assert.match((await bulk("place", bulkId)).text, /^failed: 2$/m);
  assert.match(
    (await bulk("rows", bulkId)).text,
    /^1 {2}failed {2}template is archived.*\n2 {2}failed {2}template is archived/,
  );
  await template("restore", templateId);
  assert.match((await bulk("retry", bulkId)).text, /^waiting: 2$/m);
  assert.match((await bulk("place", bulkId)).text, /^placed: 2$/m);
  assert.match((await bulk("rows", bulkId)).text, /^1 {2}placed {2}[0-9a-f]{40}\n2 {2}placed {2}[0-9a-f]{40}$/);
  const other = (await send("Max,max@example.com")).json.bulkId;
  assert.match((await bulk("cancel", other)).text, /^canceled: 1$/m);
  assert.match((await bulk("show", other)).text, /^waiting: 0$/m);
});

test("a refusal names the flag", async () => {
  const silent = `http://127.0.0.1:${await freePort()}`;
  const refusals: [string[], RegExp][] = [
    [["--email", "a@example.com", "--byod-confirmed"], /UsageError: either --document or --fill-token is required/],
    [[...wanted, "--fill-token", "0".repeat(40)], /UsageError: either --document or --fill-token/],
    [["--document", document, "--byod-confirmed"], /UsageError: --email is required/],
    [["--document", document, "--email", "a@example.com"], /UsageError: --byod-confirmed is required/],
    [[...wanted, "--field", "ship_name"], /UsageError: --field must be name=value, not ship_name/],
    [[...wanted, "--sign", "--field", "svc_sign=on"], /UsageError: --field svc_sign was given already/],
    [[...wanted, "--base-url", "ftp://example.com"], /UsageError: --base-url must be an http\(s\) URL/],
    [["--document", "/no/such.pdf", ...wanted.slice(2)], /StartupError: --document \/no\/such\.pdf .* \(ENOENT\)/],
    [[...wanted, "--fax", "12"], /StartupError: --fax: fax_to must be a 10-digit US number/],
    [[...wanted, "--ship"], /StartupError: --field ship_name: ship_name is required/],
    [[...wanted, "--key", "svc_pk_test_none"], /StartupError: --key: A valid partner API key is required/],
    [[...wanted, "--base-url", silent], /StartupError: --base-url: No answer from \S+ \(ECONNREFUSED\)/],
  ];
  const saidOf = (verb: Verb, args: string[]) =>
    run(verb, ...args).then(
      () => "",
      (error: Error) => `${error.constructor.name}: ${error.message}`,
    );
  for (const [args, said] of refusals) assert.match(await saidOf(createOrder, args), said);
  assert.match(await saidOf(listOrders(), ["--test"]), /UsageError: --test is the operator's/);
  const none = await runCli({}, "order", "create", ...wanted);
  assert.deepEqual([none.code, none.stdout], [2, ""]);
  assert.match(none.stderr, /--key is required/);
});

test("without --base-url a command calls the service that last ran in the folder, if it runs on this machine", async (t) => {
  const { BASE_URL, PORT, DATA_DIR } = process.env;
  t.after(() => Object.assign(process.env, JSON.parse(JSON.stringify({ BASE_URL, PORT, DATA_DIR }))));
  delete process.env["BASE_URL"];
  delete process.env["PORT"];
  const other = temporaryFolder();
  const calledIn = (dataDir: string, address?: string) => {
    if (address !== undefined) storeAddress(dataDir, address);
    process.env["DATA_DIR"] = dataDir;
    return partnerOf({ key: partner.key }).baseUrl;
  };
  assert.equal(calledIn(folder.path), service.baseUrl.replace("127.0.0.1", "localhost"));
  assert.equal(calledIn(other.path), "http://localhost:8080");
  assert.equal(calledIn(other.path, "http://[::1]:9437"), "http://[::1]:9437");
  assert.equal(calledIn(other.path, "https://elsewhere.example"), "http://localhost:8080", "the key stays here");
  const unreadable = temporaryFolder();
  mkdirSync(join(unreadable.path, "address"));
  // `address` is a folder, so even root can't read it as a file. It stands for a file that the user may not read.
  assert.throws(() => calledIn(unreadable.path), /--base-url is required: .* cannot be read \(EISDIR\)$/);
  // Now the user may not read the folder itself. Root may still read it, so a test that runs as root acts as another
  // user.
  chmodSync(unreadable.path, 0);
  const isRoot = process.geteuid?.() === 0;
  try {
    if (isRoot) process.seteuid?.(65534);
    assert.throws(() => calledIn(unreadable.path), /--base-url is required: .* cannot be read \(EACCES\)$/);
  } finally {
    if (isRoot) process.seteuid?.(0);
    chmodSync(unreadable.path, 0o700);
  }
  assert.equal(calledIn(document), "http://localhost:8080", "a file is no folder of a service");
  const baseUrl = "http://localhost:9000";
  assert.equal(partnerOf({ key: partner.key, "base-url": baseUrl }).baseUrl, baseUrl);
  process.env["PORT"] = "9000";
  assert.equal(calledIn(folder.path), "http://localhost:9000");
  process.env["PORT"] = String(await freePort());
  const silent = ask(partnerOf({ key: partner.key }), (client) => client.me());
  await assert.rejects(silent, /^StartupError: No answer from \S+ \(ECONNREFUSED\).* address with --base-url\.$/);
  process.env["BASE_URL"] = "ftp://example.com";
  assert.throws(() => partnerOf({ key: partner.key }), /: BASE_URL must be an http\(s\) URL/);
  delete process.env["BASE_URL"];
  delete process.env["PORT"];
  delete process.env["DATA_DIR"];
});

test("the help of a verb explains its flags and has examples", async () => {
  const { stdout, code } = await runCli({}, "order", "create", "--help");
  assert.equal(code, 0);
  assert.match(stdout, /\nFlags:\n.* {2}--fax +NUMBER to fax it to: 10 digits in the US/s);
  assert.match(stdout, /\nExamples:\n {2}bin\/signsealship order create --key svc_pk_test_/);
});
