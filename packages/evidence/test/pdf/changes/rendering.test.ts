import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fuzzRuns } from "@signsealship/testing/inputs/fuzz";
import { testsNeeding } from "@signsealship/testing/tools/tools";
import { openWithPdfJs } from "../../../../../service/src/kernel/pdf/pdf-js.ts";
import { changesSince, permits } from "../../../src/pdf/changes/changes.ts";
import { openUnlocked } from "../../../src/pdf/encryption/unlock.ts";
import { randomFrom } from "../../mutate.ts";
import { appendRevision, bodyOf } from "../../seal/signed-pdf.ts";
import { asBytes, formDocument, formXObject, OBJECT } from "./document.ts";

const { test } = testsNeeding("mupdf", "poppler");

type Random = (below: number) => number;

const NUMBERS = Object.values(OBJECT);
const NAMES = Object.keys(OBJECT) as (keyof typeof OBJECT)[];
const pick = <Item>(items: readonly Item[], random: Random): Item => items[random(items.length)] as Item;

/** Keys that let a forger use one object for two purposes. */
const KEYS = "K ParentTree Nums Kids Parent P Obj Extensions MarkInfo Metadata DSS DR V AP N Annots Contents".split(
  " ",
);
/** Objects that are drawn, or that affect how a page or field is drawn. */
const ENTRIES = [
  "/Rotate 90",
  "/MediaBox [0 0 200 200]",
  "/CropBox [0 0 200 200]",
  "/V (900)",
  "/F 2",
  "/Matrix [2 0 0 2 0 0]",
  "/Resources << >>",
  "/Tabs /S",
  "/Marked false",
  "/Title (x)",
];

/** A form document in which one reference is replaced or added at random, so that an object may serve two purposes. */
function aliased(random: Random): string {
  const plain = formDocument();
  const name = pick(NAMES, random);
  const body = bodyOf(plain, OBJECT[name]);
  const to = `${pick(NUMBERS, random)} 0 R`;
  const references = [...body.matchAll(/\d+ 0 R/g)];
  const one = references.length === 0 || random(2) === 0 ? undefined : pick(references, random);
  const changed =
    one === undefined
      ? body.replace(/ >>(?=\nstream|$)/, ` /${pick(KEYS, random)} ${to} >>`)
      : body.slice(0, one.index) + to + body.slice(one.index + one[0].length);
  return formDocument({ [name]: changed });
}

/**
 * Ways to fill in one field. If the document also uses the field's object for another purpose, filling it in changes
 * more than the field.
 */
const FILLINGS: readonly [object: number, from: RegExp, to: string][] = [
  [OBJECT.amount, /\/V \(100\)/, "/V (900)"],
  [OBJECT.amount, /\/V \(100\)(.*)\/N \d+ 0 R/, "/V (900)$1/N 90 0 R"],
  [OBJECT.name, / >>$/, " /V (Bob) /AP << /N 90 0 R >> >>"],
  [OBJECT.agree, /\/V \/Off \/AS \/Off/, "/V /Yes /AS /Yes"],
];

/** A random revision that fills in a field, or rewrites one object. */
function changed(pdf: string, random: Random): string {
  if (random(8) === 0) {
    const [object, from, to] = pick(FILLINGS, random);
    return appendRevision(pdf, [
      [object, bodyOf(pdf, object).replace(from, to)],
      [90, formXObject("BT /Helv 12 Tf 2 5 Td (900) Tj ET")],
    ]);
  }
  const number = pick(NUMBERS, random);
  const body = bodyOf(pdf, number);
  const more = pick(ENTRIES, random);
  const ink = formXObject("1 0 0 rg 0 0 612 792 re f");
  const after = body.includes("\nstream\n")
    ? body.replace(/\nstream\n.*$/s, `\nstream\n${"1 0 0 rg 0 0 612 792 re f".padEnd(60)}\nendstream`)
    : body.startsWith("[")
      ? pick(
          [body.replace("]", " 90 0 R]"), body.replace("[", "[90 0 R "), body.replace("[", "[0 600 300 792 ")],
          random,
        )
      : body.replace(/ >>$/, ` ${more} >>`);
  const sized = after.replace(/\/Length \d+/, "/Length 60");
  return appendRevision(pdf, [
    [number, sized],
    [90, ink],
  ]);
}

const SIZE = { width: 306, height: 396 };
/**
 * The rectangles in which the fields show their values: left, bottom, right and top, in points from the lower left
 * corner.
 */
const FIELDS = [
  [72, 600, 272, 620],
  [72, 560, 272, 580],
  [72, 520, 92, 540],
  [72, 440, 272, 480],
  [72, 400, 122, 420],
] as const;

