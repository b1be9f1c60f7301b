import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { crc32, deflateSync, inflateSync } from "node:zlib";
import { needs } from "@signsealship/testing/tools/tools";
import { inlineWorkers } from "../../../src/kernel/platform/workers/inline.ts";
import { writePicture } from "../../../src/pages/signing/picture.ts";
import { pictureUrl } from "../../../src/pages/signing/picture-mark.ts";
import { encodePng, readPictureIn } from "../../../src/signing/envelopes/pictures/pictures.ts";
import { decodePng } from "../../../src/signing/envelopes/pictures/png.ts";
import { shrink } from "../../../src/signing/envelopes/pictures/raster.ts";

const folder = mkdtempSync(join(tmpdir(), "pictures-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const read = (bytes: Buffer) => readPictureIn(inlineWorkers, { holder: "firm", bytes });
const chunk = (type: string, body: Buffer): Buffer => {
  const content = Buffer.concat([Buffer.from(type), body]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(body.length);
  frame.writeUInt32BE(crc32(content), 4);
  return Buffer.concat([frame.subarray(0, 4), content, frame.subarray(4)]);
};
type Head = { width: number; height: number; depth: number; type: number; interlace?: number };
const headOf = ({ width, height, depth, type, interlace = 0 }: Head): Buffer => {
  const head = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, depth, type, 0, 0, interlace]);
  head.writeUInt32BE(width);
  head.writeUInt32BE(height, 4);
  return chunk("IHDR", head);
};
const signature = Buffer.from("89504e470d0a1a0a", "hex");
const png = (head: Head, rows: readonly (readonly number[])[], before: readonly Buffer[] = []): Buffer =>
  Buffer.concat([
    signature,
    headOf(head),
    ...before,
    chunk("IDAT", deflateSync(Buffer.from(rows.flat()))),
    chunk("IEND", Buffer.alloc(0)),
  ]);
const gray = { width: 2, height: 1, depth: 8, type: 0 };
/** Two pixels, one black and one white. */
const pair = png(gray, [[0, 0, 255]]);
const pixels = (bytes: Buffer) => [...decodePng(bytes).rgba];

describe("a PNG", () => {
  const [black, white, clear] = [
    [0, 0, 0, 255],
    [255, 255, 255, 255],
    [0, 0, 0, 0],
  ];
  const size = { width: 2, height: 1 };
  const cases: [string, Buffer, number[][]][] = [
    ["gray, 1 bit", png({ ...size, depth: 1, type: 0 }, [[0, 0b01000000]]), [black, white]],
    ["gray, 4 bits", png({ ...size, depth: 4, type: 0 }, [[0, 0x0f]]), [black, white]],
    ["gray, 16 bits", png({ ...size, depth: 16, type: 0 }, [[0, 0, 0, 255, 255]]), [black, white]],
    [
      "gray with a transparent one",
      png(gray, [[0, 7, 255]], [chunk("tRNS", Buffer.from([0, 7]))]),
      [[7, 7, 7, 0], white],
    ],
    ["gray with alpha", png({ ...size, depth: 8, type: 4 }, [[0, 0, 0, 255, 128]]), [clear, [255, 255, 255, 128]]],
    [
      "color",
      png({ ...size, depth: 8, type: 2 }, [[0, 1, 2, 3, 4, 5, 6]]),
      [
        [1, 2, 3, 255],
        [4, 5, 6, 255],
      ],
    ],
    [
      "color with alpha",
      png({ ...size, depth: 8, type: 6 }, [[0, 1, 2, 3, 4, 5, 6, 7, 8]]),
      [
        [1, 2, 3, 4],
        [5, 6, 7, 8],
      ],
    ],
    [
      "of a palette",
      png(
        { ...size, depth: 2, type: 3 },
        [[0, 0b00010000]],
        [chunk("PLTE", Buffer.from([9, 8, 7, 6, 5, 4])), chunk("tRNS", Buffer.from([100]))],
      ),
      [
        [9, 8, 7, 100],
        [6, 5, 4, 255],
      ],
    ],
    ["with notes and more behind its end", Buffer.concat([pair, Buffer.from("%PDF-1.7 <script>")]), [black, white]],
  ];
  for (const [name, bytes, wanted] of cases)
    test(`is read: ${name}`, () => assert.deepEqual(pixels(bytes), wanted.flat()));

  test("is read with every filter", () => {
    const rows = [1, 2, 3, 4].map((filter) => [filter, 1, 2, 3]);
    const read = pixels(png({ width: 3, height: 4, depth: 8, type: 0 }, rows)).filter((_, at) => at % 4 === 0);
    assert.deepEqual(read, [1, 3, 6, 2, 5, 9, 2, 5, 10, 3, 7, 13]);
  });

  test("is read interlaced", () => {
    const rows = [
      [0, 10],
      [0, 20],
      [0, 30, 40],
    ];
    const read = pixels(png({ width: 2, height: 2, depth: 8, type: 0, interlace: 1 }, rows));
    assert.deepEqual(
      read.filter((_, at) => at % 4 === 0),
      [10, 20, 30, 40],
    );
  });

  const flipped = Buffer.from(pair);
  flipped.writeUInt8(flipped.readUInt8(20) ^ 1, 20);
  const plte = chunk("PLTE", Buffer.from([1, 2, 3]));
  const refused: [string, Buffer, string][] = [
    ["nothing", Buffer.alloc(0), "format"],
    ["a GIF", Buffer.from("GIF89a"), "format"],
    ["a page", Buffer.from("<svg onload='x'>"), "format"],
    ["one that was cut", pair.subarray(0, -1), "broken"],
    ["its head alone", pair.subarray(0, 8), "broken"],
    ["a wrong checksum", flipped, "broken"],
    ["too few pixels", png({ ...gray, width: 3 }, [[0, 0, 255]]), "broken"],
    ["too many pixels for its size", png({ ...gray, width: 1 }, [[0, 0, 255]]), "broken"],
    ["no size", png({ ...gray, height: 0 }, []), "broken"],
    ["more pixels than a signature has", png({ ...gray, width: 100_000, height: 100_000 }, [[0]]), "size"],
    ["a depth that there is not", png({ ...gray, depth: 3 }, [[0, 0]]), "broken"],
    ["a filter that there is not", png(gray, [[5, 0, 255]]), "broken"],
    ["a color outside its palette", png({ ...size, depth: 8, type: 3 }, [[0, 0, 1]], [plte]), "broken"],
    ["a chunk that must be known", png(gray, [[0, 0, 255]], [chunk("EVIL", Buffer.alloc(3))]), "broken"],
    ["one in which nothing is to be seen", png(gray, [[0, 255, 255]]), "empty"],
    [
      "a bomb",
      png(
        gray,
        Array.from({ length: 5000 }, () => Array(2000).fill(0)),
      ),
      "broken",
    ],
  ];
  for (const [name, bytes, fault] of refused)
    test(`is refused: ${name}`, async () => assert.deepEqual(await read(bytes), { fault }));

  test("with any changed byte is read, or refused by name", async () => {
    for (let at = 0; at < pair.length; at++) {
      const changed = Buffer.from(pair);
      changed.writeUInt8(changed.readUInt8(at) ^ 0x55, at);
      const answer = await read(changed);
      assert.ok("fault" in answer || answer.width === 2, String(at));
    }
  });
});

test("a PNG of the service has the same pixels, and so has the picture on a page without a script", () => {
  const [width, height] = [3, 2];
  const rgba = Uint8Array.from({ length: width * height * 4 }, (_, at) => (at * 37) % 256);
  assert.deepEqual(decodePng(encodePng({ width, height, rgba })).rgba, rgba);
  const shown = pictureUrl(writePicture({ width, height, deflated: deflateSync(rgba).toString("base64url") })) ?? "";
  const [type = "", base64 = ""] = shown.split(",");
  assert.equal(type, "data:image/png;base64");
  assert.deepEqual(decodePng(Buffer.from(base64, "base64")).rgba, rgba);
  const tooMany = deflateSync(Buffer.concat([rgba, rgba])).toString("base64url");
  for (const wrong of ["", "x", writePicture({ width, height, deflated: tooMany }), "3_2_AAAA"])
    assert.equal(pictureUrl(wrong), null, wrong);
});

test("a picture is scaled to fit: noise with ever fewer pixels, and transparent parts have no color", async () => {
  const side = 1000;
  let seed = 1;
  const next = (): number => {
    seed = (seed * 16807) % 2147483647;
    return seed & 255;
  };
  const noise = Array.from({ length: side }, () => [0, ...Array.from({ length: side * 3 }, () => next())]);
  const answer = await read(png({ width: side, height: side, depth: 8, type: 2 }, noise));
  assert.ok(!("fault" in answer));
  assert.ok(answer.deflated.length <= 90_000);
  assert.equal(inflateSync(answer.deflated).length, answer.width * answer.height * 4);
  const wide = await read(
    png(
      { width: 1200, height: 2, depth: 8, type: 0 },
      [1, 0].map((value) => [0, ...Array(1200).fill(value)]),
    ),
  );
  assert.deepEqual("width" in wide && [wide.width, wide.height], [600, 1]);
  const half = { width: 2, height: 1, rgba: new Uint8Array([200, 0, 0, 255, 0, 99, 0, 0]) };
  assert.deepEqual([...shrink(half, { width: 1, height: 1 }).rgba], [200, 0, 0, 128]);
});

const renderer = "pdftoppm";

/** A picture of a page of 80 by 40 points with a blue box on it. */
function rendered(...options: string[]): Buffer {
  const content = "0 0 0.6 rg 10 10 30 20 re f";
  const objects = [
    "<</Type/Catalog/Pages 2 0 R>>",
    "<</Type/Pages/Count 1/Kids[3 0 R]>>",
    "<</Type/Page/Parent 2 0 R/MediaBox[0 0 80 40]/Contents 4 0 R>>",
    `<</Length ${content.length}>>stream\n${content}\nendstream`,
  ].map((body, index) => `${index + 1} 0 obj${body}endobj\n`);
  const page = join(folder, "page.pdf");
  writeFileSync(page, `%PDF-1.4\n${objects.join("")}trailer<</Root 1 0 R>>`);
  execFileSync(renderer, ["-q", "-r", "72", "-singlefile", ...options, page, join(folder, "page")]);
  return readFileSync(join(folder, `page.${options[0] === "-png" ? "png" : "jpg"}`));
}

describe("a JPEG", needs("poppler"), () => {
  const inkOf = async (bytes: Buffer) => {
    const answer = await read(bytes);
    assert.ok("width" in answer, JSON.stringify(answer));
    const rgba = inflateSync(answer.deflated);
    const at = (20 * answer.width + 25) * 4;
    return { size: [answer.width, answer.height], ink: [...rgba.subarray(at, at + 4)] };
  };

  test("in color and in gray is read; data after its end is not", async () => {
    const color = rendered("-jpeg");
    const { size, ink } = await inkOf(color);
    assert.deepEqual(size, [80, 40]);
    const [red = 99, green = 99, blue = 0, alpha] = ink;
    assert.ok(red < 20 && green < 20 && Math.abs(blue - 153) < 20 && alpha === 255, String(ink));
    const polyglot = Buffer.concat([color, Buffer.from("PK\u0003\u0004<script>alert(1)</script>%PDF-1.7")]);
    assert.deepEqual(await read(polyglot), await read(color));
    const linesAfter = Buffer.concat([color, Buffer.from("ffdc0004ffff", "hex")]);
    assert.deepEqual(await read(linesAfter), await read(color));
    // A comment (COM) before the end, whose text contains the bytes of DNL.
    const inComment = [color.subarray(0, -2), Buffer.from("fffe0006ffdc0004ffd9", "hex")];
    assert.deepEqual(await read(Buffer.concat(inComment)), await read(color));
    const progressive = (await inkOf(rendered("-jpeg", "-jpegopt", "progressive=y"))).ink;
    assert.ok(
      progressive.every((value, at) => Math.abs(value - (ink[at] ?? 0)) < 4),
      String(progressive),
    );
    const shade = (await inkOf(rendered("-jpeg", "-gray"))).ink;
    assert.ok(shade[0] === shade[1] && shade[1] === shade[2] && (shade[0] ?? 255) < 60, String(shade));
  });

  test("in CMYK, of too many pixels, cut, or with another process is refused by name", async () => {
    const color = rendered("-jpeg");
    assert.deepEqual(await read(rendered("-jpegcmyk")), { fault: "colors" });
    const frame = color.indexOf(Buffer.from([0xff, 0xc0]));
    const changed = (change: (bytes: Buffer) => void) => {
      const bytes = Buffer.from(color);
      change(bytes);
      return read(bytes);
    };
    assert.deepEqual(await changed((bytes) => bytes.writeUInt32BE(0xffffffff, frame + 5)), { fault: "size" });
    assert.deepEqual(await changed((bytes) => bytes.writeUInt16BE(0, frame + 5)), { fault: "broken" });
    assert.deepEqual(await changed((bytes) => bytes.writeUInt8(0xc9, frame + 1)), { fault: "broken" });
    assert.deepEqual(await changed((bytes) => bytes.writeUInt8(12, frame + 4)), { fault: "broken" });
    const lines = Buffer.from("ffdc0004ffff", "hex");
    for (const at of [2, color.length - 2]) {
      const said = Buffer.concat([color.subarray(0, at), lines, color.subarray(at)]);
      assert.deepEqual(await read(said), { fault: "broken" }, "a number of lines beside the frame's");
    }
    for (const length of [3, 20, frame + 4, color.length - 1])
      assert.deepEqual(await read(color.subarray(0, length)), { fault: "broken" }, String(length));
  });

  test("with any change is read, or refused by name", async () => {
    const color = rendered("-jpeg");
    for (let at = 3; at < color.length; at += 7) {
      const changed = Buffer.from(color);
      changed.writeUInt8(changed.readUInt8(at) ^ 0xff, at);
      const answer = await read(changed);
      assert.ok("fault" in answer || answer.width > 0);
    }
  });
});

test("PNGs of other programs are read", needs("poppler"), () => {
  for (const [option, wanted] of [
    [[], [0, 0, 153, 255]],
    [["-gray"], null],
    [["-mono"], null],
  ] as const) {
    const { width, height, rgba } = decodePng(rendered("-png", ...option));
    assert.deepEqual([width, height], [80, 40]);
    if (wanted) assert.deepEqual([...rgba.subarray((20 * 80 + 25) * 4, (20 * 80 + 26) * 4)], wanted);
    assert.ok(rgba.every((value, at) => at % 4 !== 3 || value === 255));
  }
});
