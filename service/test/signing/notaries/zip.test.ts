import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, statSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { forTests } from "@signsealship/testing/for-tests";
import { temporaryFolder } from "@signsealship/testing/temporary-folder";
import { testsNeeding } from "@signsealship/testing/tools/tools";
import { type Entry, zipLength, zipped } from "../../../src/signing/notaries/recordings/zip.ts";

const { test } = testsNeeding("unzip");

const folder = await forTests(temporaryFolder());
const file = (name: string, text: string): Entry => {
  const bytes = Buffer.from(text);
  return { name, length: bytes.length, bytes: () => [bytes] };
};
const accepts = (path: string): string => execFileSync("unzip", ["-tq", path], { encoding: "utf8" });

test("a file of more than 4 GiB, and a file that begins after 4 GiB, are read by another program", async () => {
  const zeros = Buffer.alloc(16 * 1024 * 1024);
  const ends = Buffer.from("end of the take");
  const count = 257;
  const large = {
    name: "takes/1.webm",
    length: count * zeros.length + ends.length,
    *bytes() {
      for (let n = 0; n < count; n++) yield zeros;
      yield ends;
    },
  };
  const entries = [file("recording.json", "{}"), large, file("contents.json", "[1]")];
  const path = join(folder.path, "large.zip");
  const target = await open(path, "w");
  let at = 0;
  for await (const piece of zipped(entries)) {
    // The zeros become a hole of the file, which takes no room on the disk.
    if (piece !== zeros) await target.write(piece, 0, piece.length, at);
    at += piece.length;
  }
  const end = Buffer.alloc(1_000);
  const reading = await open(path, "r");
  await reading.read(end, 0, end.length, at - end.length);
  await reading.close();
  // The name is the 47th byte of an entry of the directory, and the version that is needed to read it the 7th.
  assert.equal(end.readUInt16LE(end.lastIndexOf("contents.json") - 46 + 6), 45);
  await target.close();
  assert.equal(at, zipLength(entries));
  const { size, blocks } = statSync(path);
  assert.ok(size === at && size > 2 ** 32 && blocks * 512 < 1_000_000);
  assert.match(accepts(path), /No errors detected/);
  assert.equal(execFileSync("unzip", ["-p", path, "contents.json"], { encoding: "utf8" }), "[1]");
  assert.match(execFileSync("unzip", ["-l", path], { encoding: "utf8" }), new RegExp(`${large.length} .*takes/1.webm`));
});

test("more than 65,535 files are read by another program", async () => {
  const entries = Array.from({ length: 66_000 }, (_, n) => file(`recordings/${n}/chain.jsonl`, ""));
  const path = join(folder.path, "many.zip");
  const target = createWriteStream(path);
  let length = 0;
  for await (const piece of zipped(entries)) {
    length += piece.length;
    target.write(piece);
  }
  target.end();
  await once(target, "close");
  assert.equal(length, zipLength(entries));
  assert.match(accepts(path), /No errors detected/);
  assert.match(execFileSync("unzip", ["-l", path], { encoding: "utf8", maxBuffer: 1 << 26 }), /66000 files/);
});

test("a small zip has no 64-bit extension, and a file that ends early is stored as it is", async () => {
  const early = { ...file("takes/2.webm", "half"), length: 8 };
  const path = join(folder.path, "small.zip");
  const pieces: Buffer[] = [];
  for await (const piece of zipped([file("recording.json", "{}"), early])) pieces.push(piece);
  const bytes = Buffer.concat(pieces);
  for (const mark of ["504b0606", "504b0607"]) assert.equal(bytes.includes(Buffer.from(mark, "hex")), false);
  const target = await open(path, "w");
  await target.write(bytes);
  await target.close();
  assert.match(accepts(path), /No errors detected/);
  assert.equal(execFileSync("unzip", ["-p", path, "takes/2.webm"], { encoding: "utf8" }), "half");
});
