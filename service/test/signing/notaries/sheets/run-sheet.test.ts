import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import type { ActKind } from "../../../../src/signing/notaries/acts/act.ts";
import type { Claimed } from "../../../../src/signing/notaries/claims/claims.ts";
import { spokenAt } from "../../../../src/signing/notaries/presence/spoken.ts";
import {
  loadScripts,
  parseScripts,
  type Script,
  type SheetMode,
} from "../../../../src/signing/notaries/sheets/scripts.ts";
import {
  type Mark,
  openTurn,
  type Progress,
  requireTurn,
  turnsOf,
} from "../../../../src/signing/notaries/sheets/steps.ts";
import type { Sheet } from "../../../../src/signing/notaries/sheets/store.ts";

const path = fileURLToPath(new URL("../../../../data/notarial-scripts.yaml", import.meta.url));
const shipped = loadScripts(path);

function scriptOf(act: ActKind, mode: SheetMode = "ipen", isSigned = false): Script {
  const script = shipped.of({ act, mode, state: "OH", isSigned });
  assert.ok(script, `${act} ${mode}`);
  return script;
}

const two = [
  { n: 1, name: "Ann" },
  { n: 2, name: "Bob" },
];
const sheetOf = (script: Script, people = two): Progress => ({ script, people, run: 1, marks: [] });
const holds = () => null;

/** The sheet after its open step was marked with the step's first choice. */
function marked(sheet: Progress): Progress {
  const open = openTurn(sheet);
  assert.ok(open);
  const { name, choices } = open.step;
  const choice = choices[0] ?? null;
  requireTurn(sheet, { name, signer: open.signer, choice }, holds);
  const mark: Mark = {
    position: sheet.marks.length + 1,
    at: "2026-01-15T14:05:00.000Z",
    by: "operator:1",
    kind: "step",
    detail: null,
    name,
    run: sheet.run,
    signer: open.signer,
    choice,
  };
  return { ...sheet, marks: [...sheet.marks, mark] };
}

const until = (sheet: Progress, name: string): Progress =>
  openTurn(sheet)?.step.name === name ? sheet : until(marked(sheet), name);

test("the steps of a signer are consecutive, and one signer has all before the next has the first", () => {
  const turns = turnsOf(sheetOf(scriptOf("jurat"))).map(({ step, signer }) => `${step.name}${signer ?? ""}`);
  assert.deepEqual(turns, [
    "open",
    "appear1",
    "identify1",
    "alone1",
    "willing1",
    "read1",
    "oath1",
    "sign1",
    "appear2",
    "identify2",
    "alone2",
    "willing2",
    "read2",
    "oath2",
    "sign2",
    "close",
    "notary_signs",
  ]);
});

for (const [act, isSigned] of [
  ["acknowledgment", false],
  ["acknowledgment", true],
  ["jurat", false],
  ["witnessing", false],
  ["oath", true],
  ["copy", true],
] as const)
  test(`${act} ${isSigned ? "on a signed document" : "with signatures in the act"} opens each step once, to the notary's signature`, () => {
    let sheet = sheetOf(scriptOf(act, "ipen", isSigned));
    const turns = turnsOf(sheet).length;
    for (let at = 0; at < turns; at++) sheet = marked(sheet);
    assert.equal(openTurn(sheet), null);
    assert.throws(() => requireTurn(sheet, { name: "open", signer: null, choice: null }, holds), /All steps/);
  });

test("a jurat and a witnessed signature have no sheet without a signature in it, and a copy is not offered online", () => {
  for (const act of ["jurat", "witnessing"] as const)
    for (const mode of ["ipen", "ron"] as const)
      assert.equal(shipped.of({ act, mode, state: "OH", isSigned: true }), null, `${act} ${mode}`);
  assert.equal(shipped.of({ act: "copy", mode: "ron", state: "OH", isSigned: false }), null);
});

test("a signature in a jurat is refused before the oath, and the refusal names the open step", () => {
  const sheet = until(sheetOf(scriptOf("jurat")), "oath");
  const sign = { name: "sign", signer: 1, choice: null };
  assert.throws(() => requireTurn(sheet, sign, holds), {
    code: "conflict",
    message: "Another step is open: Oath or affirmation (Ann).",
  });
  assert.equal(requireTurn(marked(sheet), sign, holds).step.name, "sign");
});

