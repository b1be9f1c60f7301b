import assert from "node:assert/strict";
import { test } from "node:test";
import { mailCaution, mailWords } from "../../../src/signing/envelopes/mails/words.ts";

const facts = {
  title: "Lease 7",
  partnerName: "Acme Title",
  until: "December 1",
  outcome: null,
  askedForPaper: null,
  signers: [],
  reference: null,
  message: null,
  paid: null,
  others: null,
};

test("a mail with a code states what it opens, for how long, and what to do if nobody requested it", () => {
  const en = mailWords.en.code(facts);
  assert.equal(en.subject, "Your code to open Lease 7");
  assert.match(en.lines.join(" "), /work for 10 minutes.*If you did not ask for it.*tell the firm/);
  const es = mailWords.es.code(facts);
  assert.match(es.lines.join(" "), /10 minutos/);
});

test("a mail about an end states which one, in either language, and never another", () => {
  const said = (["Expired", "Voided", "Declined"] as const).map((outcome) => ({
    en: mailWords.en.ended({ ...facts, outcome }),
    es: mailWords.es.ended({ ...facts, outcome }),
  }));
  const [expired, voided, declined] = said;
  assert.equal(expired?.en.subject, "Lease 7: the time to sign has expired");
  assert.match(expired?.en.lines[0] ?? "", /Not everybody signed Lease 7 from Acme Title in time/);
  assert.match(voided?.en.lines[0] ?? "", /was withdrawn before everybody had signed it/);
  assert.match(declined?.en.lines[0] ?? "", /was declined/);
  assert.match(expired?.es.lines[0] ?? "", /a tiempo/);
  assert.match(voided?.es.lines[0] ?? "", /se retiró/);
  assert.match(declined?.es.lines[0] ?? "", /Se rechazó/);
  for (const { en, es } of said) {
    assert.notEqual(en.lines[0], es.lines[0]);
    assert.match(en.lines[0] ?? "", /the firm sends a new link/);
  }
});

test("the mail about an end tells each signer who asked for paper, and that the firm arranges it, in each language", () => {
  const languages = Object.keys(mailWords) as (keyof typeof mailWords)[];
  const texts = languages.flatMap((language) => {
    const { ended } = mailWords[language];
    const mails = ([null, "reader", "another"] as const).map((askedForPaper) =>
      ended({ ...facts, outcome: "Declined", askedForPaper }),
    );
    assert.equal(new Set(mails.map(({ subject }) => subject)).size, mails.length, language);
    const [, ...ofPaper] = mails.map(({ lines }) => lines.join(" "));
    for (const text of ofPaper) assert.equal(text.split("Acme Title").length, 3, `${language}: ${text}`);
    return ofPaper;
  });
  assert.equal(new Set(texts).size, 2 * languages.length);
  const [own = "", other = ""] = texts;
  assert.match(own, /you want to sign on paper, and Acme Title arranges it with you/);
  assert.match(
    other,
    /^A signer asked to sign Lease 7 from Acme Title on paper, .* Acme Title arranges the next steps\.$/,
  );
  for (const text of [own, other]) assert.doesNotMatch(text, /declined|new link/);
});

test("the mail after the signing states who signed, the reference, and no longer that its link signs", () => {
  const done = { ...facts, outcome: "Completed", signers: ["Jane Doe", "John Roe"], reference: "FILE-77" } as const;
  assert.match(mailWords.en.signed(done).lines.join(" "), /Signed by Jane Doe and John Roe\. Reference: FILE-77\./);
  assert.match(mailWords.es.signed(done).lines.join(" "), /Firmado por Jane Doe y John Roe\. Referencia: FILE-77\./);
  assert.doesNotMatch(
    mailWords.en.signed({ ...done, signers: [], reference: null }).lines.join(" "),
    /Signed by|Reference/,
  );
  assert.match(mailCaution.en(null), /can sign in your name/);
  for (const outcome of ["Completed", "Declined", "Expired", "Voided"] as const) {
    assert.doesNotMatch(mailCaution.en(outcome), /sign in your name/);
    assert.doesNotMatch(mailCaution.es(outcome), /firmar en su nombre/);
  }
});

test("the mail that asks to sign quotes the firm's own words, in either language, and no other mail does", () => {
  const message = "Please sign by Friday";
  assert.ok(mailWords.en.request({ ...facts, message }).lines.includes("Acme Title writes: “Please sign by Friday”"));
  assert.ok(mailWords.es.request({ ...facts, message }).lines.includes("Acme Title escribe: «Please sign by Friday»"));
  assert.equal(mailWords.en.request(facts).lines.length, 2);
  assert.doesNotMatch(JSON.stringify(mailWords.en.reminder({ ...facts, message })), /Friday/);
});

test("the mail that asks to sign tells of a payment in every language, and otherwise has no line about it", () => {
  for (const words of Object.values(mailWords)) {
    assert.ok(words.request({ ...facts, paid: "$182.40" }).lines.some((line) => line.includes("$182.40")));
    assert.equal(words.request(facts).lines.length, 2);
  }
});
