import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import { s3Backend } from "../../../../src/kernel/platform/blobs/s3.ts";

process.env["AWS_ACCESS_KEY_ID"] = "test";
process.env["AWS_SECRET_ACCESS_KEY"] = "test";

/** The requests so far, and the methods that the store refuses. */
const requests: string[] = [];
const refused = new Set<string>();
const objects = new Set<string>();
const store = createServer((request, response) => {
  const { method = "", url = "" } = request;
  const { pathname } = new URL(url, "http://store");
  requests.push(method);
  request.resume();
  if (refused.has(method)) {
    response.writeHead(403, { "Content-Type": "application/xml" });
    response.end("<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>");
    return;
  }
  if (method === "PUT") objects.add(pathname);
  if (method === "DELETE") objects.delete(pathname);
  response.writeHead(method === "DELETE" ? 204 : 200).end();
});
await new Promise<void>((resolve) => store.listen(0, "127.0.0.1", resolve));
after(() => store.close());
const { port } = store.address() as AddressInfo;
const open = () => s3Backend(`s3://documents/test?region=us-east-1&endpoint=http://127.0.0.1:${port}`);
const { signal } = new AbortController();

for (const method of ["PUT", "DELETE"])
  test(`a bucket that can be read, but refuses ${method}, does not count as working until it accepts it`, async () => {
    const backend = await open();
    refused.add(method);
    for (let n = 0; n < 2; n++) await assert.rejects(backend.probe(signal), { name: "AccessDenied" });
    refused.clear();
    await backend.probe(signal);
  });

test("a probe leaves no object, and the next ones within minutes write nothing", async () => {
  objects.clear();
  requests.length = 0;
  const backend = await open();
  for (let n = 0; n < 3; n++) await backend.probe(signal);
  assert.deepEqual(requests, ["HEAD", "PUT", "DELETE", "HEAD", "HEAD"]);
  assert.deepEqual([...objects], []);
});
