import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { python } from "@signsealship/testing/tools/python";
import { needs } from "@signsealship/testing/tools/tools";
import { certifiedName } from "../../src/x509/certified-name.ts";

test("leaves a name with one direction unchanged", () => {
  for (const name of ["Jane Doe", "Zoë Łukasz", "Ἀθηνᾶ Παπαδοπούλου", "محمد علي", "יעל כהן-לוי", "山田 太郎", "นารี"]) {
    assert.equal(certifiedName(name), name);
  }
});

test("writes a mail address that serves as a name in a form that is not an address", () => {
  assert.equal(certifiedName("signer@example.com"), "signer at example.com");
  assert.equal(certifiedName("a@b@c"), "a at b at c");
});

test("escapes the right-to-left characters of a name with both directions, run by run", () => {
  for (const [name, expected] of [
    ["Yael כהן", "Yael U+05DB.05D4.05DF"],
    ["Zoë Łukasz محمد", "Zoë Łukasz U+0645.062D.0645.062F"],
    ["יעל Cohen לוי", "U+05D9.05E2.05DC Cohen U+05DC.05D5.05D9"],
    ["כהן 2", "U+05DB.05D4.05DF 2"],
    ["(כהן)", "(U+05DB.05D4.05DF)"],
    ["דְּ", "U+05D3.05B0.05BC"],
  ] as const) {
    assert.equal(certifiedName(name), expected);
  }
});

test("escapes characters that pyHanko's Unicode 3.2 lacks", () => {
  assert.equal(certifiedName("Jane ẞ Doe 🙂"), "Jane U+1E9E Doe U+1F642");
  assert.equal(certifiedName("\ufffd\ue000"), "U+FFFD.E000");
});

test("cuts a name to 64 characters, before and after escaping", () => {
  assert.equal(certifiedName("x".repeat(65)), "x".repeat(64));
  assert.equal(certifiedName("𠀋".repeat(65)), "𠀋".repeat(64));
  assert.equal(certifiedName(`${"x".repeat(63)}כה`), `${"x".repeat(63)}U`);
  assert.equal(certifiedName(`${"כ".repeat(64)}x`), "כ".repeat(64));
});

test("marks a name that begins like the service's own certificates as a signer's", () => {
  assert.equal(certifiedName("SignSealShip seal sign.example"), "Signer SignSealShip seal sign.example");
  assert.equal(certifiedName("sign-seal-ship"), "Signer sign-seal-ship");
  for (const name of [
    "Sign_Seal_Ship",
    "S\u200bignSealShip seal",
    "ſignSealShip",
    "Ｓｉｇｎ ＳｅａｌＳｈｉｐ",
    "SİgnSealShip",
    "Sígn Seal Ship",
    "Ⓢⓘⓖⓝ SealShip",
    "1SignSealShip",
  ])
    assert.match(certifiedName(name), /^Signer /, name);
  assert.equal(certifiedName("Jane SignSealShip"), "Jane SignSealShip");
});

/**
 * A Python program that prints which of the given names asn1crypto refuses. pyHanko does not trust a certificate with
 * such a name. asn1crypto prepares names by RFC 4518.
 */
const prepare = `
import json, sys
from asn1crypto.x509 import NameTypeAndValue
def refusal(text):
    try:
        NameTypeAndValue()._ldap_string_prep(text)
    except ValueError as error:
        return str(error)
names = json.load(sys.stdin)
json.dump([name for name in names if refusal(name)], sys.stdout)
`;

function refusedByPyHanko(names: readonly string[]): string[] {
  const run = spawnSync(python, ["-c", prepare], {
    input: JSON.stringify(names),
    encoding: "utf8",
    maxBuffer: 2 ** 30,
  });
  if (run.status !== 0) throw new Error(`asn1crypto: ${run.error ?? run.stderr}`);
  return JSON.parse(run.stdout);
}

test(
  "writes every character so that pyHanko accepts the name, alone and among letters of both directions",
  needs("pyhanko"),
  () => {
    const names: string[] = [];
    for (let code = 0x20; code < 0x20000; code++) {
      if (code >= 0xd800 && code <= 0xdfff) continue;
      const character = String.fromCodePoint(code);
      names.push(character, `כ${character}ה`, `a${character}م`);
    }
    assert.deepEqual(refusedByPyHanko(names.map(certifiedName)), []);
    assert.deepEqual(refusedByPyHanko(["Yael כהן", "Zoë Łukasz محمد", "🙂"]), ["Yael כהן", "Zoë Łukasz محمد", "🙂"]);
  },
);
