import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, test } from "node:test";
import { gzipSync } from "node:zlib";
import { forTests } from "@signsealship/testing/for-tests";
import { noticeCodes } from "../../../src/kernel/pdf/unseen/notice.ts";
import { languageNames, languages, languageTags } from "../../../src/kernel/platform/languages.ts";
import { sessionCookie } from "../../../src/pages/signing/cookie.ts";
import { wordsOf } from "../../../src/pages/signing/words/languages.ts";
import { copyKinds } from "../../../src/signing/envelopes/envelopes.ts";
import { consentTexts, type Options, rightCode, signerName, token } from "./memory-ceremony.ts";
import { type Envelope, openSigningSite } from "./signing-site.ts";

let envelope: Envelope;

const site = await forTests(openSigningSite("https://acme.example/logo.png"));

const open = async (options?: Options) => {
  envelope = await site.open(options);
  return envelope;
};
const ask = (path = "", init: RequestInit = {}) =>
  fetch(`${site.baseUrl}/sign/${token}${path}`, {
    redirect: "manual",
    ...init,
    headers: { Accept: "text/html", ...init.headers },
  });
const post = (act: string, form: Record<string, string> = {}, headers: Record<string, string> = {}) =>
  ask(`/${act}`, {
    method: "POST",
    body: new URLSearchParams(form),
    headers: { Origin: new URL(site.baseUrl).origin, ...headers },
  });
const textOf = async (path = "") => (await ask(path)).text();
const consent = (more: Record<string, string> = {}) =>
  post("consent", { version: "4", language: "en", can_read: "on", ...more });

async function formValues(): Promise<Record<string, string>> {
  const page = await textOf();
  const names = [...page.matchAll(/name="(value\.[^"]+-(?:initials|text))"/g)].map(([, name]) => name ?? "");
  return { revision: "1", drawn: "", name: signerName, ...Object.fromEntries(names.map((name) => [name, "JD"])) };
}

describe("viewing a link", () => {
  test("states the number of pages, and in both languages which of them is added for signatures", async () => {
    for (const [language, words] of [
      ["en", ["PDF, 1 page, ", "PDF, 5 pages, ", "PDF, 5 pages and a signature page that we add, "]],
      ["es", ["PDF, 1 página, ", "PDF, 5 páginas, ", "PDF, 5 páginas y una página de firmas que agregamos, "]],
    ] as const)
      for (const [index, options] of [{ pages: 1 }, { pages: 5 }, { pages: 6, hasSignaturePage: true }].entries()) {
        await open({ ...options, language });
        const text = await textOf();
        assert.ok(text.includes(words[index] ?? "-"), text);
      }
  });

  test("changes nothing: not even a hundred requests of a scanner, with GET and with HEAD", async () => {
    const { asked } = await open({ step: "mail_code" });
    for (let i = 0; i < 100; i++) assert.equal((await ask("", { method: i % 2 ? "GET" : "HEAD" })).status, 200);
    await open();
    for (let i = 0; i < 20; i++) await ask(i % 2 ? "" : "/document.pdf");
    assert.deepEqual([asked, envelope.asked], [[], []]);
  });

  test("is private: no cache, no index, no frame, and its policy allows no foreign script", async () => {
    await open();
    const { headers } = await ask();
    const policy = headers.get("content-security-policy") ?? "";
    assert.doesNotMatch(policy, /unsafe/);
    for (const part of ["default-src 'none'", "script-src 'self';", "form-action 'self'", "frame-ancestors 'none'"])
      assert.ok(policy.includes(part), part);
    assert.match(policy, /img-src 'self' data: blob: https:\/\/acme\.example;/);
    assert.equal(headers.get("cache-control"), "no-store");
    assert.equal(headers.get("x-robots-tag"), "noindex, nofollow");
    assert.match(await textOf(), /href="mailto:closings%2B7@acme\.example">closings\+7@acme\.example<\/a>/);
    // With the policy `no-referrer`, a browser would not send the origin of a form.
    assert.equal(headers.get("referrer-policy"), "same-origin");
  });

  test("takes at most 60 KiB, compressed, before pdf.js and the fonts are loaded", async () => {
    await open();
    const page = await textOf();
    // Fonts are cached forever, and a phone loads the icon only for its home screen, so neither is counted. The
    // document's text view is loaded on demand.
    const assets = [...page.matchAll(/"(\/assets\/[\w.-]+\.(?:css|js|svg))"/g)]
      .map(([, path]) => path ?? "")
      .filter((path) => !path.startsWith("/assets/document-text."));
    let bytes = gzipSync(page).length;
    for (const path of new Set(assets)) {
      const asset = await fetch(site.baseUrl + path);
      bytes += gzipSync(await asset.arrayBuffer()).length;
    }
    assert.ok(assets.length >= 3 && bytes <= 60 * 1024, `${assets.length} assets, ${bytes} bytes`);
  });

  test("of an unknown link says so, in the browser's language, English and Spanish, with a matching status", async () => {
    await open();
    for (const path of [`/sign/${"d".repeat(52)}`, "/sign/x", `/sign/${"d".repeat(52)}/document.pdf`]) {
      const answer = await fetch(site.baseUrl + path, { headers: { Accept: "text/html" } });
      assert.equal(answer.status, 404);
      const page = await answer.text();
      assert.match(page, /This link does not work/);
      assert.match(page, /lang="es"><h2>Este enlace no funciona/);
    }
    const inKorean = await fetch(`${site.baseUrl}/sign/x`, {
      headers: { Accept: "text/html", "Accept-Language": "ko-KR,en;q=0.5" },
    });
    const page = await inKorean.text();
    assert.match(page, /<html lang="ko">.*이 링크는 작동하지 않습니다.*This link does not work.*Este enlace/s);
    assert.doesNotMatch(page, /Ce lien|链接/);
  });
});