const RENDERERS: Readonly<Record<string, (pdf: string, page: number, to: string) => readonly [string, string[]]>> = {
  mutool: (pdf, page, to) => ["mutool", ["draw", "-q", "-r", "36", "-c", "gray", "-o", `${to}.pgm`, pdf, `${page}`]],
  poppler: (pdf, page, to) => {
    const first = ["-r", "36", "-gray", "-singlefile", "-f", `${page}`, "-l", `${page}`];
    return ["pdftoppm", [...first, pdf, to]];
  },
};

/**
 * The pixels of a page outside its fields. Null when the program can't draw the page; a message when the drawing has
 * another size.
 */
function drawn(folder: string, pdf: string, renderer: string, page: number): string | null {
  const [file, to] = [join(folder, "one.pdf"), join(folder, "page")];
  rmSync(`${to}.pgm`, { force: true });
  writeFileSync(file, asBytes(pdf));
  const [command, options] = RENDERERS[renderer]?.(file, page, to) ?? ["false", []];
  try {
    execFileSync(command, options, { stdio: "ignore" });
    const image = readFileSync(`${to}.pgm`);
    const [head = "", width, height] = /^P5\s+(\d+)\s+(\d+)\s+\d+\s/.exec(image.toString("latin1", 0, 40)) ?? [];
    if (Number(width) !== SIZE.width || Number(height) !== SIZE.height) return `${width}x${height}`;
    const pixels = image.subarray(head.length);
    for (const [left, bottom, right, top] of FIELDS) {
      for (let y = SIZE.height - top / 2 - 1; y <= SIZE.height - bottom / 2 + 1; y++) {
        pixels.fill(255, y * SIZE.width + left / 2 - 1, y * SIZE.width + right / 2 + 2);
      }
    }
    return pixels.toString("latin1");
  } catch {
    return null;
  }
}

/** pdf.js gives names to the objects that it loads. The names differ between documents. */
const ownName = /^(?:g_)?(?:d\d+_|img_p|[a-z]?_f\d+$|g_)/;
/** Compares only the flags that hide a widget, because a filled-in field may look different. */
const HIDING = 0x22;

/** All that pdf.js would draw outside the fields, on a screen and in print, and its text. Needs no canvas. */
async function readByPdfJs(pdf: string): Promise<string> {
  const { opening } = await openWithPdfJs(Buffer.from(asBytes(pdf)));
  try {
    const opened = await opening.promise;
    const read: unknown[] = [];
    for (let number = 1; number <= opened.numPages; number++) {
      const page = await opened.getPage(number);
      const { items } = await page.getTextContent();
      read.push(page.view, page.rotate, page.userUnit, items);
      for (const intent of ["display", "print"]) {
        const { fnArray, argsArray } = await page.getOperatorList({ annotationMode: 0, intent });
        read.push(fnArray, argsArray);
        for (const one of await page.getAnnotations({ intent })) {
          const { id, subtype, rect, annotationFlags = 0 } = one;
          read.push(subtype === "Widget" ? [id, rect, annotationFlags & HIDING] : one);
        }
      }
    }
    const own = (_: string, value: unknown) => (typeof value === "string" && ownName.test(value) ? "" : value);
    return JSON.stringify(read, own);
  } catch (error) {
    return `refused: ${error}`;
  } finally {
    await opening.destroy();
  }
}

async function levelOf(pdf: string, signed: string) {
  try {
    return changesSince(await openUnlocked(asBytes(pdf)), signed.length);
  } catch {
    return null;
  }
}

test("permits no generated change that is visible outside the fields", async () => {
  const folder = mkdtempSync(join(tmpdir(), "rendering-"));
  let permitted = 0;
  try {
    for (let run = 0; run < fuzzRuns(4000); run++) {
      const random = randomFrom(2 * run + 1);
      const signed = aliased(random);
      const later = changed(signed, random);
      const level = await levelOf(later, signed);
      if (level === null || !permits(null, level)) continue;
      permitted++;
      const [before, after] = [await readByPdfJs(signed), await readByPdfJs(later)];
      assert.equal(after, before, `run ${run}: pdf.js reads it otherwise, and it is "${level}"`);
      for (const renderer of Object.keys(RENDERERS)) {
        for (const page of [1, 2]) {
          const [before, after] = [signed, later].map((pdf) => drawn(folder, pdf, renderer, page));
          assert.ok(before === after, `run ${run}: ${renderer} shows page ${page} otherwise, and it is "${level}"`);
        }
      }
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  assert.ok(permitted > fuzzRuns(400), `${permitted} generated changes are permitted`);
});
