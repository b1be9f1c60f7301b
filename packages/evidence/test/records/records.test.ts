import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { EvidenceError } from "../../src/errors.ts";
import {
  jsonKindOf,
  parseProofRecord,
  parseRoomRecord,
  parseStrictObject,
  recordClaims,
} from "../../src/records/records.ts";
import { chainOf, hash } from "../manifest/manifests.ts";

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const json = (value: unknown): Uint8Array => bytesOf(JSON.stringify(value));
const refuses = (read: () => unknown, message: RegExp) =>
  assert.throws(read, (error) => error instanceof EvidenceError && message.test(error.message));

describe("JSON of a record", () => {
  test("is read as JSON.parse reads it, if all readers read it in the same way", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const bytes = json(value);
        assert.deepEqual(parseStrictObject(bytes, bytes.length), JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  test("is refused with a byte order mark, in another encoding, with a member twice, and when it is not an object", () => {
    const bad = ["\ufeff{}", "[]", '"a"', "null", "7", "", "{", '{"a":1}x', '{"a":1,"a":1}', '{"a":1,"\\u0061":2}'];
    for (const text of [...bad, '{"b":[{"a":{},"c":"}","a":1}]}']) {
      refuses(() => parseStrictObject(bytesOf(text), 100), /JSON/);
    }
    refuses(() => parseStrictObject(Uint8Array.of(0x7b, 0xff, 0x7d), 100), /UTF-8/);
    refuses(() => parseStrictObject(bytesOf('{"a":1}'), 6), /longer than 6 bytes/);
    for (const text of ['{"a":{"a":1},"b":["a","a",{"a":1},{"a":2}]}', '{"\\"a\\":":1,"a":"\\"a\\":"}']) {
      parseStrictObject(bytesOf(text), 100);
    }
  });
});

describe("a record of a proof passport", () => {
  const full = {
    format: 1,
    verifyCode: "a".repeat(26),
    verifyUrl: "https://seal.example/api/passport/verify/x",
    environment: "live",
    status: "sealed",
    docSha256: hash("d"),
    sealedSha256: hash("e"),
    sealedAtUtc: "2026-01-02T03:04:05.678Z",
    timestamps: { rfc3161: null, openTimestamps: null },
  };
  const { format: _, ...before } = full;

  test("is read in its version and as before versions existed, with unknown members", () => {
    for (const record of [full, before, { ...full, more: [] }]) {
      assert.deepEqual(parseProofRecord(json(record)), {
        verifyCode: full.verifyCode,
        sealedSha256: full.sealedSha256,
        docSha256: full.docSha256,
        isTest: false,
      });
    }
    assert.equal(parseProofRecord(json({ ...full, environment: "test" })).isTest, true);
    const { environment: __, status: ___, ...answer } = before;
    assert.equal(parseProofRecord(json({ ...answer, verdict: "verified_test" })).isTest, true);
  });

  test("is refused, naming the member, when one is missing, null or of another type, or the version is another", () => {
    const wrong: Record<string, readonly unknown[]> = {
      format: [0, 2, "1", null, 1.5],
      verifyCode: [undefined, null, "A".repeat(26), "a".repeat(25), 7],
      sealedSha256: [undefined, null, "e".repeat(63), hash("E")],
      docSha256: [undefined, null, 7],
      status: [null, "withdrawn"],
      environment: [undefined, null, "Live", true],
      verdict: [null, "intact"],
    };
    for (const [member, values] of Object.entries(wrong)) {
      for (const value of values) {
        refuses(() => parseProofRecord(json({ ...full, [member]: value })), new RegExp(`: ${member}$`));
      }
    }
  });

  test("is compared with the file and the requested code, and decides nothing without a hash", () => {
    const record = parseProofRecord(json(full));
    const states = (...input: Parameters<typeof recordClaims>) => recordClaims(...input).map(({ state }) => state);
    assert.deepEqual(states(record, full, full.verifyCode), ["holds", "holds", "holds"]);
    assert.deepEqual(states(record, { ...full, docSha256: hash("0") }), ["holds", "fails"]);
    assert.deepEqual(states(record, {}, "b".repeat(26)), ["fails", "unchecked", "unchecked"]);
  });
});

test("a room's record is read with its manifest, and refused when a member is missing, null or of another type", async () => {
  const [v1] = await chainOf(1);
  assert.ok(v1);
  const manifest: unknown = JSON.parse(new TextDecoder().decode(v1.bytes));
  const full = { manifest, manifestSha256: v1.manifestSha256, sealedSha256: hash("e"), version: 1, chainOk: true };
  const read = parseRoomRecord(json({ ...full, branding: null, prevManifestSha256: null }));
  assert.deepEqual(Uint8Array.from(read.manifest), Uint8Array.from(v1.bytes));
  const wrong: Record<string, readonly unknown[]> = {
    format: [2],
    manifestSha256: [undefined, null],
    sealedSha256: [undefined, null],
    version: [undefined, null, "1", 0, 21, 1.5],
    chainOk: [undefined, null, "true", 1],
  };
  for (const [member, values] of Object.entries(wrong)) {
    for (const value of values) {
      refuses(() => parseRoomRecord(json({ ...full, [member]: value })), new RegExp(`: ${member}$`));
    }
  }
  for (const bad of [null, {}, undefined]) {
    refuses(() => parseRoomRecord(json({ ...full, manifest: bad })), /not a closing manifest/);
  }
});

test("JSON files are distinguished by their members", () => {
  const kinds = {
    '{"passport":{},"documents":[]}': "manifest",
    '{"coverage":{}}': "manifest",
    '{"manifest":null,"chainOk":false}': "room_record",
    '{"chainOk":1}': "room_record",
    '{"docSha256":1}': "proof_record",
    '{"verdict":"verified"}': "proof_record",
    '{"name":"x"}': "other",
    "[]": "broken",
    "{": "broken",
  };
  assert.equal(jsonKindOf(bytesOf(`{"passport":{}}${" ".repeat(1024 * 1024)}`)), "other");
  for (const [text, kind] of Object.entries(kinds)) assert.equal(jsonKindOf(bytesOf(text)), kind, text);
});
