import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { anyCharacter } from "@signsealship/testing/inputs/any-character";
import fc from "fast-check";
import { parseScreeningRules, readScreeningRules } from "../../../src/firms/access-requests/screening/rules-file.ts";
import { listedDomains, screen } from "../../../src/firms/access-requests/screening/screening.ts";

const rules = readScreeningRules(fileURLToPath(new URL("../../../data/screening.yaml", import.meta.url)));
const listed = await listedDomains();
const useCase = "We are a title company and want our closings notarized online before the deeds are recorded.";
const workEmail = "dana@harbor-title.com";

const wellMeant = [
  useCase,
  "Our law office needs online notarization for affidavits that clients sign from other states.",
  "We close about forty mortgage refinances a month and want signing, notarization and recording to be one flow.",
  "Independent escrow company in Nevada. We would like to send payoff letters by fax and track the signatures of sellers.",
  "We are a credit union. Loan documents must be signed by both borrowers and some of them have to be notarized.",
  "Estate planning attorneys; our clients sign trusts and powers of attorney at home and need a notary on video.",
  "I run a small mobile notary business and want to add remote online notarization for my title clients.",
  "Lien releases: we prepare about 500 a month for lenders and each must be notarized and mailed to the county.",
  "As a probate paralegal I need certified copies and affidavits notarized quickly, with proof that nothing was changed.",
  "Our platform helps first time homebuyers; at closing we want a room in which everybody sees where the deed is.",
  "We're a real estate law firm handling roughly 20 closings/month, and we'd like an API to place orders from our case system.",
  "Hard money lender. We need promissory notes and deeds of trust executed, notarized and shipped overnight to the title company.",
  "Looking to integrate e-signing and notarization into our loan origination system, starting with HELOC closings in Texas and Florida.",
  "We help expats with apostilles: documents are notarized online and then shipped to the Secretary of State for legalization.",
  "Legal department of a property manager. Leases and settlement agreements should be sealed so that a court can check them later. See https://harbor.example/legal",
];

const notForAKey = [
  "",
  "notary",
  "Please give me a key.",
  "asdf qwer zxcv asdf qwer zxcv asdf qwer zxcv title deed",
  "notary closing title escrow loan deed legal law mortgage lender attorney lien",
  "We sell handmade garden furniture and would like to send newsletters to all of our customers in the spring.",
  "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt ut labore et dolore.",
  "I want to see how the title of a deed can be forged so that the notary does not notice it.",
  "We offer the best SEO and backlinks for law firms and title companies, please contact us for our legal offer.",
  "title title title title title title title title the deed we need for you",
  "Xkcdvbn fghjklm the prtqwzx of zzzkkk and bcdfghj to mnbvcxz with title and deed for us",
  "Buy cheap things at http://a.example and http://b.example and at www.c.example with the loan title deed we have for you",
  "My lawn mower is broken and the neighbour will not lend me his; what should I do about that now?",
  "The loan of a bicycle for my children would be so good, as we are many and have only one of them.",
  "We need it for the deed and title. ".repeat(12),
  "title deed the and of to a in is it you that we were for on are",
  "The students of our school would like to test how fast an API can be and write a report about it.",
];

test("a coherent use case of the trade from a firm's own domain passes", () => {
  for (const text of wellMeant) assert.deepEqual(screen(rules, listed, { workEmail, useCase: text }), [], text);
});

test("a text that is short, off topic, not a language, a list of keywords or unwelcome waits for a person", () => {
  for (const text of notForAKey) assert.notDeepEqual(screen(rules, listed, { workEmail, useCase: text }), [], text);
  assert.deepEqual(screen(rules, listed, { workEmail, useCase: null }), ["no_use_case"]);
  assert.deepEqual(screen(rules, listed, { workEmail, useCase: notForAKey[4] ?? "" }), ["keywords"]);
  assert.deepEqual(screen(rules, listed, { workEmail, useCase: notForAKey[5] ?? "" }), ["off_topic"]);
});

const reasonsOf = (email: string) => screen(rules, listed, { workEmail: email, useCase });