describe("content of the document that a signer may not see", () => {
  const notices = [
    ...noticeCodes.map((code) => ({ code, page: null, text: null })),
    { code: "text_below_place", page: 2, text: "And <b>1000000</b> dollars" },
  ] as const;
  const quote = '<q dir="auto">And &lt;b&gt;1000000&lt;/b&gt; dollars</q>';

  test("is reported above the document before the consent and after it, and next to its text, in both languages", async () => {
    for (const [language, title, place] of [
      ["en", "Look at these before you sign", "is on top of these words (page 2): "],
      ["es", "Mire esto antes de firmar", "está encima de estas palabras (página 2): "],
    ] as const) {
      await open({ language, notices });
      const pages = [await textOf(), await textOf("/text")];
      await post("consent", { version: "4", language, can_read: "on" });
      for (const page of [...pages, await textOf()]) {
        assert.ok(page.includes(title), title);
        assert.ok(page.includes(`${place}${quote}</li>`), page);
        assert.equal(page.split("<li>").length > noticeCodes.length, true);
        assert.doesNotMatch(page, /undefined/);
      }
      assert.match(pages[0] ?? "", /id="document-notices"/);
      assert.match(await textOf(), /id="sign-button" aria-describedby="document-notices"/);
    }
  });

  test("is not mentioned when there is none, and not before the code", async () => {
    await open();
    await consent();
    assert.doesNotMatch(await textOf(), /document-notices/);
    await open({ step: "mail_code", notices });
    assert.doesNotMatch(await textOf(), /document-notices|1000000/);
  });
});

describe("the document as text, without a script", () => {
  test("has each page's lines, says that it is an aid, and links back", async () => {
    await open({ pages: 3 });
    const page = await textOf("/text");
    assert.deepEqual(
      [...page.matchAll(/<h3>([^<]+)<\/h3><p>([^<]+)/g)].map(([, title, line]) => [title, line]),
      [1, 2, 3].map((n) => [`Page ${n}`, `Page ${n} of 3`]),
    );
    assert.match(page, /You sign the PDF, not this text/);
    assert.match(page, new RegExp(`href="/sign/${token}"`));
    assert.deepEqual(envelope.asked, []);
    await open({ language: "es" });
    assert.match(await textOf("/text"), /El documento como texto/);
  });

  test("is not available before the code, or for an unreadable document", async () => {
    await open({ step: "mail_code" });
    const early = await ask("/text");
    assert.deepEqual([early.status, /Page 1 of/.test(await early.text())], [409, false]);
    const { file } = await open();
    file().fill(0);
    const broken = await ask("/text");
    assert.deepEqual([broken.status, /Page 1 of/.test(await broken.text())], [409, false]);
    assert.equal((await fetch(`${site.baseUrl}/sign/${"d".repeat(52)}/text`)).status, 404);
  });
});

