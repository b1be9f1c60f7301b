import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parsePkcs11Uri } from "../../../../src/evidence/seals/keys/pkcs11-uri.ts";
import { SealKeyError } from "../../../../src/evidence/seals/keys/seal-key.ts";

test("reads every attribute that finds a key, percent-encoded or not", () => {
  const uri =
    "pkcs11:token=seal%20token;serial=01;manufacturer=M%3B1;model=v2;slot-id=7;object=k;id=%00%ffA;type=private;x-own=1" +
    "?module-path=/usr/lib/m.so&pin-source=file:/run/pin";
  assert.deepEqual(parsePkcs11Uri(uri), {
    token: "seal token",
    serial: "01",
    manufacturer: "M;1",
    model: "v2",
    slotId: 7,
    object: "k",
    id: Buffer.from([0x00, 0xff, 0x41]),
    modulePath: "/usr/lib/m.so",
    pinSource: "file:/run/pin",
  });
});

test("omits absent attributes", () => {
  assert.deepEqual(parsePkcs11Uri("pkcs11:object=k?module-path=m&pin-value=12%2634"), {
    object: "k",
    modulePath: "m",
    pinValue: "12&34",
  });
});

for (const [why, uri] of [
  ["another scheme", "pkcs12:object=k?module-path=m"],
  ["no module", "pkcs11:object=k"],
  ["neither object nor id", "pkcs11:token=t?module-path=m"],
  ["an attribute that is not known", "pkcs11:object=k;colour=red?module-path=m"],
  ["a query attribute that is not known", "pkcs11:object=k?module-path=m&module-name=n"],
  ["an attribute given twice", "pkcs11:object=k;object=l?module-path=m"],
  ["an attribute without a value", "pkcs11:object?module-path=m"],
  ["broken percent-encoding", "pkcs11:object=%4?module-path=m"],
  ["another type of object", "pkcs11:object=k;type=cert?module-path=m"],
  ["a slot that is no number", "pkcs11:object=k;slot-id=one?module-path=m"],
  ["a PIN from a command", "pkcs11:object=k?module-path=m&pin-source=|/bin/pin"],
] as const) {
  test(`refuses ${why}`, () => {
    assert.throws(
      () => parsePkcs11Uri(uri),
      (error) => error instanceof SealKeyError && ["bad-uri", "not-supported"].includes(error.code),
    );
  });
}

test("reads any label and id back from their percent-encoding", () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1, unit: "grapheme" }), fc.uint8Array({ minLength: 1 }), (object, id) => {
      const bytes = Array.from(id, (byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
      const read = parsePkcs11Uri(`pkcs11:object=${encodeURIComponent(object)};id=${bytes}?module-path=m`);
      assert.equal(read.object, object);
      assert.deepEqual(Uint8Array.from(read.id ?? []), id);
    }),
  );
});

test("throws only its own error on any text", () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (path, query) => {
      try {
        parsePkcs11Uri(`pkcs11:${path}?module-path=m&${query}`);
      } catch (error) {
        assert.ok(error instanceof SealKeyError);
      }
    }),
  );
});