test("free mailboxes are recognized under any country's suffix and below their own domain", () => {
  for (const domain of [
    "gmail.com",
    "GMAIL.com",
    "googlemail.com",
    "yahoo.com",
    "yahoo.co.uk",
    "yahoo.com.br",
    "hotmail.fr",
    "outlook.com",
    "live.nl",
    "icloud.com",
    "aol.com",
    "proton.me",
    "gmx.net",
    "mail.ru",
    "qq.com",
    "att.net",
    "comcast.net",
    "mailbox.web.de",
    "lawyer.com",
    "hey.com",
    "gmx.de",
    "vip.qq.com",
  ])
    assert.deepEqual(reasonsOf(`dana@${domain}`), ["free_mail"], domain);
});

test("disposable mailboxes are recognized, also below their domain", () => {
  for (const domain of [
    "mailinator.com",
    "x.mailinator.com",
    "guerrillamail.com",
    "yopmail.com",
    "10minutemail.com",
    "33mail.com",
  ])
    assert.deepEqual(reasonsOf(`dana@${domain}`), ["disposable_mail"], domain);
});

test("a firm's own domain does not count as a mailbox provider's", () => {
  for (const domain of [
    "harbor-title.com",
    "mail.harbor-title.com",
    "yahoo.harbor-title.com",
    "live.harbor.co.uk",
    "notgmail.com",
    "gmail-title.com",
    "bücher-recht.de",
    "firm.law",
  ])
    assert.deepEqual(reasonsOf(`dana@${domain}`), [], domain);
});

test("domains that only the package lists wait for a person, also below them", () => {
  const named = new Set([...rules.freeDomains, ...rules.disposableDomains]);
  const mailboxes = [
    "0-180.com",
    "0-00.usa.cc",
    "mail2lawyer.com",
    "x.mail2lawyer.com",
    "müll.email",
    "xn--mll-hoa.email",
  ];
  for (const domain of mailboxes) {
    assert.ok(!named.has(domain));
    assert.deepEqual(reasonsOf(`dana@${domain}`), ["listed_mail"], domain);
  }
});

test("a suffix with many registrants affects no domain below it, even if the package lists it", () => {
  for (const ending of ["com.ar", "org.ua", "net.ua", "web.id"]) {
    assert.ok(listed.has(ending), ending);
    assert.deepEqual(reasonsOf(`dana@harbor-title.${ending}`), [], ending);
    assert.deepEqual(reasonsOf(`dana@${ending}`), ["listed_mail"], ending);
  }
});

test("the domain of examples is not a free mailbox", () => {
  assert.ok(listed.has("example.com"));
  for (const domain of ["example.com", "harbor.example.com", "example.org", "harbor-title.example"])
    assert.deepEqual(reasonsOf(`dana@${domain}`), [], domain);
});

test("a domain without mail waits for a person", () => {
  for (const domain of ["firm.1", "-firm.com", "firm_x.com", "10.0.0.1", `${"a.".repeat(130)}com`])
    assert.deepEqual(reasonsOf(`dana@${domain}`), ["odd_domain"], domain);
});

test("random letters, words of the trade in any order, and any text at all are screened without an error", () => {
  const letters = fc.array(
    fc.string({ unit: fc.constantFrom(..."bcdfghjklmnpqrstvwxz"), minLength: 5, maxLength: 12 }),
    {
      minLength: 8,
      maxLength: 40,
    },
  );
  fc.assert(fc.property(letters, (words) => screen(rules, listed, { workEmail, useCase: words.join(" ") }).length > 0));
  const trade = fc.array(fc.constantFrom("notary", "closing", "title", "escrow", "loan", "deed", "legal", "law"), {
    maxLength: 60,
  });
  fc.assert(fc.property(trade, (words) => screen(rules, listed, { workEmail, useCase: words.join(" ") }).length > 0));
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter, maxLength: 4000 }), (text) =>
      Array.isArray(screen(rules, listed, { workEmail, useCase: text })),
    ),
  );
});

test("an invalid rules file is refused with the name of the wrong entry", () => {
  assert.throws(() => parseScreeningRules("useCase: {}", "screening.yaml"), /^StartupError: screening\.yaml: /);
  assert.throws(() => parseScreeningRules("a: [", "screening.yaml"), /^StartupError: screening\.yaml: /);
  assert.throws(() => readScreeningRules("/nowhere/screening.yaml"), /cannot be read \(ENOENT\)/);
});
