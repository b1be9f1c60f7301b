import assert from "node:assert/strict";
import { createCipheriv, createHash } from "node:crypto";
import { describe, test } from "node:test";
import { fuzzRuns } from "@signsealship/testing/inputs/fuzz";
import { zooBytes, zooFiles } from "@signsealship/testing/inputs/zoo";
import fc from "fast-check";
import { toHex } from "../../src/bytes.ts";
import { EvidenceError } from "../../src/errors.ts";
import { dictionaryIn, itemsIn, openDocument, resolve } from "../../src/pdf/document.ts";
import { decryptAesCbc, withoutPadding } from "../../src/pdf/encryption/aes.ts";
import { md5 } from "../../src/pdf/encryption/md5.ts";
import { rc4 } from "../../src/pdf/encryption/rc4.ts";
import { openUnlocked } from "../../src/pdf/encryption/unlock.ts";
import { sameValue } from "../../src/pdf/same-value.ts";
import { findSignatures } from "../../src/pdf/signatures.ts";
import { stringText } from "../../src/pdf/text.ts";
import { mutate, randomFrom } from "../mutate.ts";

const ascii = (text: string) => new TextEncoder().encode(text);

describe("the ciphers that Web Crypto lacks", () => {
  test("MD5 agrees with OpenSSL on every length", () => {
    for (let length = 0; length < 200; length++) {
      const bytes = Uint8Array.from({ length }, (_, i) => (i * 37 + length) & 255);
      assert.equal(toHex(md5(bytes)), createHash("md5").update(bytes).digest("hex"));
    }
  });

  test("RC4 gives the published examples", () => {
    assert.equal(toHex(rc4(ascii("Key"), ascii("Plaintext"))), "bbf316e8d940af0ad3");
    assert.equal(toHex(rc4(ascii("Wiki"), ascii("pedia"))), "1021bf0420");
    assert.equal(toHex(rc4(ascii("Secret"), ascii("Attack at dawn"))), "45a01f645fc35b383552544b9bf5");
  });

  test("AES-CBC gives back what OpenSSL encrypted, with keys of both lengths", () => {
    const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
    fc.assert(
      fc.property(
        fc.constantFrom(16, 32).chain(bytes),
        bytes(16),
        fc.uint8Array({ maxLength: 100 }),
        (key, iv, clear) => {
          const cipher = createCipheriv(`aes-${8 * key.length}-cbc`, key, iv);
          const encrypted = Buffer.concat([cipher.update(clear), cipher.final()]);
          assert.deepEqual(withoutPadding(decryptAesCbc(key, iv, encrypted)), clear);
        },
      ),
    );
  });

  test("data without PKCS#7 padding is recognized", () => {
    for (const end of [[0], [17], [1, 2], [3, 3]]) assert.equal(withoutPadding(Uint8Array.from([9, ...end])), null);
    assert.equal(withoutPadding(new Uint8Array(0)), null);
  });
});

/** The text of /V in the first form field. */
async function fieldValue(name: string): Promise<string | undefined> {
  const document = await openUnlocked(zooBytes(name));
  const catalog = dictionaryIn(document, document.trailer, "Root");
  const form = catalog && dictionaryIn(document, catalog, "AcroForm");
  const [field] = form ? itemsIn(document, form, "Fields") : [];
  const widget = resolve(document, field);
  const value = widget?.kind === "dictionary" ? widget.entries.get("V") : undefined;
  return value?.kind === "string" ? stringText(value) : undefined;
}

