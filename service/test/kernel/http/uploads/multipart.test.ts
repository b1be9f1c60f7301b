import assert from "node:assert/strict";
import { request } from "node:http";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import { examplePdf, minimal } from "@signsealship/testing/inputs/order-form";
import { newPartner } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import fc from "fast-check";
import { sql } from "../../../../src/kernel/platform/database/sql.ts";
import { seal } from "../../../evidence/proof-passports/seal-document.ts";
import { link, newMember } from "../../../firms/members/signed-in-member.ts";
import { beginUpload, boundary, multipart, pieces, type RawUpload } from "./raw-upload.ts";

type Headers = Record<string, string>;
type Route = { path: string; part: "document" | "file"; caller: "key" | "session" };

const routes: Route[] = [
  { path: "/api/partner/orders", part: "document", caller: "key" },
  { path: "/api/passport/seal", part: "file", caller: "key" },
  { path: "/dashboard/orders/new", part: "document", caller: "session" },
  { path: "/dashboard/passports", part: "file", caller: "session" },
];

const harness = await forTests(openHarness());
const { service, db } = harness;
const partner = await newPartner(service, { live: true });
const member = await newMember(service, "dana@acme-title.com", partner.key);
const firm = { ...partner, callers: { key: partner.headers, session: member.headers } };

const goOn = "HTTP/1.1 100 Continue\r\n\r\n";

/**
 * Starts to send a form to the route. Resolves once the service reads the form and the first part is sent. @returns the
 * upload, and a function that sends the rest
 */
async function halfSent({ path, part, caller }: Route) {
  const { head, bytes, end, length } = pieces(part, examplePdf, part === "document" ? minimal : {});
  const declared = { ...firm.callers[caller], "Content-Length": length, Expect: "100-continue" };
  const upload = await beginUpload(service.baseUrl + path, declared);
  await until(() => upload.received() === goOn);
  await upload.send(head);
  return { upload, complete: () => upload.send(Buffer.concat([bytes, Buffer.from(end)])) };
}

const statusOf = async (upload: RawUpload): Promise<number> =>
  Number((await until(() => /^HTTP\/1\.1 ([2-5]\d\d) .*\r\n\r\n/ms.exec(upload.received())))[1]);

/**
 * Sends further requests and waits for their responses. By then, the service has authenticated the callers of the
 * earlier requests, which are still open.
 */
async function callersKnown(): Promise<void> {
  for (const [path, headers] of [
    ["/api/partner/me", firm.callers.key],
    ["/dashboard", firm.callers.session],
  ] as const)
    assert.equal((await fetch(service.baseUrl + path, { headers })).status, 200);
}

async function written(partnerId: string): Promise<number> {
  const [row] = await db.query<{ count: number }>(sql`
    SELECT (SELECT count(*) FROM orders WHERE partner_id = ${partnerId})::int
      + (SELECT count(*) FROM passports WHERE partner_id = ${partnerId})::int AS count`);
  return row?.count ?? -1;
}

test("uploads without data do not prevent those of other firms", async () => {
  const other = { baseUrl: service.baseUrl, headers: (await newPartner(service)).headers };
  for (const { path, caller } of routes) {
    const declared = { ...firm.callers[caller], "Content-Length": 35 * 1024 * 1024 };
    const uploads = await Promise.all(Array.from({ length: 8 }, () => beginUpload(service.baseUrl + path, declared)));
    await callersKnown();
    assert.equal((await seal(other, examplePdf)).status, "sealed", path);
    assert.deepEqual(new Set(uploads.map((upload) => upload.received())), new Set([""]));
    for (const upload of uploads) upload.hangUp();
  }
});

test("a body whose declared length exceeds the maximum gets a 400 before any data", async () => {
  for (const { path, caller } of routes) {
    const upload = await beginUpload(service.baseUrl + path, { ...firm.callers[caller], "Content-Length": 99_999_999 });
    assert.equal(await statusOf(upload), 400, path);
    upload.hangUp();
  }
});

const post = (path: string, headers: Headers, body: Uint8Array) =>
  new Promise<{ status: number; text: string }>((resolve, reject) => {
    const sent = request(service.baseUrl + path, { method: "POST", headers }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk) => {
        text += chunk;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
    });
    sent.on("error", reject).end(body);
  });

