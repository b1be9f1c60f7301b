import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { anyCharacter } from "@signsealship/testing/inputs/any-character";
import { python } from "@signsealship/testing/tools/python";
import { needs } from "@signsealship/testing/tools/tools";
import fc from "fast-check";
import { openRoomsService } from "../rooms/rooms-service.ts";
import { detached, download, sealRoom, sha256, verify } from "./seal-room.ts";

const running = await forTests(openRoomsService());
const acme = await running.partner("ClosingDesk");
const orderCode = await acme.order();

const script = `
import json, sys
for line in sys.stdin:
    print(json.dumps(json.loads(line), sort_keys=True, separators=(",", ":")))
`;

const nasty = [
  'quotes " and \\ and / and </script>',
  "x\u00a0\u00ad\u2028\u2029\ufeff",
  "\u202eexe.fdp \u2066x\u2069",
  "Ünïcodé 売買 عقد שטר 🏠👨‍👩‍👧🇺🇸",
  "\u{10ffff}\u{1f3e0}\ue000\uffff",
  "\ufb01 ﬁ \u0041\u030a Å ẛ̣",
  '"prevManifestSha256":null,',
  "'; DROP TABLE rooms; --",
  "\\u0041 \\u{41} %41 &amp; $x",
];

/** Any text that the API accepts. The API refuses control characters, lone surrogates and U+FFFD. */
const text = fc
  .string({ unit: anyCharacter, minLength: 1, maxLength: 60 })
  .map((any) => any.replace(/[\p{Cc}\p{Cs}\ufffd]/gu, "").trim())
  .filter((any) => any !== "");

async function sealed(name: string, reference: string, label: string) {
  const { roomCode } = await acme.ok<{ roomCode: string }>("POST", "/api/rooms", { name, reference });
  await acme.ok("POST", `/api/rooms/${roomCode}/orders`, { orderCode, label });
  return sealRoom(acme, roomCode);
}

test("jq, Python and the PDF give the hashed bytes, whatever the names", needs("jq", "python", "poppler"), async () => {
  const names = [...nasty, ...fc.sample(text, { numRuns: 24, seed: 7 })];
  const versions = [];
  for (const [index, name] of names.entries()) {
    const [reference = "", label = ""] = [names[(index + 1) % names.length], names[(index + 2) % names.length]];
    const { verifyCode, manifestSha256 } = await sealed(name, reference, label);
    const pdf = await download(running.service.baseUrl, verifyCode);
    const verification = await verify(running.service.baseUrl, verifyCode);
    assert.equal(verification.chainOk, true);
    assert.equal(verification.manifest.passport.roomName, name.trim());
    assert.equal(verification.manifest.documents[0]?.label, label.trim());
    versions.push({ manifestSha256, manifest: verification.manifest, pdf });
  }
  const input = versions.map(({ manifest }) => JSON.stringify(manifest)).join("\n");
  const jq = execFileSync("jq", ["-Sca", "."], { input, encoding: "utf8" }).trimEnd().split("\n");
  const py = execFileSync(python, ["-c", script], { input, encoding: "utf8" }).trimEnd().split("\n");
  assert.deepEqual(
    jq.map(sha256),
    versions.map((version) => version.manifestSha256),
  );
  assert.deepEqual(py, jq);
  for (const [index, { pdf }] of versions.entries()) {
    if (index % 7 === 0) assert.equal(detached(pdf).toString("latin1"), jq[index]);
  }
});

test("a lone surrogate is refused at once", async () => {
  const lone = '{"name":"12 Elm \\ud83c Street"}';
  assert.match(await acme.refused(400, "POST", "/api/rooms", lone), /^name must be UTF-8/);
});
