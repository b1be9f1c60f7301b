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

const inStrings = (text: string) => refusedTexts("a.ts", text).map((finding) => `${finding.line}: ${finding.found}`);

test("refuses a wording in the strings of a file, with its line", () => {
  const refused = [
    ['const a = {\n  title: "Made anew.",\n};', "2: anew"],
    ['throw new Error("It is no key.");', "1: is no key"],
    [`const a = \`Made \${when}\n anew.\`;`, "2: anew"],
    [`const a = html\`<p>\${isOpen && "Whoever asks"}</p>\`;`, "1: Whoever"],
    ['const a = "Mailed for " +\n    "who asked.";', "1: for who"],
    ['const a = isLong ? "Stamps beside it." : "Stamps.";', "1: beside"],
    ['const a = text({\n help: "It stays as it is" });', "2: as it is"],
    ['const a = "It says of the file nothing.";', "1: says of"],
    ['const a = "The end can’t be told.";', "1: can’t be told"],
  ] as const;
  for (const [text, finding] of refused) assert.deepEqual(inStrings(text), [finding], text);
});

test("ignores code, SQL, names in code and quoted words in the strings of a file", () => {
  const accepted = [
    `const a = { summary: \`Again \${anew} \${"again"}\`, help: anew() };`,
    "const a = sql`SELECT whoever FROM twin, beside`;",
    'import { a } from "./anew.ts";\nconst b: Kind = "beside";',
    'const a = { help: "The field `anew`." };',
    'const a = { description: "It is no", help: "longer." };',
  ];
  for (const text of accepted) assert.deepEqual(inStrings(text), [], text);
});

test("refuses a sentence that begins with Who or Whether in a comment, and allows it in a string", () => {
  assert.deepEqual(found("a.ts", "/** The payer. Who pays. */\n"), ["1: Who"]);
  assert.deepEqual(found("a.sql", "-- Whether it is open.\n"), ["1: Whether"]);
  assert.deepEqual(found("a.ts", "// Tells who pays, and whether it is open. Who pays?\n"), []);
  assert.deepEqual(inStrings('const a = { description: "Whether it is open." };'), []);
});