test("a boundary has at most 70 characters; a longer one gets the route's own 400", async () => {
  const messages: Record<string, RegExp> = {
    "/api/partner/orders": /"The form is cut off or malformed\."/,
    "/api/passport/seal": /"Expected a multipart 'file' PDF part up to 35MB\."/,
    "/dashboard/orders/new": /The upload was interrupted\. Please send the form again\./,
    "/dashboard/passports": /Choose one PDF of up to 35 MB\./,
  };
  for (const { path, part, caller } of routes) {
    const send = (text: string, quote = "") => {
      const { head, bytes, end } = pieces(part, examplePdf, part === "document" ? minimal : {});
      const body = (head + bytes.toString("latin1") + end).replaceAll(boundary, text);
      const type = `multipart/form-data; boundary=${quote}${text}${quote}`;
      return post(path, { ...firm.callers[caller], "Content-Type": type }, Buffer.from(body, "latin1"));
    };
    for (const quote of ["", '"']) {
      assert.ok([200, 201, 303].includes((await send("b".repeat(70), quote)).status), path);
      for (const length of [71, 252, 253, 300, 5000]) {
        const { status, text } = await send("b".repeat(length), quote);
        assert.equal(status, 400, `${path}, ${length}`);
        assert.match(text, messages[path] ?? /^$/);
      }
    }
  }
});

test("no content type causes a 5xx", async () => {
  const visible = fc.string({
    unit: fc
      .integer({ min: 32, max: 255 })
      .filter((code) => code !== 127)
      .map((code) => String.fromCharCode(code)),
  });
  const word = fc.oneof(
    visible,
    fc.constantFrom("", "x", "b".repeat(300), '"', '"x', "\\", "utf-8''x", "bogus''x", "%00", "é", boundary),
  );
  const parameter = fc.record({
    name: fc.oneof(
      fc.constantFrom("boundary", "BOUNDARY", "boundary*", "boundary*0", "charset", "charset*", "*"),
      visible,
    ),
    equals: fc.constantFrom("=", " = ", "", "=="),
    value: word,
  });
  const type = fc.record({
    name: fc.constantFrom("multipart/form-data", "multipart/form-data ", "Multipart/Form-Data", "multipart/mixed", "x"),
    parameters: fc.array(parameter, { maxLength: 4 }),
    separator: fc.constantFrom(";", "; ", " ;", ","),
  });
  const partHead = fc.tuple(fc.constantFrom("text/plain", "application/json", "x"), parameter);
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...routes), type, partHead, async ({ path, part, caller }, sent, [kind, odd]) => {
      const parameters = sent.parameters.map(({ name, equals, value }) => sent.separator + name + equals + value);
      const headers = { ...firm.callers[caller], "Content-Type": (sent.name + parameters.join("")).trim() };
      const contentType = `Content-Type: ${kind};${odd.name}${odd.equals}${odd.value}`;
      const body = `--${boundary}\r\nContent-Disposition: form-data; name="${part}"\r\n${contentType}\r\n\r\nx\r\n--${boundary}--\r\n`;
      for (const each of [headers, { ...headers, "Content-Type": multipart }]) {
        const { status, text } = await post(path, each, Buffer.from(body, "latin1"));
        assert.ok(status < 500, `${status} ${each["Content-Type"]}: ${text.slice(0, 200)}`);
      }
    }),
    { numRuns: 300 },
  );
});

/** Sends half a form to each route, runs `change`, and sends the rest later. @returns the statuses of the responses */
async function refusedAfter(change: () => Promise<unknown>): Promise<number[]> {
  const were = await written(firm.partnerId);
  const begun = performance.now();
  const halves = await Promise.all(routes.map(halfSent));
  await callersKnown();
  await change();
  await until(() => performance.now() - begun > 1500);
  assert.deepEqual(new Set(halves.map(({ upload }) => upload.received())), new Set([goOn]));
  for (const { complete } of halves) await complete();
  const statuses = await Promise.all(halves.map(({ upload }) => statusOf(upload)));
  const accepted = statuses.filter((status) => status < 400);
  assert.equal(await written(firm.partnerId), were + accepted.length);
  for (const { upload } of halves) upload.hangUp();
  return statuses;
}

test("a slow form is accepted when its sender still has the right to send it", async () => {
  assert.deepEqual(await refusedAfter(async () => {}), [201, 200, 303, 303]);
});

test("a form is not accepted when its sender switched the environment during the upload", async () => {
  const choose = (environment: string) => db.query(sql`UPDATE sessions SET environment = ${environment}`);
  assert.deepEqual(await refusedAfter(() => choose("test")), [201, 200, 409, 409]);
  await choose("live");
});

test("a form is not accepted when its sender was removed from the firm during the upload", async () => {
  const removed = () => db.query(sql`DELETE FROM members WHERE partner_id = ${firm.partnerId}`);
  assert.deepEqual(await refusedAfter(removed), [201, 200, 403, 403]);
});

test("a form is not accepted when its key was revoked, or its session ended, during the upload", async () => {
  await link(service, firm.callers.session["Cookie"] ?? "", firm.key);
  const ended = async () => {
    await service.cli("key", "revoke", firm.keyId);
    await db.query(sql`DELETE FROM sessions`);
  };
  assert.deepEqual(await refusedAfter(ended), [401, 401, 401, 401]);
});
