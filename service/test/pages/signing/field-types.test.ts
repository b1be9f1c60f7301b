import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { isLine } from "../../../src/pages/signing/sign-form.ts";
import { fieldsOfNewTypes, fieldsWithRules } from "./made-fields.ts";
import { type Options, signerName, token } from "./memory-ceremony.ts";
import { openSigningSite } from "./signing-site.ts";

let site: Awaited<ReturnType<typeof openSigningSite>>;
before(async () => {
  site = await openSigningSite();
});
after(() => site.close());

const ask = (path = "", init: RequestInit = {}) =>
  fetch(`${site.baseUrl}/sign/${token}${path}`, {
    redirect: "manual",
    ...init,
    headers: { Accept: "text/html", ...init.headers },
  });
const post = (act: string, form: Record<string, string>) =>
  ask(`/${act}`, {
    method: "POST",
    body: new URLSearchParams(form),
    headers: { Origin: new URL(site.baseUrl).origin },
  });

const senderValues: NonNullable<Options["senderValues"]> = [
  { kind: "text", label: "County", page: 1, value: "Clackamas <b>" },
  { kind: "checkbox", label: "Cash", page: 2, value: "On" },
  { kind: "radio", label: "Loan", page: 2, value: "On", option: "None" },
];

/** Opens the signing page. @returns the page, and a function that finds an input by the end of its name */
async function open(language: "en" | "es" = "en", more = fieldsOfNewTypes()) {
  const { asked } = await site.open({ more, senderValues, language });
  await post("consent", { version: "4", language, can_read: "on" });
  const page = await (await ask()).text();
  const inputs = [...page.matchAll(/name="(value\.[^"]+)"/g)].map(([, name]) => name ?? "");
  const named = (end: string) => inputs.find((name) => name.endsWith(end)) ?? assert.fail(end);
  const options = [...page.matchAll(/type="radio"[^>]* value="([^"]+)"/g)].map(([, value]) => value ?? "");
  const right: Record<string, string> = {
    revision: "1",
    drawn: "",
    name: signerName,
    [named("-initials")]: "JD",
    [named("-checkbox")]: "On",
    [named("-radio")]: options[1] ?? "",
    [named("-dropdown")]: "Blue",
    [named("-number")]: "1250",
  };
  for (const name of inputs.filter((each) => each.endsWith("-text"))) right[name] = "97201-1234";
  return { asked, page, named, right };
}

test("an optional radio has a choice for none, and a required one does not", async () => {
  const { page: required } = await open();
  assert.doesNotMatch(required, /None of these/);
  const more = fieldsOfNewTypes().map((each) => (each.kind === "radio" ? { ...each, required: false } : each));
  const { page, named, right, asked } = await open("en", more);
  assert.match(page, /<input type="radio"[^>]* value=""><label[^>]*>None of these</);
  assert.doesNotMatch(page, /type="radio"[^>]* required/);
  assert.notEqual((await post("sign", { ...right, [named("-radio")]: "" })).status, 400);
  assert.ok(asked.some((one) => one.startsWith("sign ")));
});

test("each field has a labeled input of its type, in both languages, with help and the sender's value", async () => {
  for (const [language, one, optional] of [
    ["en", "page 1", "The sender filled these in, and you cannot change them:"],
    ["es", "página 1", "El remitente llenó estos datos, y no cambian:"],
  ] as const) {
    const { page } = await open(language);
    assert.match(page, /<input type="checkbox" id="field-value\.[^"]+-checkbox-On"[^>]* required[^>]* value="On">/);
    assert.match(page, new RegExp(`<fieldset class="form-field form-radios"><legend>Title \\(${one}\\)`));
    assert.match(page, /type="radio" id="field-value\.[^"]+-2"[^>]*><label for="field-value\.[^"]+-2">Joint<\/label>/);
    assert.match(page, /<select[^>]* required><option value="">[^<]+<\/option><option value="Red">Red/);
    assert.match(page, /aria-describedby="field-value\.[^"]+-number-hint"[^>]* inputmode="decimal"/);
    assert.match(page, /Without fees\. [^<]*1\. USD\./);
    assert.match(page, /value="97201" inputmode="numeric"/);
    assert.ok(page.includes(optional));
    assert.ok(page.includes("<bdi>Clackamas &lt;b&gt;</bdi>"), "text is text");
    assert.match(page, /Loan \([^)]*2\): <bdi>None</);
  }
});

test("the sender's values are listed before the consent, and next to the document as text", async () => {
  await site.open({ more: fieldsOfNewTypes(), senderValues });
  for (const path of ["", "/text"])
    assert.match(await (await ask(path)).text(), /Cash \(page 2\): <bdi>checked</, path);
  await site.open({ step: "mail_code", senderValues: [] });
  assert.doesNotMatch(await (await ask()).text(), /sender-values/);
});

test("choices without a script are the signed ones", async () => {
  const { asked, right } = await open();
  assert.equal((await post("sign", right)).status, 303);
  const said = asked.find((one) => one.startsWith("sign ")) ?? "";
  for (const part of ['-checkbox","On"', '.o1","Off"', '.o2","On"', '-dropdown","Blue"', '-number","1250"'])
    assert.ok(said.includes(part), `${part} in ${said}`);
});

