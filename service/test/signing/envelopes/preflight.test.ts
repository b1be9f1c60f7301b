import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, test } from "node:test";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { zooBytes, zooFiles } from "@signsealship/testing/inputs/zoo";
import { ServiceError } from "../../../src/kernel/platform/errors.ts";
import { inlineWorkers } from "../../../src/kernel/platform/workers/inline.ts";
import { TaskKilled } from "../../../src/kernel/platform/workers/task.ts";
import type { RequestedField } from "../../../src/orders/order/order.ts";
import { createPreflight } from "../../../src/signing/envelopes/envelopes.ts";
import { formWith } from "./pdf/made-forms.ts";

const preflight = createPreflight(inlineWorkers);
const tried = (bytes: Buffer, fields: RequestedField[] | null = null, signers = ["Jane Doe"]) => {
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  return preflight({ holder: "firm", bytes, sha256, signers, fields });
};
const preflightOf = async (...given: Parameters<typeof tried>) => (await tried(...given)).pages;
const noticesOf = async (...given: Parameters<typeof tried>) => (await tried(...given)).notices;
const refusal = async (bytes: Buffer, fields: RequestedField[] | null = null): Promise<string> => {
  const error = await preflightOf(bytes, fields).then(
    () => assert.fail("not refused"),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof ServiceError && error.code === "validation", String(error));
  return error.message;
};

const signature: RequestedField = {
  kind: "signature",
  signer: 1,
  page: 1,
  x: 72,
  y: 600,
  width: 180,
  height: 48,
  label: null,
  required: true,
};

test("a plain document can be signed: its pages are counted in the process", async () => {
  assert.equal(await preflightOf(makePdf({ pages: 3 })), 3);
  assert.equal(await preflightOf(makePdf({ pages: 3 }), [signature, { ...signature, kind: "date", y: 650 }]), 3);
  const ten = Array.from({ length: 10 }, (_, n) => `Signer ${n}`);
  assert.equal(await preflightOf(makePdf(), null, ten), 1);
});

test("counts each option of a radio as a field, and names the first one too many", async () => {
  const radio = (n: number, count: number): RequestedField => ({
    ...signature,
    kind: "radio",
    options: Array.from({ length: count }, (_, index) => ({
      label: `${index}`,
      place: { x: 20 + 11 * index, y: 20 + 11 * n, width: 10, height: 10 },
    })),
  });
  const two = [signature, radio(0, 50), radio(1, 49)];
  assert.equal(await preflightOf(makePdf(), two), 1);
  assert.equal(
    await refusal(makePdf(), [signature, radio(0, 50), radio(1, 50)]),
    "fields[2].options[49] is more than the 100 fields of page 1.",
  );
});

test("accepts fields that touch, and fields of one signer that overlap a little", async () => {
  const below = { ...signature, signer: 2, y: 648 };
  const beside = { ...signature, kind: "date", x: 240, width: 100 } as const;
  assert.equal(await preflightOf(makePdf(), [signature, below, beside], ["Jane Doe", "Bob"]), 1);
});

