import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { childrenOf, contentOf, type DerNode, MAX_DEPTH, readDer, readDerPrefix } from "../../src/asn1/der.ts";
import { decodeOid, encodeOid } from "../../src/asn1/oid.ts";
import { readTime } from "../../src/asn1/time.ts";
import {
  readBitString,
  readBoolean,
  readInteger,
  readNamedBits,
  readSmallInteger,
  readText,
} from "../../src/asn1/values.ts";
import * as der from "../../src/asn1/writer.ts";
import { toHex } from "../../src/bytes.ts";

const hex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text.replaceAll(" ", ""), "hex"));
const node = (text: string): DerNode => readDer(hex(text));
const written = (value: der.DerValue): string => toHex(der.encode(value));

const REFUSED: readonly (readonly [what: string, bytes: string, code: string])[] = [
  ["nothing at all", "", "der"],
  ["a tag without a length", "30", "der"],
  ["content that is cut off", "0403 0102", "der"],
  ["a length that is cut off", "0482 01", "der"],
  ["bytes after the value", "0500 00", "der"],
  ["a long length that fits the short form", `0481 05 ${"00".repeat(5)}`, "der"],
  ["a long length with a leading zero", `0482 0080 ${"00".repeat(128)}`, "der"],
  ["a length of five octets", "0485 0000000001 00", "der"],
  ["a length over the input", "0484 ffffffff", "der"],
  ["the reserved tag", "0000", "der"],
  ["an indefinite length", "3080 0500 0000", "unsupported"],
  ["a tag number over 30", "1f8101 00", "unsupported"],
];
for (const [what, bytes, code] of REFUSED)
  test(`refuses ${what}`, () => assert.throws(() => readDer(hex(bytes)), { name: "EvidenceError", code }));

test("refuses a part that extends beyond the end of the whole", () => {
  assert.throws(() => childrenOf(node("3003 040201")), { code: "der" });
  assert.throws(() => childrenOf(node("3003 040205")), { code: "der" });
});

test("refuses the parts of a primitive value", () => {
  assert.throws(() => childrenOf(node("0402 0500")), { code: "der" });
});

test("stops at its maximum depth and not earlier", () => {
  let value = der.nullValue;
  for (let i = 0; i < MAX_DEPTH; i++) value = der.sequence(value);
  const descend = (start: DerNode): void => {
    for (let at: DerNode | undefined = start; at?.tag === 0x30; ) at = childrenOf(at)[0];
  };
  descend(readDer(der.encode(value)));
  assert.throws(() => descend(readDer(der.encode(der.sequence(value)))), { code: "limit" });
});

test("reads the value at the front and leaves the rest", () => {
  assert.equal(readDerPrefix(hex("0401aa ffff")).end, 3);
});

test("views the content without a copy", () => {
  const bytes = hex("0402 0102");
  assert.equal(contentOf(readDer(bytes)).buffer, bytes.buffer);
});

test("refuses values that are not canonical", () => {
  for (const bytes of ["0200", "02020001", "0202ffff", "0a01"])
    assert.throws(() => readInteger(node(bytes)), { code: "der" });
  for (const bytes of ["010101", "0100", "0102ffff"]) assert.throws(() => readBoolean(node(bytes)), { code: "der" });
  for (const bytes of ["0300", "030108", "030101", "03020101"])
    assert.throws(() => readBitString(node(bytes)), { code: "der" });
  for (const bytes of ["0201ff", "02050100000000"]) assert.throws(() => readSmallInteger(node(bytes)), { code: "der" });
});

test("reads named bits by number", () => {
  assert.deepEqual(readNamedBits(node("0303 07 0280")), [6, 8]);
});

test("reads every character string type", () => {
  assert.equal(readText(node("0c02 c3a9")), "é");
  assert.equal(readText(node("1302 4142")), "AB");
  assert.equal(readText(node("1e04 00e9 0041")), "éA");
  assert.equal(readText(node("1c04 0001f600")), "😀");
  assert.throws(() => readText(node("1e03 00e900")), { code: "der" });
  assert.throws(() => readText(node("0402 4142")), { code: "der" });
});

const time = (tag: string, text: string): number =>
  readTime(node(`${tag}${Buffer.from([text.length]).toString("hex")}${Buffer.from(text).toString("hex")}`));

test("reads both forms of time", () => {
  assert.equal(time("17", "491231235959Z"), Date.UTC(2049, 11, 31, 23, 59, 59));
  assert.equal(time("17", "500101000000Z"), Date.UTC(1950, 0, 1));
  assert.equal(time("18", "20240229120000.125Z"), Date.UTC(2024, 1, 29, 12, 0, 0, 125));
  assert.equal(time("18", "20240229120000.000005Z"), Date.UTC(2024, 1, 29, 12));
});