test("without a script a calculated number is shown before it is signed, and hidden fields are not required", async () => {
  const { asked } = await site.open({ more: fieldsWithRules() });
  await post("consent", { version: "4", language: "en", can_read: "on" });
  const page = await (await ask()).text();
  assert.match(page, /<p class="hint"[^>]*>Only if “Pets” is checked\. USD\.<\/p>/);
  assert.doesNotMatch(page, /-number" required/);
  assert.match(page, /value="\$1,000\.00" readonly/);
  assert.match(page, /<legend>Rooms \(page 1\)<\/legend><p[^>]*>Choose 1\.<\/p>/);
  const inputs = [...page.matchAll(/name="(value\.[^"]+)"/g)].map(([, name]) => name ?? "");
  const [initials, , pets, fee, attic, yard, total] = inputs;
  assert.ok(initials && pets && fee && attic && yard && total);
  const form: Record<string, string> = {
    revision: "1",
    drawn: "",
    name: signerName,
    [initials]: "JD",
    [attic]: "On",
    [total]: "$1,000.00",
  };
  for (const [more, status, words] of [
    [{ [yard]: "On" }, 400, "Rooms: choose 1."],
    [{ [pets]: "On" }, 400, "Fee: this is needed."],
    [{ [pets]: "On", [fee]: "25" }, 400, "Total is $1,025.00. Check it, and sign again."],
    [{ [fee]: "words, which are hidden" }, 303, ""],
  ] as const) {
    const answer = await post("sign", { ...form, ...more });
    const said = await answer.text();
    assert.equal(answer.status, status, said);
    assert.ok(said.includes(words), words);
    if (words.startsWith("Total")) assert.match(said, /value="\$1,025\.00" readonly/);
  }
  const signed = asked.filter((one) => one.startsWith("sign "));
  assert.equal(signed.length, 1);
  assert.match(signed[0] ?? "", /-number",""/);
});

test("a label or an option that mixes alphabets is shown with a warning, and others are not", async () => {
  const at = { signer: 1, page: 0, place: { x: 72, y: 400, width: 160, height: 20 } } as const;
  const warning = "Look closely: a word here mixes letters of different alphabets.";
  for (const [label, options, isMixed] of [
    ["Аmount", ["Red", "Blue"], true],
    ["Amount", ["Red", "Вlue"], true],
    ["Amount Сумма µm", ["Red", "Синий"], false],
  ] as const) {
    await site.open({ more: [{ ...at, kind: "dropdown", label, options }] });
    await post("consent", { version: "4", language: "en", can_read: "on" });
    assert.equal((await (await ask()).text()).includes(warning), isMixed, label);
  }
});

test("the length of a text is its number of characters, as in the order", () => {
  assert.equal(isLine("\u{10330}".repeat(200), 200), true);
  assert.equal(isLine("\u{10330}".repeat(201), 200), false);
});

describe("a form is rejected with the reason, and keeps the choices,", () => {
  const cases: readonly [string, end: string, value: string, en: string, es: string][] = [
    [
      "with a required box unchecked",
      "-checkbox",
      "",
      "I was told of lead paint: check this box.",
      "marque esta casilla",
    ],
    ["with no option of a radio", "-radio", "", "Title: this is needed.", "Title: este dato es necesario."],
    ["with an option of another radio", "-radio", "x", "Title: this is needed.", "Title: este dato es necesario."],
    ["with no choice", "-dropdown", "", "Color: this is needed.", "Color: este dato es necesario."],
    [
      "with a choice that is not there",
      "-dropdown",
      "Green",
      "Color: choose one of the list.",
      "Color: elija una opción",
    ],
    [
      "with words for a number",
      "-number",
      "many",
      "Price: enter a number such as 1,234.50.",
      "Price: escriba un número",
    ],
    ["with a number too small", "-number", "0.5", "Price: enter at least 1.", "Price: escriba como mínimo 1."],
    ["with too many decimals", "-number", "1.005", "Price: use at most 2 decimals.", "use como máximo 2 decimales"],
  ];
  for (const [what, end, value, en, es] of cases)
    test(what, async () => {
      for (const [language, words] of [
        ["en", en],
        ["es", es],
      ] as const) {
        const { right, named, asked } = await open(language);
        const form = { ...right, [named(end)]: value };
        if (value === "") delete form[named(end)];
        const answer = await post("sign", form);
        const page = await answer.text();
        assert.equal(answer.status, 400);
        assert.ok(page.includes(words), page);
        assert.ok(!asked.some((one) => one.startsWith("sign ")));
        if (end !== "-checkbox") assert.match(page, /value="On" checked/);
        else assert.doesNotMatch(page, /value="On" checked/);
        if (end !== "-dropdown") assert.match(page, /<option value="Blue" selected>/);
        if (end !== "-radio") assert.match(page, /type="radio"[^>]*\.o2"[^>]* checked/);
      }
    });

  test("with a text of another format", async () => {
    const { right, asked } = await open();
    const form = Object.fromEntries(
      Object.entries(right).map(([name, value]) => [name, value.replace("97201-1234", "9")]),
    );
    const page = await (await post("sign", form)).text();
    assert.ok(page.includes("ZIP: enter a ZIP code of 5 or 9 digits."));
    assert.ok(!asked.some((one) => one.startsWith("sign ")));
  });
});
