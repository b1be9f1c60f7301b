import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { openFaces } from "@signsealship/certificate";
import { type Language, languages } from "../../../src/kernel/platform/languages.ts";
import { dateText, orderStatuses } from "../../../src/orders/order/order.ts";
import { wordsOf } from "../../../src/pages/signing/words/languages.ts";
import { statusWords } from "../../../src/pages/ui/orders/status-words.ts";
import { frames } from "../../../src/pages/ui/words/frames.ts";
import { wordsIn } from "../../../src/pages/ui/words/reader.ts";
import { readConsentTexts } from "../../../src/signing/envelopes/envelopes.ts";
import { commonWords, mailCaution, mailWords } from "../../../src/signing/envelopes/mails/words.ts";
import { codeText } from "../../../src/signing/envelopes/texts/texts.ts";

const consentTexts = readConsentTexts(fileURLToPath(new URL("../../../data/consent", import.meta.url)));
const faces = await openFaces();
const hanStyle: Readonly<Partial<Record<Language, "sc" | "kr">>> = { ko: "kr" };
const others = languages.filter((one) => one !== "en");
const samples = [71, 92, 53];

/** Every text of a dictionary by its path, except `lineLabel`. A function is called with sample values. */
function texts(part: unknown, path = ""): [path: string, text: string][] {
  if (typeof part === "string") return [[path, part]];
  if (typeof part === "function") {
    if (path.endsWith(".lineLabel")) return [];
    const said = part(...(/\.orderDeleted$|^\.common\./.test(path) ? samples.map(String) : samples));
    return typeof said === "object" && !("isEscaped" in said) ? texts(said, path) : [[path, String(said)]];
  }
  if (Array.isArray(part)) return part.flatMap((one, i) => texts(one, `${path}[${i}]`));
  return Object.entries(part as object).flatMap(([name, one]) => texts(one, `${path}.${name}`));
}

const facts = {
  title: "Deed 71",
  partnerName: "Acme 92",
  until: "May 53",
  outcome: "Expired",
  askedForPaper: null,
  signers: ["Jane Doe", "John Roe"],
  reference: "FILE-77",
  message: "Please hurry",
  paid: "$182.40",
  others: null,
} as const;

const mailsOf = (language: Language) => ({
  ...Object.fromEntries(Object.entries(mailWords[language]).map(([moment, words]) => [moment, words(facts)])),
  ended: (["Expired", "Voided", "Declined"] as const).map((outcome) =>
    mailWords[language].ended({ ...facts, outcome }),
  ),
  replacedInOne: (["awaited", "open"] as const).map((others) => mailWords[language].replaced({ ...facts, others })),
  caution: [mailCaution[language](null), mailCaution[language]("Completed")],
  common: commonWords[language],
  text: [codeText("482913", "Acme 92", language), codeText("482913", "", language)],
});

/** The parts of the service with translated words. Each function returns the words of its part in a language. */
const areas = {
  client: (language: Language): object => without(wordsIn[language], "language"),
  signing: (language: Language): object => wordsOf(language),
  frame: (language: Language): object => without(frames[language], "code"),
  mails: mailsOf,
};
type Area = keyof typeof areas;

const without = (words: object, name: string): object =>
  Object.fromEntries(Object.entries(words).filter(([key]) => key !== name));

const textsOf = (area: Area, language: Language): Map<string, string> => new Map(texts(areas[area](language)));

/** Texts that are the same in a language and in English. */
const asInEnglish: Readonly<Partial<Record<Language, readonly string[]>>> = {
  es: [
    "client.components.money.subtotal",
    "client.components.money.total",
    "client.orders.steps.labels.fax",
    "client.orders.hashOf",
    "client.room.services.fax",
  ],
  fr: [
    "client.orders.steps.labels.fax",
    "client.room.services.fax",
    "signing.test.title",
    "signing.notices.page",
    "signing.identify.code",
    "signing.sign.page",
    "signing.sign.kinds.signature",
    "signing.sign.kinds.mark",
    "signing.sign.kinds.date",
    "signing.viewer.group",
    "signing.viewer.box",
    "client.delivery.documents",
    "client.delivery.code.label",
  ],
  pt: [
    "client.components.money.subtotal",
    "client.components.money.total",
    "client.orders.steps.labels.fax",
    "client.orders.hashOf",
    "client.room.services.fax",
  ],
  tl: [
    "client.orders.steps.labels.fax",
    "client.room.services.fax",
    "client.delivery.closing",
    "client.delivery.code.label",
  ],
};

