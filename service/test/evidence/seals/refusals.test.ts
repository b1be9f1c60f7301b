import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { zooFiles } from "@signsealship/testing/inputs/zoo";
import { newPartner } from "@signsealship/testing/service";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { bytesOf, errorOf, fileForm, postSeal, type SealAnswer } from "../proof-passports/seal-document.ts";

const expected = "Expected a multipart 'file' PDF part up to 35MB.";
const limit = 35 * 1024 * 1024;

const harness = await forTests(openHarness());
const { service, db } = harness;
const caller = { ...(await newPartner(service)), baseUrl: service.baseUrl };

/**
 * Counts everything that a seal stores: passports, events, lines of the audit log, and files in the folder of blobs.
 */
async function recorded(): Promise<number[]> {
  const [rows] = await db.query<{ counts: number[] }>(sql`
    SELECT ARRAY[(SELECT count(*) FROM passports), (SELECT count(*) FROM events), 
      (SELECT count(*) FROM audit_log)]::int[] AS counts`);
  const folder = join(service.dataDir, "blobs");
  const blobs = existsSync(folder) ? readdirSync(folder, { recursive: true }) : [];
  return [...(rows?.counts ?? []), blobs.length];
}

async function leavesNothing<T>(attempt: () => Promise<T>): Promise<T> {
  const were = await recorded();
  const result = await attempt();
  assert.deepEqual(await recorded(), were);
  return result;
}

const refused = (body: FormData) => leavesNothing(async () => errorOf(await postSeal(caller, body)));
const raw = (body: BodyInit, type: string) =>
  fetch(`${service.baseUrl}/api/passport/seal`, {
    method: "POST",
    headers: { ...caller.headers, "Content-Type": type },
    body,
  });

test("a refused form is read to its end, so the next request on the connection is answered", async () => {
  const body = Buffer.from(await new Response(fileForm(makePdf({ bytes: 4_000_000 }), "document")).arrayBuffer());
  const boundary = /^--(\S+)/.exec(body.toString("latin1"))?.[1];
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const headers = {
    ...caller.headers,
    "Content-Type": `multipart/form-data; boundary=${boundary}`,
    "Content-Length": body.length,
  };
  const ports = new Set<number | undefined>();
  for (let n = 0; n < 3; n++) {
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const sent = request(`${service.baseUrl}/api/passport/seal`, { method: "POST", agent, headers }, (response) => {
        response.resume().on("end", () => resolve(response.statusCode));
      });
      sent.on("socket", (socket) => {
        if (socket.connecting) socket.once("connect", () => ports.add(socket.localPort));
        else ports.add(socket.localPort);
      });
      sent.on("error", reject).end(body);
    });
    assert.equal(status, 400);
  }
  assert.equal(ports.size, 1);
  agent.destroy();
});

test("a request that is not a form with one PDF part named file gets the contract's only message", async () => {
  assert.equal(await refused(new FormData()), expected);
  assert.equal(await refused(fileForm(makePdf(), "document")), expected);
  const text = new FormData();
  text.append("file", "%PDF-1.7");
  assert.equal(await refused(text), expected);
  const twice = fileForm(makePdf());
  twice.append("file", new Blob([new Uint8Array(makePdf())]), "second.pdf");
  assert.equal(await refused(twice), expected);
  const types = [
    "application/json",
    "application/pdf",
    "text/plain",
    "multipart/form-data",
    "multipart/mixed; boundary=x",
    "nonsense",
  ];
  for (const type of types) {
    assert.equal(await leavesNothing(async () => errorOf(await raw(new Uint8Array(makePdf()), type))), expected, type);
  }
  const bare = await leavesNothing(() =>
    fetch(`${service.baseUrl}/api/passport/seal`, { method: "POST", headers: caller.headers }),
  );
  assert.equal(await errorOf(bare), expected);
});

