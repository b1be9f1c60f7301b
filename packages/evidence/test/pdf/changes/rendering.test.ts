import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
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

/** Keys through which a forger can make one object serve two purposes. */
const KEYS = "K ParentTree Nums Kids Parent P Obj Extensions MarkInfo Metadata DSS DR V AP N Annots Contents".split(
  " ",
);
/** Dictionary entries. Some affect how a page or field is drawn. */
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
 * Ways to fill in one field. If the document also uses the field's object for another purpose, such a change affects
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

const PAGES = [1, 2];

type Run = readonly [command: string, args: readonly string[]];

/** A program that draws pages. It writes the pages of one or more files to its output, each as an image in PGM. */
type Renderer = {
  readonly runs: (files: readonly string[]) => readonly Run[];
  readonly page: (file: string, page: number) => Run;
};

const MUTOOL = ["draw", "-q", "-r", "36", "-c", "gray", "-F", "pgm", "-o", "-"];
const POPPLER = ["-r", "36", "-gray"];
const RENDERERS: Readonly<Record<string, Renderer>> = {
  mutool: {
    runs: (files) => [["mutool", [...MUTOOL, ...files.flatMap((file) => [file, PAGES.join(",")])]]],
    page: (file, page) => ["mutool", [...MUTOOL, file, `${page}`]],
  },
  poppler: {
    runs: (files) => files.map((file) => ["pdftoppm", [...POPPLER, "-f", "1", "-l", `${PAGES.length}`, file]]),
    page: (file, page) => ["pdftoppm", [...POPPLER, "-f", `${page}`, "-l", `${page}`, file]],
  },
};

/** Runs a program and splits its output into images. Null when the program fails. */
function imagesOf([command, args]: Run): string[] | null {
  try {
    const output = execFileSync(command, args, { stdio: ["ignore", "pipe", "ignore"], maxBuffer: 64 << 20 });
    const images: string[] = [];
    for (let rest = output; rest.length > 0; ) {
      const [head = "", width, height] = /^P5\s+(\d+)\s+(\d+)\s+\d+\s/.exec(rest.toString("latin1", 0, 40)) ?? [];
      const end = head.length + Number(width) * Number(height);
      if (head === "" || end > rest.length) return null;
      images.push(outsideFields(Buffer.from(rest.subarray(head.length, end)), Number(width), Number(height)));
      rest = rest.subarray(end);
    }
    return images;
  } catch {
    return null;
  }
}

/**
 * Paints the fields white and returns the pixels of the page. If the page doesn't have the usual size, returns its size
 * instead.
 */
function outsideFields(pixels: Buffer, width: number, height: number): string {
  if (width !== SIZE.width || height !== SIZE.height) return `${width}x${height}`;
  for (const [left, bottom, right, top] of FIELDS) {
    for (let y = SIZE.height - top / 2 - 1; y <= SIZE.height - bottom / 2 + 1; y++) {
      pixels.fill(255, y * SIZE.width + left / 2 - 1, y * SIZE.width + right / 2 + 2);
    }
  }
  return pixels.toString("latin1");
}

/** The pages of each file, as a renderer draws them. A page is null when the program can't draw it. */
function drawn(files: readonly string[], { runs, page }: Renderer): (string | null)[][] {
  const together = runs(files).map(imagesOf);
  const all = together.flatMap((images) => images ?? []);
  if (!together.includes(null) && all.length === files.length * PAGES.length)
    return files.map((_, index) => all.slice(index * PAGES.length, (index + 1) * PAGES.length));
  // Starting a renderer takes longer than drawing a page, so one run draws all pages. If that run fails, each page is
  // drawn in a run of its own.
  return files.map((file) => PAGES.map((number) => imagesOf(page(file, number))?.[0] ?? null));
}

/** Names that pdf.js gives to the objects that it loads. They differ between documents, so they are not compared. */
const ownName = /^(?:g_)?(?:d\d+_|img_p|[a-z]?_f\d+$|g_)/;
/**
 * The flags that hide a widget. Only these flags and the rectangle of a widget are compared, because a filled-in field
 * may look different.
 */
const HIDING = 0x22;

/**
 * Everything that pdf.js would draw outside the fields, on a screen and in print, and the text of the pages. Needs no
 * canvas.
 */
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
  const files = [join(folder, "signed.pdf"), join(folder, "later.pdf")] as const;
  let permitted = 0;
  try {
    writeFileSync(files[0], asBytes(formDocument()));
    for (const [name, renderer] of Object.entries(RENDERERS))
      for (const image of drawn([files[0]], renderer).flat())
        assert.equal(image?.length, SIZE.width * SIZE.height, `${name} draws the plain document`);
    for (let run = 0; run < fuzzRuns(4000); run++) {
      const random = randomFrom(2 * run + 1);
      const signed = aliased(random);
      const later = changed(signed, random);
      const level = await levelOf(later, signed);
      if (level === null || !permits(null, level)) continue;
      permitted++;
      const [before, after] = [await readByPdfJs(signed), await readByPdfJs(later)];
      assert.equal(after, before, `run ${run}: pdf.js reads it otherwise, and it is "${level}"`);
      for (const [index, pdf] of [signed, later].entries()) writeFileSync(files[index] ?? "", asBytes(pdf));
      for (const [name, renderer] of Object.entries(RENDERERS)) {
        const [before = [], after = []] = drawn(files, renderer);
        for (const [index, page] of PAGES.entries())
          assert.ok(
            before[index] === after[index],
            `run ${run}: ${name} shows page ${page} otherwise, and it is "${level}"`,
          );
      }
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  assert.ok(permitted > fuzzRuns(400), `${permitted} generated changes are permitted`);
});