test("the same step of another signer, and a step that was marked, are refused", () => {
  const sheet = until(sheetOf(scriptOf("acknowledgment")), "willing");
  assert.throws(() => requireTurn(sheet, { name: "willing", signer: 2, choice: null }, holds), /willing \(Ann\)/);
  assert.throws(() => requireTurn(sheet, { name: "appear", signer: 1, choice: null }, holds), /Another step is open/);
});

test("a step whose condition is not met is refused with the condition", () => {
  const sheet = until(sheetOf(scriptOf("acknowledgment")), "read");
  const read = { name: "read", signer: 1, choice: null };
  const unmet = (need: string) => (need === "consent" ? "Ann has not agreed." : null);
  assert.throws(() => requireTurn(sheet, read, unmet), {
    code: "conflict",
    message: "Reading and consent (Ann) is not open yet: Ann has not agreed.",
  });
  const online = until(sheetOf(scriptOf("jurat", "ron")), "appear_online");
  const noRecording = (need: string) => (need === "recording" ? "Nothing is recorded." : null);
  assert.throws(
    () => requireTurn(online, { name: "appear_online", signer: 1, choice: null }, noRecording),
    /Nothing is recorded/,
  );
});

test("a choice must be one of the step's; a step without choices accepts none", () => {
  const sheet = until(sheetOf(scriptOf("acknowledgment")), "identify");
  const identify = { name: "identify", signer: 1 };
  assert.throws(() => requireTurn(sheet, { ...identify, choice: "looks" }, holds), /choice must be one of personal/);
  assert.throws(() => requireTurn(sheet, { ...identify, choice: null }, holds), /choice must be one of personal/);
  const opening = sheetOf(scriptOf("oath"));
  const alone = until(sheetOf(scriptOf("oath")), "alone");
  assert.throws(
    () => requireTurn(alone, { name: "alone", signer: 1, choice: null }, holds),
    /one of alone, with_others/,
  );
  assert.throws(() => requireTurn(opening, { name: "open", signer: null, choice: "yes" }, holds), /not asked for/);
});

test("marks of an interrupted run no longer count", () => {
  const sheet = until(sheetOf(scriptOf("acknowledgment")), "sign");
  assert.equal(openTurn({ ...sheet, run: 2 })?.step.name, "open");
});

const file = readFileSync(path, "utf8");