describe("an encrypted document that the empty password opens", () => {
  for (const kind of ["rc4-40", "rc4-128", "rc4-crypt-filter", "aes-128", "plain-metadata", "aes-256", "aes-256-r5"]) {
    test(`is read: ${kind}`, async () => {
      assert.equal(await fieldValue(`encrypted-open-${kind}.pdf`), "Ada");
    });
  }

  for (const kind of ["rc4", "aes-128", "aes-256"]) {
    test(`is read through its object streams, whose strings are not encrypted again: ${kind}`, async () => {
      const document = await openUnlocked(zooBytes(`encrypted-open-${kind}-object-streams.pdf`));
      const catalog = dictionaryIn(document, document.trailer, "Root");
      const form = catalog && dictionaryIn(document, catalog, "AcroForm");
      const texts = ["DA", "X", "Y"].map((key) => {
        const value = form?.entries.get(key);
        return value?.kind === "string" && value.decrypt === undefined ? stringText(value) : undefined;
      });
      assert.deepEqual(texts, ["/F 10 Tf 0 g", "a)>>(b)endobj", "A@"]);
    });
  }

  test("when opened without its key, gives neither strings nor the contents of object streams", () => {
    const locked = openDocument(zooBytes("encrypted-open-aes-256.pdf"));
    const catalog = dictionaryIn(locked, locked.trailer, "Root");
    const form = catalog && dictionaryIn(locked, catalog, "AcroForm");
    const value = form?.entries.get("DA");
    assert.equal(value?.kind, "string");
    assert.throws(() => value?.kind === "string" && stringText(value), { code: "unsupported" });
    const streams = openDocument(zooBytes("encrypted-open-aes-256-object-streams.pdf"));
    const root = dictionaryIn(streams, streams.trailer, "Root");
    assert.throws(() => root && dictionaryIn(streams, root, "AcroForm"), { code: "unsupported" });
  });

  test("has equal strings when their meaning is equal", async () => {
    const [one, other] = await Promise.all(
      ["rc4-128", "aes-256"].map(async (kind) => {
        const document = await openUnlocked(zooBytes(`encrypted-open-${kind}.pdf`));
        const catalog = dictionaryIn(document, document.trailer, "Root");
        return catalog && dictionaryIn(document, catalog, "AcroForm")?.entries.get("DA");
      }),
    );
    assert.ok(one && sameValue(one, other));
    assert.ok(!sameValue(one, other?.kind === "string" ? { ...other, decrypt: undefined } : other));
  });
});

test("an encrypted document is refused when it needs a password, another handler or an unknown version", async () => {
  const whys: Record<string, RegExp> = {
    "encrypted-aes-128.pdf": /with a password/,
    "encrypted-aes-256.pdf": /with a password/,
    "encrypted-public-key.pdf": /another handler/,
    "encrypted-unpublished.pdf": /version 3/,
    "encrypted-by-trailer.pdf": /version 1, revision 2/,
    "encrypted-missing.pdf": /no dictionary/,
  };
  for (const [name, message] of Object.entries(whys)) {
    await assert.rejects(openUnlocked(zooBytes(name)), { name: "EvidenceError", message }, name);
  }
});

const rounds = fuzzRuns(4000);
test(`${rounds.toLocaleString("en")} damaged encrypted files are read, or refused only with the package's own error`, async () => {
  const random = randomFrom(4242);
  const sources = zooFiles()
    .filter(({ name }) => name.startsWith("encrypted-"))
    .map(({ name }) => Uint8Array.from(zooBytes(name)));
  let read = 0;
  for (let round = 0; round < rounds; round++) {
    const source = sources[round % sources.length] ?? new Uint8Array(0);
    try {
      const document = await openUnlocked(mutate(source, random));
      findSignatures(document);
      for (let number = 1; number < 12; number++) {
        const value = resolve(document, { kind: "reference", number, generation: 0, start: 0, end: 0 });
        const strings = value?.kind === "dictionary" ? [...value.entries.values()] : [];
        for (const string of strings) if (string.kind === "string") stringText(string);
      }
      read++;
    } catch (error) {
      assert.ok(error instanceof EvidenceError, `round ${round}: ${error instanceof Error ? error.stack : error}`);
    }
  }
  assert.ok(read > rounds / 40, `${read} read`);
});

test("derives the key of a file once, however often the file is opened", async () => {
  const bytes = Uint8Array.from(zooBytes("encrypted-open-aes-256.pdf"));
  const first = await openUnlocked(bytes);
  const left = first.budget.left;
  const again = await openUnlocked(bytes, first);
  const keyCost = 1024 * 1024;
  assert.ok(left - again.budget.left < keyCost);
  assert.ok((await openUnlocked(bytes)).budget.left < again.budget.left + keyCost);
  assert.equal(again.keys.size, 1);
});