describe("a picture as the signature, without a script", () => {
  /** Two pixels, of which one is visible. */
  const picture = Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAAAAADRSSBWAAAAC0lEQVR4nGNg+A8AAQIBAEK+vGgAAAAASUVORK5CYII=",
    "base64",
  );
  const send = (bytes: Uint8Array<ArrayBuffer>, name = "file", headers: Record<string, string> = {}) => {
    const body = new FormData();
    body.append(name, new Blob([bytes]), "me.png");
    return ask("/picture", { method: "POST", body, headers: { Origin: new URL(site.baseUrl).origin, ...headers } });
  };

  test("is shown, goes through the form, and is signed; only its pixels remain of the file", async () => {
    await open();
    await consent();
    const answer = await send(Buffer.concat([picture, Buffer.from("GPS 52.5")]));
    assert.equal(answer.status, 200);
    const page = await answer.text();
    assert.match(page, /<img src="data:image\/png;base64,[^"]+" alt="The picture that is placed as your signature"/);
    const text = /name="picture" value="([^"]+)"/.exec(page)?.[1] ?? "";
    assert.match(text, /^2_1_[\w-]+$/);
    const signed = await post("sign", { ...(await formValues()), picture: text, name: "" });
    assert.equal(signed.status, 303, "a picture needs no typed name");
    assert.match(envelope.asked.at(-1) ?? "", /^sign uploaded/);
    const file = envelope.file().toString("latin1");
    assert.match(file, /\/Subtype\/Image\/Width 2\/Height 1/);
    assert.doesNotMatch(file, /GPS/);
  });

  test("is refused in words, and nobody can sign with a picture that this service did not make", async () => {
    await open();
    await consent();
    for (const [answer, words] of [
      [await send(Buffer.from("GIF89a")), /format PNG or JPEG/],
      [await send(Buffer.alloc(0)), /format PNG or JPEG/],
      [await send(picture.subarray(0, 40)), /cannot be read/],
      [await send(picture, "other"), /not accepted|must be a text field/],
      [await send(Buffer.alloc(4 * 1024 * 1024 + 5000)), /too large/],
      [await ask("/picture", { method: "POST", body: new URLSearchParams({ file: "x" }) }), /./],
    ] as const) {
      assert.ok(answer.status >= 400 && answer.status < 500, `${answer.status} ${words}`);
      assert.match(await answer.text(), words);
    }
    assert.equal((await send(picture, "file", { Origin: "https://evil.example" })).status, 403);
    for (const text of ["2_1_AAAA", "0_1_AAAA", "9999_1_AAAA", `2_1_${"A".repeat(130_000)}`, "<script>", "2_1_"]) {
      const answer = await post("sign", { ...(await formValues()), picture: text });
      assert.deepEqual(
        [answer.status, /The picture cannot be read/.test(await answer.text())],
        [400, true],
        text.slice(0, 20),
      );
    }
    assert.doesNotMatch(envelope.asked.join(), /sign/);
    await open({ step: "mail_code" });
    assert.ok((await send(picture)).status >= 400 || !/name="picture" value="2/.test(await (await ask()).text()));
  });
});

describe("the document", () => {
  test("is sent completely and in ranges, to be shown and not to be stored", async () => {
    const { file } = await open();
    const whole = await ask("/document.pdf?revision=1");
    assert.deepEqual(Buffer.from(await whole.arrayBuffer()), file());
    const shownHeaders = [
      "content-type",
      "accept-ranges",
      "content-disposition",
      "cache-control",
      "x-content-type-options",
    ];
    assert.deepEqual(
      shownHeaders.map((name) => whole.headers.get(name)),
      ["application/pdf", "bytes", 'inline; filename="document.pdf"', "no-store", "nosniff"],
    );
    const length = file().length;
    for (const [range, first, last] of [
      ["bytes=0-99", 0, 99],
      [`bytes=${length - 10}-`, length - 10, length - 1],
      ["bytes=-7", length - 7, length - 1],
      [`bytes=5-${length + 100}`, 5, length - 1],
    ] as const) {
      const part = await ask("/document.pdf", { headers: { Range: range } });
      assert.equal(part.status, 206, range);
      assert.equal(part.headers.get("content-range"), `bytes ${first}-${last}/${length}`);
      assert.deepEqual(Buffer.from(await part.arrayBuffer()), file().subarray(first, last + 1));
    }
    for (const range of [`bytes=${length}-`, "bytes=-0"])
      assert.equal((await ask("/document.pdf", { headers: { Range: range } })).status, 416, range);
    for (const range of ["bytes=9-5", "bytes=0-1,4-5", "lines=1-2", "bytes=-"])
      assert.equal((await ask("/document.pdf", { headers: { Range: range } })).status, 200, range);
    const saved = await ask("/document.pdf?save=1");
    assert.match(saved.headers.get("content-disposition") ?? "", /^attachment/);
  });

  test("is not sent before its signer is identified, and never in parts of two revisions", async () => {
    await open({ step: "access_code" });
    assert.equal((await ask("/document.pdf")).status, 409);
    await open();
    await envelope.otherSigns();
    assert.equal((await ask("/document.pdf?revision=1", { headers: { Range: "bytes=0-9" } })).status, 409);
    assert.equal((await ask("/document.pdf?revision=2", { headers: { Range: "bytes=0-9" } })).status, 206);
  });
});