/** The placeholders of a text, and the numbers and names that were passed to a function. */
const filled = (text: string): string[] =>
  [
    ...new Set(text.match(/\{\w+\}|(?<!\d)(?:71|92|53|482913)(?!\d)|Jane Doe|John Roe|FILE-77|Please hurry/g) ?? []),
  ].sort();

for (const language of others)
  describe(`the words in ${language}`, () => {
    for (const area of Object.keys(areas) as Area[])
      test(`of the area ${area} are complete, with all placeholders, and none is left in English`, () => {
        const english = textsOf(area, "en");
        const translated = textsOf(area, language);
        assert.deepEqual([...english.keys()].sort(), [...translated.keys()].sort());
        const same: string[] = [];
        for (const [path, text] of translated) {
          const original = english.get(path) ?? "";
          assert.equal(text.trim() === "", original.trim() === "", `${path} is empty`);
          assert.deepEqual(filled(text), filled(original), `${path}: ${text}`);
          if (text === original && /\p{L}{2}/u.test(text.replace(/\{\w+\}/g, ""))) same.push(`${area}${path}`);
        }
        assert.deepEqual(
          same,
          (asInEnglish[language] ?? []).filter((path) => path.startsWith(`${area}.`)),
        );
      });

    test("name every status with its own label and heading", () => {
      const all = orderStatuses.map((status) => statusWords(status, wordsIn[language]));
      assert.equal(new Set(all.map(({ label }) => label)).size, orderStatuses.length);
      assert.equal(new Set(all.map(({ headline }) => headline)).size, orderStatuses.length);
    });

    test("of the consent name the choices as the page does, part by part as in English", () => {
      const [own, english] = [consentTexts.current(language).markdown, consentTexts.current("en").markdown];
      const shape = (markdown: string) =>
        markdown
          .trim()
          .split("\n")
          .map((line) => /^(?:#+|-|)/.exec(line)?.[0] ?? "");
      assert.deepEqual(shape(own), shape(english));
      const { other, consent } = wordsOf(language);
      const named = [...own.matchAll(/\*\*([^*]+)\*\*/g)].map(([, words]) => words);
      const choices = [other.paper.label, other.withdraw.label, other.title, other.propose.label, consent.agree];
      assert.deepEqual(named.toSorted(), choices.toSorted());
      const before = consentTexts.inPresence(language).markdown;
      assert.deepEqual(shape(before), shape(english));
      assert.deepEqual([...before.matchAll(/\*\*([^*]+)\*\*/g)].flat().slice(1), [consent.agree]);
    });

    test("of a signed document's date have a glyph for each letter", async () => {
      for (const month of [1, 2, 8, 12]) {
        const text = dateText(new Date(Date.UTC(2026, month - 1, 5)), { format: "long", language, zone: "UTC" });
        await faces.prepare(text);
        assert.match(text, /5.*2026|2026.*5/);
        assert.deepEqual(
          [...text].filter((letter) => !faces.pick([letter.codePointAt(0) ?? 0], hanStyle[language] ?? "sc")),
          [],
        );
      }
    });
  });

test("a signed document's long date is written in the form of its language", () => {
  const at = new Date("2026-08-01T12:00:00Z");
  assert.deepEqual(
    languages.map((language) => dateText(at, { format: "long", language, zone: "UTC" })),
    [
      "August 1, 2026",
      "1 de agosto de 2026",
      "1er août 2026",
      "1 de agosto de 2026",
      "2026年8月1日",
      "ngày 1 tháng 8 năm 2026",
      "2026년 8월 1일",
      "Agosto 1, 2026",
    ],
  );
});
