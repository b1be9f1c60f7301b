import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createTypeset, legible, openFaces } from "@signsealship/certificate";
import { plainCoverage } from "@signsealship/evidence/manifest";
import { anyCharacter } from "@signsealship/testing/inputs/any-character";
import { needs } from "@signsealship/testing/tools/tools";
import { brokenRules } from "@signsealship/testing/tools/verapdf";
import fc from "fast-check";
import qrcode from "qrcode";
import { openCertificates } from "../../../src/closing/closing-passports/certificate/certificate.ts";
import { certificateContent } from "./certificate-content.ts";
import { sha256, textOf, withPdf } from "./seal-room.ts";

const draw = openCertificates();
const faces = await openFaces();
const scripts = {
  Latin: "Ọ̀ṣun Đặng Ünïcödé ǅ ﬁ",
  "Greek and Cyrillic": "Ελληνικά Договор",
  Arabic: "السلام عليكم",
  Hebrew: "שטר מכר",
  Devanagari: "विक्रय पत्र",
  Bengali: "বাংলা",
  Gurmukhi: "ਪੰਜਾਬੀ",
  Gujarati: "ગુજરાતી",
  Odia: "ଓଡ଼ିଆ",
  Tamil: "தமிழ்",
  Telugu: "తెలుగు",
  Kannada: "ಕನ್ನಡ",
  Malayalam: "മലയാളം",
  Sinhala: "සිංහල",
  Thai: "สัญญาซื้อขาย",
  Lao: "ລາວ",
  Khmer: "ខ្មែរ",
  Burmese: "ဘာသာ",
  Tibetan: "བོད་ཡིག",
  Mongolian: "ᠮᠣᠩᠭᠣᠯ",
  Amharic: "አማርኛ",
  Georgian: "ქართული",
  Armenian: "Հայերեն",
  Cherokee: "ᏣᎳᎩ",
  Inuktitut: "ᐃᓄᒃᑎᑐᑦ",
  Chinese: "房屋买卖合同 房屋買賣合約",
  Japanese: "売買契約書 ひらがな カタカナ",
  Korean: "매매 계약서",
  symbols: "☎ ✓ → ∑ € №",
  emoji: "🏠 🔑",
};