describe("a document that can't be signed is refused before it is stored:", () => {
  const cases: [string, string, RegExp][] = [
    [
      "an encrypted document",
      "encrypted-aes-256.pdf",
      /^document can't be signed: it is encrypted\. Found: it needs a/,
    ],
    [
      "one that a certification closes",
      "certified-p1.pdf",
      /signed: its certification \(DocMDP\) forbids changes\. Found/,
    ],
    [
      "one that a signature locked",
      "locked-document.pdf",
      /signed: its certification \(DocMDP\) forbids changes\. Found/,
    ],
    [
      "one that needs repair",
      "broken-lost-revision.pdf",
      /^document can't be signed: it needs repair\. Found: an object ends at/,
    ],
    ["one without pages", "no-pages-tree.pdf", /^document can't be signed: it has no pages\. Found: /],
    ["one that costs too much", "bomb-object-stream.pdf", /^document can't be signed: it is too complex\. Found: /],
    [
      "a signed one, without a place for the signature",
      "signed-once.pdf",
      /signed, and allows no new pages; name a place/,
    ],
  ];
  for (const [what, file, message] of cases)
    test(what, async () => {
      assert.match(await refusal(zooBytes(file)), message);
    });

  test("a field outside its page, or on a missing page, by its index in the list", async () => {
    const wide = { ...signature, x: 600 };
    assert.equal(
      await refusal(makePdf(), [signature, wide]),
      "fields[1] lies outside page 1, which is 612 by 792 points.",
    );
    assert.equal(
      await refusal(makePdf(), [{ ...signature, page: 3 }]),
      "fields[0] is on page 3 of a document with one page.",
    );
  });

  const small = { ...signature, width: 100, height: 20 };
  const text = { ...signature, kind: "text", width: 576, height: 80 } as const;
  const places: [what: string, fields: RequestedField[], message: RegExp][] = [
    [
      "a text wider than its page less 36 points",
      [signature, { ...text, x: 10, y: 100, width: 577 }],
      /^fields\[1\] is 577 points wide, and a text is at most 576 \(page 1\)\.$/,
    ],
    [
      "a field of more than a tenth of its page",
      [signature, { ...text, x: 10, y: 100, height: 100 }],
      /^fields\[1\] takes 12 percent of its page, and at most 10 are allowed \(page 1\)\.$/,
    ],
    [
      "fields of more than 40 percent of a page together",
      [signature, ...[0, 1, 2, 3, 4].map((n) => ({ ...text, x: 10, y: 100 + 81 * n }))],
      /^fields\[5\] brings the fields of its page to 49 percent of it, and at most 40 are allowed \(page 1\)\.$/,
    ],
    [
      "a field on top of another signer's",
      [signature, { ...signature, signer: 2, y: 500 }, { ...small, kind: "date", signer: 2, y: 640 }],
      /^fields\[2\] overlaps fields\[0\], which is a field of signer 1\.$/,
    ],
    [
      "fields of one signer that lie on top of each other",
      [signature, { ...small, kind: "date", y: 610 }],
      /^fields\[1\] overlaps fields\[0\] by \d+ percent of the smaller one, and at most 40 are allowed\.$/,
    ],
    [
      "more than 100 fields on a page",
      [
        signature,
        ...Array.from(
          { length: 100 },
          (_, n) => ({ ...small, kind: "date", width: 8, height: 8, x: 5 * n, y: 9 }) as const,
        ),
      ],
      /^fields\[100\] is more than the 100 fields of page 1\.$/,
    ],
  ];
  for (const [what, fields, message] of places)
    test(`${what}, by its index in the list`, async () => {
      const error = await preflightOf(makePdf(), fields, ["Jane Doe", "Bob"]).catch((reason: unknown) => reason);
      assert.ok(error instanceof ServiceError && error.code === "validation", String(error));
      assert.match(error.message, message);
    });

  test("a document's own signature field that is larger than a signature", async () => {
    const sheet = formWith([{ name: "buyer", rect: "0 0 612 792" }]);
    assert.match(await refusal(sheet), /^document can't be signed: a field is 612 points wide, and a signature is at/);
  });

  test("a tag that requests a place larger than a signature", async () => {
    const tag = makePdf({ text: "{{Sign;type=signature;width=500;height=300}}" });
    assert.match(await refusal(tag), /^document can't be signed: a field is 500 points wide, and a signature is at/);
  });

  test("a text field in a signed document; a signature there is allowed", async () => {
    const signed = zooBytes("signed-once.pdf");
    const small = { ...signature, y: 5, height: 20, width: 40 };
    assert.match(await refusal(signed, [small, { ...small, kind: "date" }]), /^fields\[1\] can't be added: the doc/);
    assert.equal(await preflightOf(signed, [small]), 1);
  });

  test("a visible field in a certified document; without it, everybody signs invisibly", async () => {
    const certified = zooBytes("certified-p2.pdf");
    assert.match(await refusal(certified, [signature]), /^fields\[0\] can't be added: the document is certified, and/);
    assert.ok(await preflightOf(certified, null, ["Jane Doe", "Bob"]));
  });

  test("one so long that signatures would not fit", async () => {
    const long = Buffer.concat([makePdf(), Buffer.alloc(35 * 1024 * 1024 - 4000, "%\n")]);
    assert.match(
      await refusal(long),
      /^document can't be signed: it is too large\. Found: \d+ bytes, where \d+ leave room/,
    );
  });

  test("one for which a worker was killed", async () => {
    const killed = createPreflight({ run: () => Promise.reject(new TaskKilled("time")) });
    const call = { holder: "firm", bytes: makePdf(), sha256: "", signers: ["J"], fields: null };
    await assert.rejects(killed(call), /^ServiceError: document can't be signed: reading it takes too long\.$/);
  });
});

describe("words of a document that people may not see are reported:", () => {
  const below = "BT /F1 16 Tf 80 150 Td (And 1000000 dollars besides. ______) Tj ET";

  test("words below a place of the order, without rules made of characters", async () => {
    assert.deepEqual(await noticesOf(makePdf({ content: below }), [signature]), [
      { code: "text_below_place", page: 1, text: "And 1000000 dollars besides." },
    ]);
    assert.deepEqual(await noticesOf(makePdf({ content: below }), [{ ...signature, y: 500 }]), []);
  });

  test("words that end where a place begins are not reported, and words that reach into it are", async () => {
    const label = makePdf({ content: "BT /F1 10 Tf 80 150 Td (Initials: _____ _____ _____) Tj ET" });
    const initials: RequestedField = { ...signature, kind: "initials", y: 618, width: 27, height: 26 };
    assert.deepEqual(
      await noticesOf(label, [
        { ...signature, y: 300 },
        { ...initials, x: 114 },
      ]),
      [],
    );
    assert.deepEqual(
      await noticesOf(label, [
        { ...signature, y: 300 },
        { ...initials, x: 104 },
      ]),
      [{ code: "text_below_place", page: 1, text: "Initials:" }],
    );
  });

  test("words below a place on a page that is rotated and cropped", async () => {
    const turned = makePdf({ content: below, pageEntries: "/Rotate 90 /CropBox [36 36 576 756]" });
    const place = { ...signature, x: 100, y: 30, width: 40, height: 200 };
    assert.deepEqual(
      await noticesOf(turned, [
        { ...place, kind: "text" },
        { ...signature, x: 400, y: 100 },
      ]),
      [{ code: "text_below_place", page: 1, text: "And 1000000 dollars besides." }],
    );
  });

  test("words below the document's own signature field", async () => {
    const own = formWith([{ name: "buyer", rect: "60 710 260 750" }]);
    assert.deepEqual(await noticesOf(own), [{ code: "text_below_place", page: 1, text: "Page 1 of 1" }]);
  });

  test("not the words of the tag that requests the place", async () => {
    assert.deepEqual(await noticesOf(makePdf({ text: "{{signature, r1}}" })), []);
  });

  for (const [what, content] of [
    ["in no rendering mode", "BT 3 Tr /F1 12 Tf 80 300 Td (I owe a million.) Tj ET"],
    ["white on paper", "q 1 1 1 rg BT /F1 12 Tf 80 300 Td (I owe a million.) Tj ET Q"],
  ] as const)
    test(`text ${what}`, async () => {
      assert.deepEqual(await noticesOf(makePdf({ content })), [
        { code: "hidden_text", page: 1, text: "I owe a million." },
      ]);
    });

  for (const [what, content] of [
    ["in black", "BT /F1 12 Tf 80 300 Td (I owe a million.) Tj ET"],
    ["in white on black", "0 0 0 rg 70 290 200 30 re f 1 1 1 rg BT /F1 12 Tf 80 300 Td (I owe a million.) Tj ET"],
    ["beside the page, which the text view leaves out", "BT /F1 12 Tf 80 900 Td (I owe a million.) Tj ET"],
    ["after a restored rendering mode", "q 3 Tr Q BT /F1 12 Tf 80 300 Td (I owe a million.) Tj ET"],
  ] as const)
    test(`not text ${what}`, async () => {
      assert.deepEqual(await noticesOf(makePdf({ content })), []);
    });

  test("text without ink on each page of a scan, once, with the words of its first page", async () => {
    const content = "BT 3 Tr /F1 12 Tf 80 300 Td (I owe a million.) Tj ET";
    const text = "I owe a million.";
    assert.deepEqual(await noticesOf(makePdf({ pages: 30, content })), [{ code: "hidden_text", page: null, text }]);
    assert.deepEqual(
      (await noticesOf(makePdf({ pages: 3, content }))).map(({ page }) => page),
      [1, 2, 3],
    );
  });

  test("a document that takes too long to read, as partly read: it can be signed", async () => {
    const workers: typeof inlineWorkers = {
      ...inlineWorkers,
      run: (task, call) =>
        task.name === "read the words of a document"
          ? Promise.reject(new TaskKilled("time"))
          : inlineWorkers.run(task, call),
    };
    const call = { holder: "firm", bytes: makePdf({ pages: 2 }), sha256: "0".repeat(64), signers: ["J"], fields: null };
    assert.deepEqual(await createPreflight(workers)(call), {
      pages: 2,
      notices: [{ code: "partly_examined", page: null, text: null }],
      withoutPlace: [1],
      unfit: [],
    });
  });

  test("a document with more pages than the limit, as partly read", async () => {
    assert.deepEqual(await noticesOf(makePdf({ pages: 301 })), [{ code: "partly_examined", page: null, text: null }]);
  });
});

test("refuses print-only content with a sentence about it", async () => {
  const stamp = "<< /Type /Annot /Subtype /Stamp /F 36 /Rect [100 100 300 200] >>";
  assert.equal(
    await refusal(makePdf({ pageEntries: `/Annots [${stamp}]` })),
    "document can't be signed: page 1 has an annotation that is printed and not shown on screens.",
  );
});

test("every document of the zoo can be signed, or is refused with a sentence that gives the reason", async () => {
  let taken = 0;
  for (const { name } of zooFiles())
    try {
      await preflightOf(zooBytes(name));
      taken++;
    } catch (error) {
      assert.ok(error instanceof ServiceError && error.code === "validation", `${name}: ${error}`);
      assert.match(error.message, /^document can't be signed: [ -~]+\.$/, name);
    }
  assert.ok(taken > 70, String(taken));
});

describe("a document that only a notary signs", () => {
  const notarized = (bytes: Buffer, beforeNotary = 1) => {
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    return preflight({ holder: "firm", bytes, sha256, signers: [], fields: null, isNotarized: true, beforeNotary });
  };

  test("is accepted without a notice if it can have an electronic signature", async () => {
    assert.deepEqual(await notarized(makePdf({ pages: 3 })), { pages: 3, notices: [], withoutPlace: [], unfit: [] });
    assert.deepEqual((await notarized(zooBytes("signed-once.pdf"))).notices, []);
  });

  for (const [what, file, why] of [
    ["one that a certification closes", "certified-p1.pdf", /^the certification/],
    ["one that needs repair", "broken-lost-revision.pdf", /^an object ends at/],
    ["one whose form names a field that is missing", "form-missing-field.pdf", /change more than the fields$/],
    ["one with a key that is repeated", "repeated-key.pdf", /change more than the fields$/],
  ] as const)
    test(`is accepted only for ink, with a notice: ${what}`, async () => {
      const [notice, ...others] = (await notarized(zooBytes(file))).notices;
      assert.deepEqual(others, []);
      assert.equal(notice?.code, "ink_only");
      assert.match(notice?.text ?? "", why);
    });

  const annotation = (flags: number) =>
    makePdf({
      pageEntries: `/Annots [<< /Type /Annot /Subtype /Stamp /F ${flags} /AP << >> /Rect [100 100 300 200] >>]`,
    });

  test("is refused if a tag fits none of the people who sign before the notary", async () => {
    const tagged = makePdf({ content: "BT /F1 12 Tf 72 600 Td ({{signature, r2}}) Tj ET" });
    await assert.rejects(
      notarized(tagged),
      (error) =>
        error instanceof ServiceError &&
        error.code === "validation" &&
        /^document can't be notarized: \{\{signature, r2\}\} on page 1 is for signer 2/.test(error.message),
    );
    assert.deepEqual((await notarized(tagged, 2)).notices, []);
  });

  test("is refused if a part of it is only printed", async () => {
    await assert.rejects(
      notarized(annotation(36)),
      (error) =>
        error instanceof ServiceError &&
        error.message ===
          "document can't be notarized: page 1 has an annotation that is printed and not shown on screens.",
    );
  });

  test("is accepted with a notice if a part of it is not printed", async () => {
    assert.deepEqual((await notarized(annotation(0))).notices, [{ code: "screen_only", page: 1, text: null }]);
  });

  for (const [what, file, message] of [
    ["one that needs a password", "encrypted-aes-256.pdf", /^document can't be notarized: it is encrypted\. Found: /],
    ["one without pages", "no-pages-tree.pdf", /^document can't be notarized: it has no pages\. Found: /],
    ["one that costs too much", "bomb-object-stream.pdf", /^document can't be notarized: it is too complex\. Found: /],
  ] as const)
    test(`is refused if people can't open it: ${what}`, async () => {
      await assert.rejects(
        notarized(zooBytes(file)),
        (error) => error instanceof ServiceError && message.test(error.message),
      );
    });
});
