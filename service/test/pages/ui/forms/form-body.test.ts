import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import fastify from "fastify";
import { acceptForms, textsOf } from "../../../../src/pages/ui/forms/form-body.ts";

const app = fastify();
acceptForms(app);
app.post("/", async (request) => Object.entries(textsOf(request.body)));

const form = "application/x-www-form-urlencoded";
const post = async (payload: string | Buffer, type = form) => {
  const { statusCode, body } = await app.inject({
    method: "POST",
    url: "/",
    headers: { "content-type": type },
    payload,
  });
  return { statusCode, body: body.startsWith("[") ? JSON.parse(body) : body };
};

test("any names and values are read as typed, the last value of each name", async () => {
  const text = fc.string({ unit: "grapheme" }).map((value) => value.replaceAll("\r", ""));
  const pairs = fc.array(fc.tuple(fc.oneof(text, fc.constant("__proto__"), fc.constant("constructor")), text));
  await fc.assert(
    fc.asyncProperty(pairs, async (sent) => {
      const asSent = sent.map(([name, value]) => [name, value.replaceAll("\n", "\r\n")]);
      const { statusCode, body } = await post(new URLSearchParams(asSent).toString());
      assert.equal(statusCode, 200);
      assert.deepEqual(new Map(body), new Map(sent));
    }),
  );
});

test("any bytes are read as a form, and other content as an empty one or refused", async () => {
  const bytes = fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array));
  await fc.assert(fc.asyncProperty(bytes, async (body) => assert.equal((await post(body)).statusCode, 200)));
  for (const body of [undefined, null, 5, "a=b", [], ["a"], { a: 5, b: ["c"], d: { e: "f" } }])
    assert.deepEqual(Object.keys(textsOf(body)), []);
  assert.equal((await app.inject({ method: "POST", url: "/" })).statusCode, 200);
  assert.equal((await post(`a=${"b".repeat(65_534)}`)).statusCode, 200);
  assert.equal((await post(`a=${"b".repeat(65_535)}`)).statusCode, 413);
  for (const type of ["application/json", "text/plain", "multipart/form-data; boundary=x", "no type"])
    assert.notEqual((await post("{}", type)).statusCode, 200, type);
});