for (const [rule, change, why] of [
  ["a step that is not known", [/^ {2}open:/m, "  opening:"], /steps\.opening must be one of the steps/],
  ["a slot that is not known", ["{signer} signs", "{client} signs"], /names \{client\}/],
  ["an act without its opening", ["[open, appear, identify, compare", "[appear, identify, compare"], /begin with open/],

  [
    "an act without its closing",
    ["compare, close, notary_signs]", "compare, notary_signs]"],
    /end with close and notary_signs/,
  ],
  ["an identity without its bases", ["[personal_knowledge,", "[looks,"], /choices of personal_knowledge/],
  ["a step twice", ["[open, appear, identify, compare", "[open, appear, appear, identify, compare"], /each step once/],
  ["an act that is not known", [/^ {2}copy:$/m, "  copies:"], /one of the acts/],
  [
    "too few requests",
    [/^requests:\n(?: {2,4}(?:- en|es):.*\n){10}/m, "requests:\n"],
    /requests must have at least four/,
  ],
  ["a slot in a request", ["Please turn your head", "{signer}, turn your head"], /must have no slots/],
  ["words in one language", [/ {6}es: "Firmo.*\n/, ""], /es/],
] as const)
  test(`a scripts file is refused for ${rule}`, () => {
    const [from, to] = change;
    const changed = file.replace(from, to);
    assert.notEqual(changed, file);
    assert.throws(() => parseScripts(changed, "scripts.yaml"), why);
  });

test("words of a state replace the file's in the mode that they are for, with their day and source", () => {
  const words = `states:
  AK:
    ipen:
      open:
        words: { en: "This is {notary}.", es: "Soy {notary}." }
        asOf: 2026-01-31
        source: Example Code 1
`;
  const own = `${file.slice(0, file.indexOf("states:\n"))}${words}`;
  const scripts = parseScripts(own, "scripts.yaml");
  const question = { act: "oath", mode: "ipen", isSigned: false } as const;
  assert.equal(scripts.of({ ...question, state: "AK" })?.steps[0]?.words.en, "This is {notary}.");
  for (const other of [
    { ...question, state: "OH" },
    { ...question, state: "AK", mode: "ron" },
  ] as const)
    assert.match(scripts.of(other)?.steps[0]?.words.en ?? "", /I am \{notary\}/);
  assert.throws(() => parseScripts(own.replace(/^ +source:.*\n/m, ""), "f"), /source/);
});

test("each act opens and closes with the date and the place, and an act by audio and video says that it is recorded", () => {
  for (const act of ["acknowledgment", "jurat", "witnessing", "oath"] as const)
    for (const mode of ["ipen", "ron"] as const) {
      const { steps } = scriptOf(act, mode);
      const [opening, closing] = [steps[0]?.words, steps.at(-2)?.words];
      for (const words of [opening?.en, opening?.es, closing?.en, closing?.es])
        for (const slot of ["{date}", "{county}", "{state}"])
          assert.ok(words?.includes(slot), `${act} ${mode} ${slot}`);
      assert.equal(/recorded/.test(opening?.en ?? ""), mode === "ron", `${act} ${mode}`);
      assert.equal(/grabando/.test(opening?.es ?? ""), mode === "ron", `${act} ${mode}`);
      assert.match(steps.find(({ name }) => name === "alone")?.words.en ?? "", /press you/);
    }
  const nevada = shipped.of({ act: "jurat", mode: "ron", state: "NV", isSigned: false });
  assert.match(nevada?.steps.find(({ name }) => name === "identify")?.words.en ?? "", /for how long/);
});

test("the words have the day at the notary's place, and are in Spanish, too, for a signer who speaks it", () => {
  const notary = { commissionName: "Nora Ames", county: "Franklin", state: "OH" };
  const signers = [
    { name: "Ann", email: "ann@example.com", language: "en" },
    { name: "Bob", email: "bob@example.com", language: "es" },
  ];
  const claimed = { notary, order: { signers, reference: "26-10417" }, title: "Deed" } as unknown as Claimed;
  const sheet = sheetOf(scriptOf("jurat")) as unknown as Sheet;
  const spoken = spokenAt(claimed, sheet, { zone: "America/New_York", now: new Date("2026-11-27T02:30:00Z") });
  const [opening, first] = turnsOf(sheet);
  const second = turnsOf(sheet).find(({ signer }) => signer === 2);
  assert.ok(opening && first && second);
  assert.match(spoken(opening).words, /here in Franklin, OH\. It is November 26, 2026\. .* Jurat on Deed/);
  assert.match(
    spoken(opening).spanish ?? "",
    /estoy en Franklin, OH\. Es el 26 de noviembre de 2026\. .*declaración jurada sobre Deed/,
  );
  assert.equal(spoken(first).spanish, null);
  assert.equal(spoken(second).spanish, "Bob está delante de mí, en la misma sala.");
});

test("by audio and video each signer is asked for a movement, which differs by sheet, signer and run", () => {
  const online = sheetOf(scriptOf("jurat", "ron")) as unknown as Sheet;
  const requests = online.script.requests ?? [];
  const signers = [{ language: "es" }, { language: "es" }];
  const claimed = { notary: {}, order: { signers, reference: null }, title: null } as unknown as Claimed;
  const asked = (id: string, run: number, signer: number) => {
    const sheet = { ...online, id, run };
    const turn = turnsOf(sheet).find((each) => each.step.name === "appear_online" && each.signer === signer);
    assert.ok(turn);
    const { words, spanish } = spokenAt(claimed, sheet, { zone: null, now: new Date() })(turn);
    const found = requests.findIndex(({ en, es }) => words.endsWith(en) && spanish?.endsWith(es));
    assert.ok(found >= 0, words);
    return found;
  };
  assert.equal(asked("a", 1, 1), asked("a", 1, 1), "the page shows the same one when it is loaded again");
  const ids = Array.from({ length: 200 }, (_, n) => String(n));
  assert.equal(new Set(ids.map((id) => asked(id, 1, 1))).size, requests.length);
  assert.ok(ids.some((id) => asked(id, 1, 1) !== asked(id, 1, 2)));
  assert.ok(ids.some((id) => asked(id, 1, 1) !== asked(id, 2, 1)));
  assert.equal(scriptOf("jurat").requests, undefined, "nobody is asked in person");
  const without = parseScripts(file.replace(/^requests:\n(?: .*\n)+/m, ""), "scripts.yaml");
  const own = without.of({ act: "jurat", mode: "ron", state: "OH", isSigned: false });
  assert.ok(own && own.requests === undefined, "a file of one's own may have none");
});
