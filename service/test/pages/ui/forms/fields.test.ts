import assert from "node:assert/strict";
import { test } from "node:test";
import { checkbox, errorSummary, field, select, textArea } from "../../../../src/pages/ui/forms/fields.ts";
import { html, render } from "../../../../src/pages/ui/render.ts";

test("a field's label, hint and error refer to it", () => {
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

test("a field without hint and error refers to neither, and says when it is optional", () => {
  const text = render(field({ name: "role", label: "Role" }));
  assert.doesNotMatch(text, /aria-|required|hint|error|maxlength|autocomplete/);
  assert.match(text, /\(optional\)/);
});

test("ids differ between forms, fields and boxes with one name", () => {
  const page =
    render(html`${field({ name: "url", label: "URL" })}${field({ name: "url", label: "URL", form: "second" })}
${checkbox({ name: "topic", label: "A", value: "order.created" })}${checkbox({ name: "topic", label: "B", value: "payment.cleared" })}`);
  const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
  assert.equal(ids.length, 4);
  assert.equal(new Set(ids).size, 4);
});

test("each name of a document's own field makes an id of its own, which has no blank", () => {
  const names = ["Buyer Name", "Buyer_Name", "Buyer_20_Name", "Buyer#Name", "Buyer", "Buyer-hint", "Buyer-On"];
  const page = render(
    html`${names.map((name) => field({ name: `value.${name}`, label: name, hint: "?" }))}${checkbox({ name: "value.Buyer", label: "B", value: "On" })}`,
  );
  const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
  assert.equal(ids.length, 2 * names.length + 1);
  assert.equal(new Set(ids).size, ids.length);
  for (const id of ids) assert.match(id ?? "", /^[\w.-]+$/);
});

test("typed and chosen values are shown again as text", () => {
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
  // A parser drops the first line break after the tag, so the page contains two.
  assert.match(page, /<textarea[^>]*>\n\n&quot;/);
  assert.match(page, /<option value="&quot;[^>]*" selected>y</);
  assert.match(render(checkbox({ name: "d", label: "D", checked: true })), /value="on" checked>/);
  assert.equal(render(errorSummary(null)), "");
});
