import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { namedQuality, preferredLanguage, prefersPage, wantsProblem } from "../../../src/kernel/http/accept.ts";

const problem = "application/problem+json";

describe("an Accept header", () => {
  test("gives a named type its quality, and 1 without one", () => {
    const cases = [
      [problem, 1],
      [`text/html, ${problem}`, 1],
      ["Application/Problem+JSON ; charset=utf-8", 1],
      [`${problem};q=0.5`, 0.5],
      [`${problem}; charset=utf-8; Q=0.125`, 0.125],
      [`${problem};q=0`, 0],
      [`${problem};q=0.000`, 0],
      [`${problem};q=0.2, ${problem};version=2`, 1],
      [`${problem};q=7`, 1],
      [`${problem};q=`, 1],
    ] as const;
    for (const [accept, expected] of cases) assert.equal(namedQuality(accept, problem), expected, accept);
  });

  test("does not name a type by a part of another, by a wildcard, or inside a quoted string", () => {
    for (const accept of [
      undefined,
      "",
      ",;,",
      "*/*",
      "application/*",
      `${problem}ld`,
      `x${problem}`,
      `text/html;alternative=${problem}`,
      `text/html;about=", ${problem}"`,
      `text/html;about="\\", ${problem}`,
    ])
      assert.equal(namedQuality(accept, problem), null, accept);
  });

  test("prefers problem details unless it refuses them or prefers plain JSON", () => {
    for (const accept of [
      problem,
      `${problem}, application/json`,
      `application/json;q=0.9, ${problem}`,
      `*/*, ${problem}`,
    ])
      assert.equal(wantsProblem(accept), true, accept);
    for (const accept of [undefined, "application/json", `${problem};q=0`, `application/json, ${problem};q=0.9`])
      assert.equal(wantsProblem(accept), false, accept);
  });

  test("of any kind is read without an error, and the order of its ranges makes no difference", () => {
    const part = fc.oneof(
      fc.constantFrom(problem, "application/json", "*/*", '"', "\\", ",", ";", "q=0.3", '"a,b"', " "),
      fc.string({ maxLength: 8 }),
    );
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        const found = namedQuality(parts.join(""), problem);
        assert.ok(found === null || (found >= 0 && found <= 1));
      }),
    );
    const range = fc.tuple(fc.constantFrom(problem, "text/html", "*/*"), fc.integer({ min: 0, max: 1000 }));
    fc.assert(
      fc.property(fc.array(range), (ranges) => {
        const texts = ranges.map(([name, q]) => `${name};q=${(q / 1000).toFixed(3)}`);
        const own = ranges.filter(([name]) => name === problem).map(([, q]) => q / 1000);
        const expected = own.length === 0 ? null : Math.max(...own);
        assert.equal(namedQuality(texts.join(","), problem), expected);
        assert.equal(namedQuality(texts.toReversed().join(" , "), problem), expected);
      }),
    );
  });

  test("of maximum length is read quickly", () => {
    assert.equal(namedQuality('"\\'.repeat(8000), problem), null);
    assert.equal(namedQuality(`${"a,".repeat(8000)}${problem};q=0.5`, problem), 0.5);
  });

  test("prefers a page only when it names one with a higher quality than JSON gets from any range", () => {
    for (const accept of [
      "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
      "text/html",
      "text/html;q=0.1",
      "application/json;q=0.8, text/html;q=0.9",
      "application/json;q=0, */*, text/html;q=0.5",
      "TEXT/HTML, */*;q=0.1",
    ])
      assert.equal(prefersPage(accept), true, accept);
    for (const accept of [
      undefined,
      "",
      "*/*",
      "application/json",
      "text/*",
      "text/html, application/json",
      "text/html, */*",
      "text/html;q=0",
      "text/html;q=0.8, application/json",
      "text/html;q=0.8, application/*;q=0.9",
      "text/html;q=0.8, application/json;q=0.9, */*;q=0.1",
    ])
      assert.equal(prefersPage(accept), false, accept);
  });
});

describe("an Accept-Language header", () => {
  const preferred = (header: string | undefined) => preferredLanguage(header, ["en", "es"]);

  test("prefers the supported language with the highest quality, and among equals the first", () => {
    const cases = [
      ["es", "es"],
      ["ES-mx", "es"],
      ["en, es", "en"],
      ["es, en", "es"],
      ["en;q=0.5, es;q=0.501", "es"],
      ["fr, es-US ; q=0.1", "es"],
      ["es;q=7, en;q=0.9", "es"],
    ] as const;
    for (const [header, language] of cases) assert.equal(preferred(header), language, header);
    for (const header of ["fil", "fil-PH, en", "tl"])
      assert.equal(preferredLanguage(header, ["en", "tl"]), "tl", header);
  });

  test("names no supported language by a refusal, a wildcard, or a longer word", () => {
    for (const header of [undefined, "", "*", "es;q=0", "est", "fr-es", "-es", ";;,,"])
      assert.equal(preferred(header), null, header);
  });
});
