import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, statSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { forTests } from "@signsealship/testing/for-tests";
import { temporaryFolder } from "@signsealship/testing/temporary-folder";
import { testsNeeding } from "@signsealship/testing/tools/tools";
import { type Entry, zipLength, zipped } from "../../../../src/signing/notaries/recordings/zip.ts";

const { test } = testsNeeding("unzip");

const folder = await forTests(temporaryFolder());
const file = (name: string, text: string): Entry => {
  const bytes = Buffer.from(text);
  return { name, length: bytes.length, bytes: () => [bytes] };
};
async function rangeOf(entries: readonly Entry[], range?: { first: number; last: number }): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of zipped(entries, range)) pieces.push(piece);
  return Buffer.concat(pieces);
}
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
    // Does not write the zeros. They become a hole in the file, which needs no disk space.
    if (piece.buffer !== zeros.buffer) await target.write(piece, 0, piece.length, at);
    at += piece.length;
  }
  const end = Buffer.alloc(1_000);
  const reading = await open(path, "r");
  await reading.read(end, 0, end.length, at - end.length);
  await reading.close();
  // In a directory entry, the file name begins at byte 46, and the version that a reader needs is at byte 6.
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

test("a small zip has no 64-bit extension, and a file of another length is refused", async () => {
  const bytes = await rangeOf([file("recording.json", "{}")]);
  for (const mark of ["504b0606", "504b0607"]) assert.equal(bytes.includes(Buffer.from(mark, "hex")), false);
  const whole = file("takes/2.webm", "half");
  for (const length of [3, 8])
    await assert.rejects(rangeOf([{ ...whole, length }]), /takes\/2.webm has another length or checksum/);
});

test("any range has the bytes of the whole zip there, and reads only the files in it and those whose checksum is not known", async () => {
  const read: string[] = [];
  const sums = new Map<string, number>();
  const entries = (): Entry[] =>
    ["one", "two", "three"].map((name) => ({
      ...file(name, `the text of ${name}`),
      bytes: () => {
        read.push(name);
        return [Buffer.from("the text "), Buffer.from(`of ${name}`)];
      },
      sum: sums.get(name) ?? null,
      summed: async (sum) => void sums.set(name, sum),
    }));
  const whole = await rangeOf(entries());
  assert.deepEqual([read.splice(0), sums.size], [["one", "two", "three"], 3]);
  for (let first = 0; first < whole.length; first++)
    for (const last of [first, first + 20, whole.length - 1])
      assert.deepEqual(await rangeOf(entries(), { first, last }), whole.subarray(first, last + 1));
  read.splice(0);
  await rangeOf(entries(), { first: whole.indexOf("text of two"), last: whole.indexOf("text of two") });
  assert.deepEqual(read, ["two"]);
  sums.delete("one");
  await rangeOf(entries(), { first: whole.length - 1, last: whole.length - 1 });
  assert.deepEqual(read, ["two", "one"]);
  sums.set("one", 7);
  await assert.rejects(rangeOf(entries()), /one has another length or checksum/);
});