test("the copies for a signer exist when everybody has signed, and not before", async () => {
  const { file } = await open();
  assert.equal((await ask("/sealed.pdf")).status, 409);
  const copies = copyKinds.map((kind) => ({ kind, isSimulated: false }));
  envelope.change({ state: "completed", copies });
  const page = await textOf();
  for (const [kind, name] of [
    ["notarized", "notarized"],
    ["sealed", "signed and sealed"],
    ["custody_certificate", "certificate of the signing"],
  ]) {
    assert.ok(page.includes(`/${kind}.pdf?save=1"`), kind);
    const kept = await ask(`/${kind}.pdf?save=1`);
    assert.equal(
      kept.headers.get("content-disposition"),
      `attachment; filename="Warranty deed, 12 Elm Street - ${name}.pdf"`,
    );
    assert.deepEqual(Buffer.from(await kept.arrayBuffer()), file());
  }
  assert.match(page, /Save the notarized document/);
  envelope.change({ copies: [{ kind: "notarized", isSimulated: true }] });
  assert.equal(
    (await ask("/notarized.pdf?save=1")).headers.get("content-disposition"),
    'attachment; filename="Warranty deed, 12 Elm Street - notarization simulated (test).pdf"',
  );
  assert.match(await textOf(), /Save the document: notarization simulated \(test\)/);
});

describe("a code", () => {
  test("is mailed on request; the right one opens the document only in this browser", async () => {
    const { asked } = await open({ step: "mail_code" });
    assert.doesNotMatch(await textOf(), /document\.pdf|12 Elm Street<\/h1>.*Before you sign/);
    assert.match(await textOf(), /j\*\*\*@example\.com/);
    const sent = await post("code");
    assert.deepEqual([sent.status, sent.headers.get("location")], [303, `/sign/${token}?done=code`]);
    assert.match(await textOf("?done=code"), /We emailed you\. It can take a minute/);
    const wrong = await post("identify", { code: "000000" });
    assert.equal(wrong.status, 400);
    assert.match(await wrong.text(), /That code is not right/);
    const right = await post("identify", { code: ` ${rightCode} ` });
    assert.equal(right.status, 303);
    const cookie = right.headers.get("set-cookie") ?? "";
    assert.match(cookie, new RegExp(`^signer=session-of-jane; Path=/sign/${token}; .*HttpOnly; SameSite=Lax$`));
    assert.match(await (await ask("", { headers: { Cookie: "signer=session-of-jane" } })).text(), /Before you sign/);
    assert.doesNotMatch(await textOf(), /Before you sign/);
    assert.deepEqual(asked, ["code", "identify 000000", `identify ${rightCode}`]);
  });

  test("gives a session that is limited to https, if the pages are https", () => {
    const session = { session: "s", expiresAt: new Date(0) };
    assert.match(sessionCookie(token, session, true), /; Secure/);
    assert.doesNotMatch(sessionCookie(token, session, false), /; Secure/);
  });

  test("is not mailed again at once: the page says to wait", async () => {
    await open({ step: "mail_code" });
    await post("code");
    const soon = await post("code");
    assert.equal(soon.status, 429);
    assert.match(await soon.text(), /That was too soon/);
  });
});