test("a form that is cut off gets the same message", async () => {
  const whole = new Response(fileForm(makePdf({ bytes: 20_000 })));
  const type = whole.headers.get("content-type") ?? "";
  const body = await bytesOf(whole);
  for (const length of [60, 500, body.length >> 1, body.length - 30]) {
    const cut = new Uint8Array(body.subarray(0, length));
    assert.equal(await leavesNothing(async () => errorOf(await raw(cut, type))), expected, String(length));
  }
});

test("35 MiB are sealed; one more byte gets the contract's message", async () => {
  assert.equal((await postSeal(caller, fileForm(makePdf({ bytes: limit })))).status, 200);
  assert.equal(await refused(fileForm(makePdf({ bytes: limit + 1 }))), expected);
  assert.equal(await refused(fileForm(Buffer.alloc(limit + 3_000_000, "%PDF-1.7"))), expected);
});

test("other text fields next to the file are ignored", async () => {
  const form = new FormData();
  form.append("note", "kept by nobody");
  form.append("file", new Blob([new Uint8Array(makePdf())]), "x.pdf");
  assert.equal((await postSeal(caller, form)).status, 200);
});

test("without a key, and with a bad one, nothing is read", async () => {
  for (const headers of [{}, { Authorization: "Bearer svc_pk_nobody" }]) {
    const response = await leavesNothing(() => postSeal({ ...caller, headers }, fileForm(makePdf())));
    assert.equal(await errorOf(response, 401), "A valid partner API key is required.");
  }
});

test("a caller that disconnects leaves no data", async () => {
  const form = new Response(fileForm(makePdf({ bytes: 200_000 })));
  const body = await bytesOf(form);
  const { hostname, port } = new URL(service.baseUrl);
  await leavesNothing(async () => {
    const socket = connect(Number(port), hostname);
    const closed = new Promise((resolve) => socket.on("close", resolve));
    socket.on("error", () => {});
    const head = ["POST /api/passport/seal HTTP/1.1", "Host: x", `Authorization: ${caller.headers["Authorization"]}`];
    head.push(`Content-Type: ${form.headers.get("content-type")}`, `Content-Length: ${body.length}`);
    socket.write(`${head.join("\r\n")}\r\n\r\n`);
    await new Promise<void>((resolve) => socket.write(body.subarray(0, 150_000), () => resolve()));
    socket.destroy();
    await closed;
    assert.equal((await fetch(`${service.baseUrl}/readyz`)).status, 200);
  });
});

const causes: Record<string, RegExp> = {
  not_a_pdf: /^Uploaded bytes are not a PDF\.$/,
  encrypted: /encrypted.* Found: [ -~]+\.$/,
  needs_repair: /needs repair.* Found: [ -~]+\.$/,
  docmdp_forbids_changes: /DocMDP.*forbids changes.* Found: .*\d/,
  no_pages: /no pages.* Found: /,
  too_complex: /too complex.* Found: /,
};

test("every file of the zoo is sealed, or refused with a message that names the cause and without stored data", async () => {
  const seen = new Set<string>();
  for (const { name, expected: outcome, path } of zooFiles()) {
    seen.add(outcome);
    const form = fileForm(readFileSync(path));
    if (outcome !== "sealed") assert.match(await refused(form), causes[outcome] ?? /^$/, name);
    else {
      const response = await postSeal(caller, form);
      assert.equal(response.status, 200, `${name}: ${await response.clone().text()}`);
      const { verifyCode, docSha256 } = (await response.json()) as SealAnswer;
      const back = await bytesOf(await fetch(`${service.baseUrl}/api/passport/verify/${verifyCode}/document`));
      assert.ok(back.length > 0 && docSha256, join(service.dataDir, name));
    }
  }
  assert.deepEqual([...seen].sort(), ["sealed", ...Object.keys(causes)].sort());
});

test("a refusal as problem details names the same cause", async () => {
  const headers = { ...caller.headers, Accept: "application/problem+json" };
  const response = await postSeal({ ...caller, headers }, fileForm(Buffer.from("no PDF")));
  const { detail, code } = (await response.json()) as { detail: string; code: string };
  assert.deepEqual([response.status, detail, code], [400, "Uploaded bytes are not a PDF.", "validation"]);
});