for (const [tag, text] of [
  ["17", "4912312359Z"],
  ["17", "491231235959+0000"],
  ["17", "491331235959Z"],
  ["17", "230229000000Z"],
  ["17", "491231245959Z"],
  ["18", "20240229120000"],
  ["18", "20240229120000.Z"],
  ["18", "20240229120000.10Z"],
  ["18", "20240229120060Z"],
  ["18", "202402291200Z"],
] as const)
  test(`refuses the time ${text}`, () => assert.throws(() => time(tag, text), { code: "der" }));

test("writes the encodings that the standard shows", () => {
  assert.equal(written(der.integer(0)), "020100");
  assert.equal(written(der.integer(127)), "02017f");
  assert.equal(written(der.integer(128)), "02020080");
  assert.equal(written(der.integer(-1)), "0201ff");
  assert.equal(written(der.integer(-129)), "0202ff7f");
  assert.equal(written(der.integer(hex("00ff"))), "020200ff");
  assert.equal(written(der.integer(hex(""))), "020100");
  assert.equal(written(der.boolean(true)), "0101ff");
  assert.equal(written(der.oid("1.2.840.113549")), "06062a864886f70d");
  const uuid = "2.25.329800735698586629295641978511506172918";
  assert.equal(written(der.oid(uuid)), "0614" + "6983f09da7ebcfdee0c7a1a7b2c0948cc8f9d776");
  assert.equal(written(der.bitString(hex("80"), 7)), "03020780");
  assert.equal(written(der.explicit(0, der.integer(1))), "a003020101");
  assert.equal(written(der.implicit(1, der.octetString(hex("aa")))), "8101aa");
  assert.equal(written(der.implicit(0, der.raw(der.encode(der.set(der.nullValue))))), "a0020500");
  assert.equal(written(der.octetStringOf(der.nullValue)), "04020500");
  assert.equal(written(der.setOf([der.integer(300), der.integer(2), der.integer(1)])), "310a020101020102" + "0202012c");
  assert.equal(written(der.time(Date.UTC(2049, 11, 31))), `170d${Buffer.from("491231000000Z").toString("hex")}`);
  assert.equal(written(der.time(Date.UTC(2050, 0, 1))), `180f${Buffer.from("20500101000000Z").toString("hex")}`);
});

for (const dotted of ["", "1", "3.1", "1.40", "1.2.", "1.02", "1.-2", "1.2e3", "a.b", `1.2.${2n ** 128n}`, "2.25.1n"])
  test(`refuses to write an object identifier from "${dotted}"`, () =>
    assert.throws(() => encodeOid(dotted), { code: "der" }));

for (const content of ["", "80", "2a80", "2a8001", "2a86", `2a84${"80".repeat(17)}00`, `2a81${"80".repeat(30)}00`])
  test(`refuses to read an object identifier from "${content}"`, () =>
    assert.throws(() => decodeOid(hex(content)), { code: "der" }));

const arc = fc.oneof(
  fc.nat(200),
  fc.integer({ min: 0, max: 2 ** 44 }),
  fc.bigInt({ min: 0n, max: 2n ** 128n - 1n }),
  fc.constantFrom(2n ** 45n, 2n ** 45n + 1n, 2n ** 128n - 1n),
);
const arcBelowRoot = fc.oneof(fc.nat(200), fc.bigInt({ min: 0n, max: 2n ** 128n - 81n }));
const dottedOid = fc
  .oneof(
    fc.tuple(fc.constantFrom(0, 1), fc.nat(39), fc.array(arc, { maxLength: 3 })),
    fc.tuple(fc.constant(2), arcBelowRoot, fc.array(arc, { maxLength: 2 })),
  )
  .map(([root, second, rest]) => [root, second, ...rest].join("."));

test("reads back the object identifiers that it wrote", () => {
  fc.assert(fc.property(dottedOid, (dotted) => assert.equal(decodeOid(encodeOid(dotted)), dotted)));
});

test("reads back the whole numbers that it wrote", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 90n), max: 2n ** 90n }), (value) => {
      const content = readInteger(readDer(der.encode(der.integer(value))));
      assert.equal(BigInt.asIntN(content.length * 8, BigInt(`0x${toHex(content)}`)), value);
    }),
  );
});

test("reads back the instants that it wrote", () => {
  const seconds = fc.integer({ min: -2_000_000_000, max: 200_000_000_000 });
  fc.assert(fc.property(seconds, (at) => assert.equal(readTime(readDer(der.encode(der.time(at * 1000)))), at * 1000)));
});

type Shape = Uint8Array | readonly Shape[];
const shape = fc.letrec<{ shape: Shape }>((tie) => ({
  shape: fc.oneof({ maxDepth: 6 }, fc.uint8Array({ maxLength: 200 }), fc.array(tie("shape"), { maxLength: 5 })),
})).shape;
const write = (value: Shape): der.DerValue =>
  value instanceof Uint8Array ? der.octetString(value) : der.sequence(...value.map(write));
const read = (at: DerNode): Shape => (at.tag === 0x30 ? childrenOf(at).map(read) : contentOf(at));

test("reads back the nested values that it wrote", () => {
  fc.assert(fc.property(shape, (value) => assert.deepEqual(read(readDer(der.encode(write(value)))), value)));
});
