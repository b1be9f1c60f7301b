import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { toHex } from "../../src/bytes.ts";
import { fromHex, isSha256Hex, sha1, sha256, sha256Hex } from "../../src/digest.ts";
import { keccak256 } from "../../src/ots/keccak256.ts";
import { ripemd160 } from "../../src/ots/ripemd160.ts";

const ascii = (text: string) => new TextEncoder().encode(text);

test("RIPEMD-160 gives the digests its authors published", () => {
  const published = [
    ["", "9c1185a5c5e9fc54612808977ee8f548b2258d31"],
    ["a", "0bdc9d2d256b3ee9daae347be6f4dc835a467ffe"],
    ["abc", "8eb208f7e05d987a9b044a8e98c6b087f15a0bfc"],
    ["message digest", "5d0689ef49d2fae572b881b123a85ffa21595f36"],
    ["abcdefghijklmnopqrstuvwxyz", "f71c27109c692c1b56bbdceb5b9d2865b3708dbc"],
    ["abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", "12a053384a9c0c88e405a06c27dcf49ada62eb2b"],
    ["1234567890".repeat(8), "9b752e45573d4b39f4dbd3323cab82bf63326bfb"],
    ["a".repeat(1_000_000), "52783243c1697bdbe16d37f97f68f08325dc1528"],
  ] as const;
  for (const [text, digest] of published) assert.equal(toHex(ripemd160(ascii(text))), digest);
});

test("RIPEMD-160 agrees with OpenSSL on every length over three blocks", () => {
  for (let length = 0; length < 200; length++) {
    const bytes = Uint8Array.from({ length }, (_, i) => (i * 37 + length) & 0xff);
    assert.equal(toHex(ripemd160(bytes)), createHash("ripemd160").update(bytes).digest("hex"));
  }
});

test("Keccak-256 gives the published digests of the padding before FIPS 202", () => {
  const published = [
    ["", "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470"],
    ["abc", "4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45"],
    ["testing", "5f16f4c7f149ac4f9510d9cf8cf384038ad348b3bcdc01915f95de12df9d1b02"],
    [
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "45d3b367a6904e6e8d502ee04999a7c27647f91fa845d456525fd352ae3d7371",
    ],
  ] as const;
  for (const [text, digest] of published) assert.equal(toHex(keccak256(ascii(text))), digest);
});

test("the Web Crypto digests are those of FIPS 180-4, shared memory included", async () => {
  assert.equal(toHex(await sha1(ascii("abc"))), "a9993e364706816aba3e25717850c26c9cd0d89d");
  const abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
  assert.equal(await sha256Hex(ascii("abc")), abc);
  const shared = new Uint8Array(new SharedArrayBuffer(3));
  shared.set(ascii("abc"));
  assert.equal(toHex(await sha256(shared)), abc);
});

test("hex is lowercase, of even length and nothing else", () => {
  assert.deepEqual(fromHex("00ff10", "ots"), Uint8Array.of(0, 255, 16));
  for (const bad of ["0", "0G", "FF", " 00", "0x00", "é0"]) {
    assert.throws(() => fromHex(bad, "ots"), { name: "EvidenceError", code: "ots" });
  }
  assert.equal(isSha256Hex("a".repeat(64)), true);
  for (const bad of ["a".repeat(63), "A".repeat(64), `${"a".repeat(64)}\n`, null, 1])
    assert.equal(isSha256Hex(bad), false);
});
