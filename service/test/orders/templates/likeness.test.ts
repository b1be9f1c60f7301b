import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { brotliDecompressSync } from "node:zlib";
import { officeForms } from "@signsealship/testing/inputs/office-forms";
import { likenessOf, storedPrints } from "../../../src/orders/templates/prints.ts";
import { run as printsOf } from "../../../src/orders/templates/prints-task.ts";

const folder = mkdtempSync(join(tmpdir(), "likeness-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const inputs = import.meta.resolve("@signsealship/testing/inputs/office-forms");
const notation = (set: string) => readFileSync(new URL(`office-forms/${set}.txt`, inputs), "utf8");

/**
 * The values that two people enter in the blanks of a form. Names and titles consist of letters, like the words of the
 * form.
 */
const entries = [
  {
    S: "/s/ J. Roe",
    I: "JR",
    D: "06/05/2026",
    N: "Jane Elizabeth Roe",
    T: "Managing member",
    O: "14 Canal Street",
    V: "",
  },
  { S: "", I: "MK", D: "January 17, 2027", N: "Maximilian Kowalski", T: "Trustee", O: "Springfield", V: "Ann Lee" },
] as const;

/** The forms of a set, with their blanks filled in. */
function filled(set: string, by: number) {
  const words = entries[by] ?? assert.fail();
  const path = join(folder, `${set}-${by}.txt`);
  const text = notation(set).replace(/\{([SIDNTOV])\/[^}]*\}/g, (_, kind: keyof typeof words) => words[kind]);
  writeFileSync(path, text);
  return officeForms(path);
}

type Named = { readonly name: string; readonly pdf: Buffer };

async function printed(forms: readonly Named[]) {
  const all = [];
  for (const { name, pdf } of forms) {
    const prints = (await printsOf(pdf)) ?? assert.fail(`${name} can't be read`);
    all.push({ name, sha256: createHash("sha256").update(pdf).digest("hex"), pages: prints.length, prints });
  }
  return all;
}

/** The fingerprints in the format in which a template stores them. */
const stored = (form: Awaited<ReturnType<typeof printed>>[number]) => ({ ...form, prints: storedPrints(form.prints) });

function packed(set: string): Named[] {
  const json = brotliDecompressSync(readFileSync(new URL(`office-forms/${set}.json.br`, inputs))).toString("utf8");
  const forms = JSON.parse(json) as { name: string; pdf: string }[];
  return forms.map(({ name, pdf }) => ({ name, pdf: Buffer.from(pdf, "latin1") }));
}

for (const set of ["a", "b"])
  describe(`the 40 forms of set ${set}, filled in by two people:`, () => {
    const forms = Promise.all([
      printed(officeForms(new URL(`office-forms/${set}.txt`, inputs))),
      ...[0, 1].map((by) => printed(filled(set, by))),
    ]);

    test("each copy is recognized as its own form, blank or filled in otherwise", async () => {
      const [blank = [], ...copies] = await forms;
      assert.equal(blank.length, 40);
      const lost = copies.flatMap((copy, by) =>
        blank.flatMap((form, index) => {
          const other = copy[index] ?? assert.fail();
          const likeness = likenessOf(stored(form), other, null);
          return likeness === "same_form" ? [] : [`${form.name} filled in by ${by}: ${likeness}`];
        }),
      );
      assert.deepEqual(lost, []);
    });

    test("no copy is recognized as another form", async () => {
      const [blank = [], ...copies] = await forms;
      const wrong = blank.flatMap((form, index) =>
        [blank, ...copies].flatMap((copy) =>
          copy.flatMap((other, at) => {
            const likeness = at === index ? "other" : likenessOf(stored(form), other, null);
            return likeness === "same_form" || likeness === "same_file" ? [`${other.name} as ${form.name}`] : [];
          }),
        ),
      );
      assert.deepEqual(wrong, []);
    });
  });

test("no two of 80 forms of other typesetters are proposed for each other", async () => {
  const forms = await printed([...packed("c"), ...packed("d")]);
  assert.equal(forms.length, 80);
  const wrong = forms.flatMap((form) =>
    forms
      .filter((other) => other !== form && ["same_form", "same_file"].includes(likenessOf(stored(form), other, null)))
      .map((other) => `${other.name} as ${form.name}`),
  );
  assert.deepEqual(wrong, []);
});
