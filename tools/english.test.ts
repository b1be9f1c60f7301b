import assert from "node:assert/strict";
import { test } from "node:test";
import { refusedTexts, refusedWordings } from "./english.ts";

const found = (file: string, text: string) =>
  refusedWordings(file, text).map((finding) => `${finding.line}: ${finding.found}`);

test("refuses each wording in a comment, with its line", () => {
  const refused = [
    "Mailed for who asked.",
    "Signed by who has the key.",
    "Open to whoever has the code.",
    "A gap is no proof of loss.",
    "These are no keys of ours.",
    "Of the signers it is none.",
    "Computes the chain anew.",
    "The hold has lapsed.",
    "Its twin in the browser.",
    "Stamps beside the budget.",
    "A letter that is wanted no more.",
    "The total comes to 12.",
    "Senders go in turns.",
    "The file stays as it is.",
    "What a page may use.",
    "Has the label bought.",
  ];
  for (const sentence of refused) {
    assert.equal(
      refusedWordings("a.ts", `const a = 1;\n/** ${sentence} */\n`)
        .map(({ line }) => line)
        .join(),
      "2",
      sentence,
    );
  }
});

test("accepts text that only resembles a refused wording", () => {
  const accepted = [
    "There is no such key, and there are none left.",
    "The key is no longer valid, and is no more than a year old.",
    "Does the caller know who signed?",
    "Besides, it is read as it is written.",
    "When it comes to fees, see the price book.",
    "What happened?",
    "It has the label.",
    'Sends "what is no code" and `beside` unchanged.',
  ];
  for (const sentence of accepted) assert.deepEqual(found("a.ts", `// ${sentence}\n`), [], sentence);
});

test("reads comments of every language, and no code", () => {
  assert.deepEqual(found("a.ts", "const anew = 1; // Made anew.\nconst whoever = anew;\n"), ["1: anew"]);
  assert.deepEqual(found("a.py", '"""Whoever asks."""\nx = 1  # made anew\nanew = 2\n'), ["1: Whoever", "2: anew"]);
  assert.deepEqual(found("a.sql", "SELECT anew, -- anew\n-- whoever\nFROM twin;\n"), ["1: anew", "2: whoever"]);
  assert.deepEqual(found("a.sh", "# anew\necho anew\n"), ["1: anew"]);
  assert.deepEqual(found("a.yaml", "anew: 1\n# anew\n"), ["2: anew"]);
  assert.deepEqual(found("a.css", "/* anew */\n.anew {}\n"), ["1: anew"]);
});

test("finds a wording that is split over two lines of a comment or paragraph", () => {
  assert.deepEqual(found("a.ts", "/**\n * Sent for\n * who asked.\n */\n"), ["2: for who"]);
  assert.deepEqual(found("a.md", "A letter wanted no\nmore.\n\nWhat is new.\n"), ["1: wanted no more"]);
});

test("ignores code in Markdown, and links", () => {
  assert.deepEqual(found("a.md", "```sh\nwhoever\n```\n[x](anew.md) `twin`\nwhoever\n"), ["5: whoever"]);
});

test("names the better form", () => {
  assert.match(refusedWordings("a.ts", "// made anew\n")[0]?.better ?? "", /again/);
});

test("refuses a wording in the published strings of a file, with its line", () => {
  const published = (text: string, file = "a.ts") =>
    refusedTexts(file, text).map((finding) => `${finding.line}: ${finding.found}`);
  const refused = [
    ['const a = {\n  description: "Made anew.",\n};', "2: anew"],
    [`const a = {\n  summary: \`Made \${when}\n anew.\`,\n};`, "3: anew"],
    ['const a = { description:\n "Mailed for " +\n    "who asked." };', "2: for who"],
    ['const a = { help: isLong ? "Stamps beside it." : "Stamps." };', "1: beside"],
    ['const a = { description: text({\n description: "It stays as it is" }) };', "2: as it is"],
  ] as const;
  for (const [text, finding] of refused) assert.deepEqual(published(text), [finding], text);
  const helper = 'const at = moment("Made anew.");\nconst a = Type.Object({ at }, { description: "A time." });';
  assert.deepEqual(published(helper), []);
  assert.deepEqual(published(helper, "order-schemas.ts"), ["1: anew"]);
});

test("ignores code and other strings of a file that publishes texts", () => {
  const accepted = [
    `const a = { description: anew(), summary: \`Again \${anew} \${"again"}\` };`,
    'const a = { title: "Made anew.", description: "Made again." };',
    'const a = { description: "The field `anew`." };',
    'const a = { description: "It is no", help: "longer." };',
  ];
  for (const text of accepted) assert.deepEqual(refusedTexts("a.ts", text), [], text);
});