test("names in any script are drawn with glyphs, and readers extract them unchanged", needs("poppler"), async () => {
  const names = Object.entries(scripts);
  for (const [script, name] of names) {
    await faces.prepare(name);
    assert.equal(legible(faces, name).escaped, false, script);
  }
  const text = textOf(await draw(certificateContent(names.map(([, name]) => name))));
  const read = text.replace(/\s/g, "").normalize("NFC");
  for (const [script, name] of names) {
    assert.ok(read.includes(name.replace(/\s/g, "").normalize("NFC")), `${script}: ${name}`);
  }
  assert.doesNotMatch(text, /\\u\{/);
});

test("right-to-left text is drawn from right to left and joined, also among other text", needs("poppler"), async () => {
  const name = "Deed סעיף 12 (עותק)";
  await faces.prepare(name);
  const [line] = createTypeset(faces)(name, 1e9).lines;
  assert.equal(
    line?.clusters.map(({ text }) => text).join(""),
    "Deed (קתוע) 12 ףיעס".replace(/[()]/g, (c) => (c === "(" ? ")" : "(")),
  );
  await faces.prepare("ببب");
  const [joined] = createTypeset(faces)("ببب", 1e9).lines;
  const shapes = joined?.clusters.map(({ parts }) => parts.map(({ id }) => id).join());
  assert.equal(new Set(shapes).size, 3, "final, medial and initial form");
});

test(
  "characters without a glyph or a shape are written as code points, and the certificate says so",
  needs("poppler"),
  async () => {
    const cases = {
      "bad\u202efdp.exe": "bad\\u{202E}fdp.exe",
      "a\u200bb\u00adc": "a\\u{200B}b\\u{AD}c",
      "\u{10fffd}\ue000": "\\u{10FFFD}\\u{E000}",
      "\u{13000}": "\\u{13000}",
      "x\u2028y": "x\\u{2028}y",
    };
    for (const [name, expected] of Object.entries(cases)) {
      await faces.prepare(name);
      const { text, escaped } = legible(faces, name);
      assert.deepEqual([text, escaped], [expected, true]);
    }
    const text = textOf(await draw(certificateContent(Object.keys(cases))));
    for (const expected of Object.values(cases)) assert.ok(text.includes(expected), expected);
    assert.match(text, /are printed as \\u\{…\} with their code points/);
    assert.doesNotMatch(textOf(await draw(certificateContent(["Deed"]))), /code points/);
  },
);

const manyScripts = () =>
  certificateContent([...Object.values(scripts), "Deed סעיף 12 (עותק)", "bad\u202efdp.exe", null]);
const fullRoom = () =>
  certificateContent(
    Array.from({ length: 50 }, (_, n) => (n % 5 === 0 ? "W".repeat(200) : `Deed ${n}`)),
    { roomName: "很".repeat(200), versions: 20 },
  );

test("conforms to PDF/A-3a and PDF/UA-1, in any script, of any length", needs("verapdf"), async () => {
  const files = {
    scripts: await draw(manyScripts()),
    full: await draw(fullRoom()),
    empty: await draw(certificateContent([])),
  };
  assert.deepEqual(brokenRules(files), []);
  const spoilt = Buffer.from(files.empty.toString("latin1").replace("/Marked true", "/Marked null"), "latin1");
  assert.notDeepEqual(brokenRules({ spoilt }), []);
});

test("contains its fonts as embedded subsets of outlines, with their characters", needs("poppler"), async () => {
  const fonts = withPdf(await draw(manyScripts()), (run) => run("pdffonts", "certificate.pdf"));
  const [, , ...lines] = fonts.trim().split("\n");
  assert.ok(lines.length > 20);
  for (const line of lines)
    assert.match(line, /^[A-Z]{6}\+Noto\w+-(Regular|SemiBold) +CID TrueType +Identity-H +yes yes yes /);
});

test("has a structure with headings, lists and tables, and text in logical order", needs("poppler"), async () => {
  const pdf = await draw(certificateContent(["Deed of trust", "סעיף 12 (עותק)"]));
  const structure = withPdf(pdf, (run) => run("pdfinfo", "-struct-text", "certificate.pdf"));
  const flat = structure.replace(/\s+/g, " ");
  assert.match(flat, /H1[^"]*"12 Elm Street"/);
  assert.match(flat, /H2[^"]*"Documents".*H3[^"]*"Deed of trust"/);
  assert.match(flat, /Lbl[^"]*"Issuer" LBody[^"]*"SignSealShip, https:/);
  assert.match(flat, /Table[^"]* TH[^"]*"Version"/);
  const spoken = [...pdf.toString("latin1").matchAll(/\/ActualText<feff([0-9a-f]+)>/g)].map(([, hex = ""]) =>
    Buffer.from(hex, "hex").swap16().toString("utf16le"),
  );
  assert.ok(spoken.includes("סעיף 12 (עותק)"), String(spoken));
});

test("any text is drawn completely: by glyphs of the font or by code points, within its width", async () => {
  const typeset = createTypeset(faces);
  const units = fc.oneof(
    fc.string({ unit: anyCharacter, maxLength: 40 }),
    fc.string({ unit: "grapheme", maxLength: 40 }),
    fc.string({ unit: fc.constantFrom(..."aé ׁש،ل١क्षि👩‍🦰가\u0301\u200d(]\u2067\u202e", "\ud83c"), maxLength: 40 }),
  );
  await fc.assert(
    fc.asyncProperty(units, fc.integer({ min: 15_000, max: 60_000 }), async (text, width) => {
      await faces.prepare(text);
      const whole = typeset(text, 1e9).lines[0]?.clusters ?? [];
      const { lines } = typeset(text, width);
      assert.ok(lines.length >= 1);
      for (const line of lines) assert.ok(line.width <= width || line.clusters.length === 1);
      const shown = (clusters: typeof whole) =>
        clusters
          .map((cluster) => cluster.text)
          .join("")
          .replace(/\s/gu, "").length;
      assert.equal(
        lines.reduce((sum, { clusters }) => sum + shown(clusters), 0),
        shown(whole),
      );
      // Glyph 0 is the box that replaces characters without a glyph in the font.
      for (const { parts } of whole) for (const { id } of parts) assert.notEqual(id, 0);
    }),
    { numRuns: 150 },
  );
});

test("equal contents give equal bytes", async () => {
  const given = certificateContent(["Deed of trust", "売買", null]);
  const bytes = await draw(given);
  assert.deepEqual(await draw(given), bytes);
  assert.deepEqual(await openCertificates()(given), bytes);
});

test("states the manifest's facts, the coverage and its limits, and every version", needs("poppler"), async () => {
  const given = certificateContent(["Deed of trust", null], { versions: 20 });
  const text = textOf(await draw(given)).replace(/\s+/g, " ");
  const { passport, documents, coverage } = given.manifest;
  const facts = [passport.roomName, "FILE-2207", "2026-03-04 05:06:07 UTC"];
  const hashes = documents.flatMap(({ originalSha256, sealedSha256 }) => [originalSha256, sealedSha256]);
  const codes = [given.verifyCode, given.verifyUrl, given.manifestSha256, passport.prevManifestSha256];
  const chain = given.chain.map(({ manifestSha256 }) => manifestSha256);
  for (const fact of [...facts, ...hashes, ...codes, ...chain]) if (fact) assert.ok(text.includes(fact), fact);
  const words = text.replace(/ /g, "");
  // The text mixes the lines of the two adjacent columns, so only the first words of each item are compared.
  for (const item of [...coverage.covers, ...coverage.doesNotCover]) {
    const plain = plainCoverage[item] ?? assert.fail(item);
    assert.ok(words.includes(plain.split(" ").slice(0, 3).join("")), plain);
  }
  assert.doesNotMatch(text, /Test environment/);
  const tested = textOf(await draw({ ...given, environment: "test" }));
  assert.match(tested, /Test environment: made with a test key/);
});

test(
  "states in sentences who certifies what, for which firm and when; in words, with signers, pages and the time stamp's authority",
  needs("poppler"),
  async () => {
    const text = textOf(await draw(certificateContent(["Deed of trust", null]))).replace(/\s+/g, " ");
    assert.ok(
      text.includes(
        "SignSealShip, on behalf of Acme Title & Escrow, certifies the following. On March 4, 2026, 05:06:07 UTC, its record of the closing " +
          "“12 Elm Street” (reference FILE-2207) held the 2 documents listed below. SignSealShip computed every SHA-256 hash shown with " +
          "a document from the file that it held at that time. This certificate is the first version of that record.",
      ),
      text,
    );
    assert.match(text, /Issuer SignSealShip, https:\/\/sign\.example\.com/);
    assert.match(text, /On behalf of Acme Title & Escrow \(Acme Title & Escrow LLC\)/);
    assert.match(
      text,
      /Time stamp 2026-03-04 05:06:08 UTC over the manifest, by Example TSA 1 \(https:\/\/tsa\.example\.com\/tsr\)/,
    );
    assert.match(text, /Deed of trust Status Out for signature \(stated by this service, not evidence\) Pages 12/);
    assert.match(text, /Signers Dana Reyes, signed 2026-03-03 10:20:30 UTC 李小龍: no signature on record/);
    assert.match(text, /FILE-2207\/b Status/, "where the room has no label, the order's own name");
    assert.match(text, /Sealed by SignSealShip on behalf of Acme Title & Escrow March 4, 2026, 05:06:07 UTC/);
    assert.doesNotMatch(text, /EsignPending/);
    const alone = textOf(await draw({ ...certificateContent([], { versions: 2 }), timeStamp: null })).replace(
      /\s+/g,
      " ",
    );
    assert.match(
      alone,
      /held no documents\. This certificate is version 2 of that record\. It follows the sealed version 1\./,
    );
    assert.match(alone, /Time stamp none was obtained for the manifest/);
  },
);

test("prints no code that opens the room or an order", needs("poppler"), async () => {
  const given = certificateContent(["Deed of trust", null]);
  const text = textOf(await draw(given)).replace(/\s+/g, "");
  const { passport, documents } = given.manifest;
  for (const code of [passport.roomCode, ...documents.map(({ orderCode }) => orderCode)])
    assert.ok(!text.includes(code), code);
});

test(
  "the QR code leads to the verify URL, and the manifest is attached as data",
  needs("poppler", "qpdf"),
  async () => {
    const given = certificateContent(["Deed of trust"]);
    withPdf(await draw(given), (run, folder) => {
      run("pdfdetach", "-save", "1", "-o", "manifest.json", "certificate.pdf");
      assert.equal(sha256(readFileSync(join(folder, "manifest.json"))), given.manifestSha256);
      assert.match(run("pdfdetach", "-list", "certificate.pdf"), /1: manifest\.json\n2: manifest\.tst/);
      const objects = run("qpdf", "--qdf", "--object-streams=disable", "certificate.pdf", "-");
      assert.match(objects, /\/AFRelationship \/Data/);
      run("pdftoppm", "-gray", "-r", "144", "-singlefile", "certificate.pdf", "page");
      const page = readFileSync(join(folder, "page.pgm"));
      const width = 1224;
      const start = page.length - width * 1584;
      const { modules } = qrcode.create(given.verifyUrl, { errorCorrectionLevel: "M" });
      const side = 200 / modules.size;
      const isDark = (row: number, column: number, top: number) =>
        (page[start + Math.round(top + (row + 0.5) * side) * width + Math.round(108 + (column + 0.5) * side)] ?? 255) <
        128;
      const rows = Array.from({ length: modules.size }, (_, row) => row);
      const matches = (top: number) =>
        rows.every((r) => rows.every((c) => isDark(r, c, top) === (modules.get(r, c) === 1)));
      assert.ok(Array.from({ length: 500 }, (_, top) => top).some(matches), "the code is on the page as it should be");
      assert.match(objects, /\/URI \(https:\/\/sign\.example\.com\/v\/room\/mfrggzdfmztwq2lknnwg23tpoa\)/);
    });
  },
);

test(
  "fifty orders and long names take more pages, and each reader accepts the file",
  needs("poppler", "qpdf", "mupdf"),
  async () => {
    const given = fullRoom();
    const pdf = await draw(given);
    withPdf(pdf, (run) => {
      run("qpdf", "--check", "certificate.pdf");
      const pages = Number(/Pages:\s+(\d+)/.exec(run("pdfinfo", "certificate.pdf"))?.[1]);
      assert.ok(pages >= 5 && pages <= 18, String(pages));
      run("mutool", "draw", "-r", "20", "-o", "page-%d.png", "certificate.pdf");
      assert.match(
        run("pdftotext", "-f", String(pages), "certificate.pdf", "-"),
        new RegExp(`Page ${pages} of ${pages}`),
      );
    });
    const text = textOf(pdf);
    for (const { originalSha256 } of given.manifest.documents) assert.ok(text.includes(originalSha256 ?? ""));
  },
);

test(
  "prints the log's state before the seal, and none before the log's first checkpoint",
  needs("poppler"),
  async () => {
    const content = certificateContent(["Deed"]);
    const flat = async (checkpoint: string | null) =>
      textOf(await draw({ ...content, checkpoint })).replace(/\s+/g, " ");
    const root = Buffer.alloc(32, 5).toString("base64");
    assert.ok((await flat(content.checkpoint)).includes(`sign.example.com/log/live, 1207 entries, root ${root}`));
    assert.doesNotMatch(await flat(null), /Transparency log/);
  },
);