describe("consent and signature without a script", () => {
  test("the consent is to the shown text, by its hash, and only from a signer who could read", async () => {
    const { asked } = await open();
    const page = await textOf();
    for (const words of [
      "You may have paper instead",
      "You may withdraw your consent",
      "What you need",
      "this transaction only",
    ])
      assert.ok(page.includes(words), words);
    assert.equal((await consent({ can_read: "" })).status, 400);
    assert.equal((await consent({ language: "de" })).status, 400);
    assert.deepEqual(asked, []);
    assert.equal((await consent()).status, 303);
    assert.deepEqual(asked, ["opened", "consent 4 en"]);
    for (const language of languages) {
      const { markdown, sha256 } = consentTexts.current(language);
      assert.equal(createHash("sha256").update(markdown).digest("hex"), sha256);
    }
  });

  test("a consent to an earlier text is refused, in words, on a page with the newest text", async () => {
    for (const language of languages) {
      const { asked } = await open({ language });
      for (const version of ["1", "99"]) {
        const refused = await consent({ version, language });
        assert.equal(refused.status, 409);
        const page = await refused.text();
        assert.ok(page.includes(wordsOf(language).refused.newText), page);
        assert.match(page, /name="version" value="4"/);
      }
      assert.ok(!asked.some((one) => one.startsWith("consent")));
    }
  });

  test("a typed name signs; missing values are named in words, and the typed text stays", async () => {
    const { asked, file } = await open();
    await consent();
    const values = await formValues();
    const before = file().length;
    for (const [changed, words] of [
      [{ name: " " }, /Type your name/],
      [{ name: "x".repeat(101) }, /Type your name/],
      [{ drawn: "1_2.3" }, /drawing cannot be read/],
      [{ drawn: "10_10.11_5" }, /drawing cannot be read/],
      [{ [Object.keys(values).find((name) => name.endsWith("initials")) ?? ""]: "" }, /Initials: this is needed/],
    ] as const) {
      const refused = await post("sign", { ...values, ...changed, [`${Object.keys(values).at(-1)}`]: "Lot 7" });
      assert.equal(refused.status, 400);
      const page = await refused.text();
      assert.match(page, words);
      assert.match(page, /value="Lot 7"/);
    }
    const signed = await post("sign", values);
    assert.deepEqual([signed.status, signed.headers.get("location")], [303, `/sign/${token}?done=signed`]);
    assert.equal(asked.filter((one) => one.startsWith("sign typed")).length, 1);
    assert.ok(file().length > before);
    assert.match(await textOf("?done=signed"), /Your signature is in the document.*You have signed/s);
    const twice = await post("sign", values);
    assert.equal(twice.status, 409);
    assert.match(await twice.text(), /You have signed/);
  });

  test("when another signer was faster, the page shows the new document and keeps the typed text", async () => {
    await open();
    await consent();
    const values = await formValues();
    await envelope.otherSigns();
    const again = await post("sign", { ...values, drawn: "600_200.10_20-30_40", name: "Jane Q. Doe" });
    assert.equal(again.status, 409);
    const page = await again.text();
    assert.match(page, /You have not signed yet. The document may have changed/);
    assert.match(page, /name="revision" value="2"/);
    assert.match(page, /value="Jane Q\. Doe"/);
    assert.match(page, /name="drawn" value="600_200\.10_20-30_40"/);
    assert.equal((await post("sign", { ...values, revision: "2" })).status, 303);
  });
});

describe("not signing", () => {
  test("has a button for each way, asks for confirmation and notifies the sender", async () => {
    for (const kind of ["declined", "paper", "withdrawn", "not_me"]) {
      const { asked } = await open();
      await consent();
      assert.ok((await textOf()).includes(`name="kind" value="${kind}"`), kind);
      assert.equal((await post("decline", { kind, reason: "the price\r\nis wrong" })).status, 303);
      assert.equal(asked.at(-1), `decline ${kind} the price\nis wrong`);
      assert.match(await textOf("?done=declined"), kind === "paper" ? /You asked for paper/ : /The signing has ended/);
    }
    await open();
    assert.equal((await post("decline", { kind: "other" })).status, 400);
  });

  test("a signer who wants paper reads, in each language, that the firm is told and how to reach it", async () => {
    const firm = "Acme Title &amp; Escrow";
    for (const language of languages) {
      await open({ language });
      envelope.change({ state: "declined", askedForPaper: true });
      const page = await textOf();
      const { title, text } = wordsOf(language).askedForPaper(firm);
      assert.ok(page.includes(title) && page.includes(text), language);
      assert.ok(page.includes('href="mailto:closings%2B7@acme.example"'), language);
      envelope.change({ partnerContact: null });
      assert.ok((await textOf()).includes(wordsOf(language).noContact(firm)), language);
    }
  });

  test("another person is proposed with name and address", async () => {
    const { asked } = await open();
    assert.equal((await post("propose", { other_name: "Max", other_email: "nobody" })).status, 400);
    assert.equal((await post("propose", { other_name: "Max", other_email: "max@example.com" })).status, 303);
    assert.deepEqual(asked, ["propose Max max@example.com"]);
  });
});

