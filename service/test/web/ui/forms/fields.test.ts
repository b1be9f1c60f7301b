import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import fastify from "fastify";
import {
  acceptForms,
  checkbox,
  errorSummary,
  field,
  formBody,
  select,
  textArea,
} from "../../../../src/web/ui/forms/fields.ts";
import { html, render } from "../../../../src/web/ui/render.ts";

const app = fastify();
acceptForms(app);
app.post("/", async (request) => Object.entries(formBody(request.body)));

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

test("a field's label, hint and error are tied to it", () => {
  const text = render(
    field({ name: "firm", label: "Firm", hint: "As registered.", error: "Enter it.", required: true }),
  );
  assert.match(text, /<label for="field-firm">Firm<\/label>/);
  assert.match(
    text,
    /<input [^>]*id="field-firm" name="firm" required [^>]*aria-describedby="field-firm-hint field-firm-error" aria-invalid="true"/,
  );
  assert.match(text, /id="field-firm-hint">As registered\.</);
  assert.match(text, /id="field-firm-error">Enter it\.</);
});

test("a field without hint and error names neither, and says when it is optional", () => {
  const text = render(field({ name: "role", label: "Role" }));
  assert.doesNotMatch(text, /aria-|required|hint|error|maxlength|autocomplete/);
  assert.match(text, /\(optional\)/);
});

test("ids differ between forms, fields and boxes of one name", () => {
  const page =
    render(html`${field({ name: "url", label: "URL" })}${field({ name: "url", label: "URL", form: "second" })}
${checkbox({ name: "topic", label: "A", value: "order.created" })}${checkbox({ name: "topic", label: "B", value: "payment.cleared" })}`);
  const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
  assert.equal(ids.length, 4);
  assert.equal(new Set(ids).size, 4);
});

test("what was typed and chosen is shown again as text", () => {
  const evil = `"><script>alert(1)</script></textarea>&amp;`;
  const page =
    render(html`${field({ name: "a", label: evil, value: evil, hint: evil, error: evil })}${textArea({ name: "b", label: "B", value: `\n${evil}` })}
${select({
  name: "c",
  label: "C",
  value: evil,
  options: [
    { value: "x", label: evil },
    { value: evil, label: "y" },
  ],
})}${errorSummary(evil)}`);
  assert.doesNotMatch(page, /<script/);
  assert.equal(page.match(/<\/textarea>/g)?.length, 1);
  // A parser drops the first line break after the tag.
  assert.match(page, /<textarea[^>]*>\n\n&quot;/);
  assert.match(page, /<option value="&quot;[^>]*" selected>y</);
  assert.match(render(checkbox({ name: "d", label: "D", checked: true })), /value="on" checked>/);
  assert.equal(render(errorSummary(null)), "");
});

test("any names and values come through as they were typed, the last of a name", async () => {
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

test("any bytes are a form, and anything else is an empty one or refused", async () => {
  const bytes = fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array));
  await fc.assert(fc.asyncProperty(bytes, async (body) => assert.equal((await post(body)).statusCode, 200)));
  for (const body of [undefined, null, 5, "a=b", [], ["a"], { a: 5, b: ["c"], d: { e: "f" } }])
    assert.deepEqual(Object.keys(formBody(body)), []);
  assert.equal((await app.inject({ method: "POST", url: "/" })).statusCode, 200);
  assert.equal((await post(`a=${"b".repeat(65_534)}`)).statusCode, 200);
  assert.equal((await post(`a=${"b".repeat(65_535)}`)).statusCode, 413);
  for (const type of ["application/json", "text/plain", "multipart/form-data; boundary=x", "no type"])
    assert.notEqual((await post("{}", type)).statusCode, 200, type);
});