describe("a language", () => {
  test("is the signer's: chosen once, it applies to every page and the consent", async () => {
    const { asked } = await open();
    assert.match(await textOf(), /<html lang="en">/);
    assert.equal((await post("language", { language: "es" })).status, 303);
    const page = await textOf("?done=language");
    assert.match(page, /<html lang="es">/);
    assert.match(page, /Ir al contenido.*Se cambió el idioma.*Antes de firmar.*Puede pedirlo en papel/s);
    assert.match(page, /22 de diciembre de 2026(?:, | a las )12:00 UTC/);
    await post("consent", { version: "4", language: "es", can_read: "on" });
    assert.equal(asked.at(-1), "consent 4 es");
    assert.equal((await post("language", { language: "xx" })).status, 400);
  });
});

describe("the page sent to a signer", () => {
  test("has only the words of the chosen language, and the names of the others", async () => {
    for (const language of languages) {
      await open({ language });
      await consent({ language });
      const page = await textOf();
      assert.ok(page.includes(`<html lang="${languageTags[language]}">`), language);
      const { viewer } = wordsOf(language);
      for (const words of Object.values(viewer)) assert.ok(page.includes(words.slice(0, 12)), `${language}: ${words}`);
      for (const other of languages.filter((one) => one !== language)) {
        assert.ok(page.includes(languageNames[other]));
        for (const words of [wordsOf(other).viewer.checked, wordsOf(other).sign.intent, wordsOf(other).other.title])
          assert.ok(!page.includes(words), `${language}: ${words}`);
      }
    }
  });

  test("has scripts without words of any language", async () => {
    await open();
    for (const [, path] of (await textOf()).matchAll(/<script src="([^"]+)"/g)) {
      const script = await (await fetch(site.baseUrl + path)).text();
      for (const language of languages)
        for (const words of Object.values(wordsOf(language).viewer))
          assert.ok(words.length < 15 || !script.includes(words), `${path}: ${words}`);
    }
  });

  test("says after the consent where the fields are, for a browser without scripts", async () => {
    await open({ language: "vi" });
    const answer = await consent({ language: "vi" });
    const page = await textOf(`?${answer.headers.get("location")?.split("?")[1]}`);
    const [, id] = /class="without-script"><a href="#([^"]+)">Đến các ô của quý vị/.exec(page) ?? [];
    assert.ok(id !== undefined && page.includes(`id="${id}"`), id);
    assert.doesNotMatch(await textOf(), /Đến các ô của quý vị/);
  });
});

describe("a form", () => {
  test("must come from our own pages: another site's is refused", async () => {
    const { asked } = await open();
    const foreign = await post(
      "consent",
      { version: "4", language: "en", can_read: "on" },
      { Origin: "https://evil.example" },
    );
    assert.equal(foreign.status, 403);
    assert.equal((await post("decline", { kind: "paper" }, { Origin: "null" })).status, 403);
    assert.deepEqual(asked, []);
  });

  test("every state has a page; a test environment is stated on each", async () => {
    const states = ["locked", "waiting", "ready", "signed", "completed", "declined", "expired", "voided"] as const;
    for (const state of states) {
      await open();
      envelope.change({
        state,
        environment: "test",
        verifyCode: state === "completed" ? "mfrggzdfmztwq2lknnwg23tpoa" : null,
      });
      const answer = await ask();
      assert.equal(answer.status, 200);
      const page = await answer.text();
      assert.match(page, /class="notice-title">TEST</, state);
      assert.equal(page.includes("the next step does not begin by itself"), state === "completed", state);
      assert.equal(page.includes('href="/v/envelope/mfrggzdfmztwq2lknnwg23tpoa"'), state === "completed");
    }
  });
});
