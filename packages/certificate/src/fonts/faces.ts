import { readFile } from "node:fs/promises";
import type { Font } from "harfbuzzjs";
import { type FontFile, fontName, type HanStyle, hanFonts, monoFontPath, scriptFonts, textFontPaths } from "./files.ts";

type HarfBuzz = typeof import("harfbuzzjs");

export type Weight = "regular" | "semibold";

/**
 * A font in two weights, loaded for text shaping. Several faces may share one font `name`, because some fonts consist
 * of many files.
 */
export type Face = { id: number; name: string; fonts: Readonly<Record<Weight, Font>>; upem: number };

/** Fonts for any text. A font file is read when a text first needs it, and is then cached. */
export type Faces = {
  hb: HarfBuzz;
  mono: Face;
  /** Loads the fonts that a text needs. */
  prepare: (text: string) => Promise<void>;
  /** The first prepared face with glyphs for all of the code points; undefined when there is none. */
  pick: (codePoints: readonly number[], han: HanStyle) => Face | undefined;
};

const hanOrder: readonly HanStyle[] = ["sc", "tc", "jp", "kr"];
const wght = { regular: 400, semibold: 600 } as const;

/** Chooses the style of a text's Han characters from the other scripts in it. */
export function hanStyleOf(text: string): HanStyle {
  if (/\p{Script=Hangul}/u.test(text)) return "kr";
  return /[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text) ? "jp" : "sc";
}

/** Loads font files, each once. */
async function openLoader(hb: HarfBuzz) {
  const { default: decompress } = await import("wawoff2/decompress.js");
  const loading = new Map<string, Promise<Face>>();
  const loaded = new Map<string, Face>();
  let opened = 0;

  async function read(path: string): Promise<Uint8Array> {
    const bytes = await readFile(path);
    return path.endsWith(".woff2") ? decompress(bytes) : bytes;
  }
  async function openVariable(path: string): Promise<Face> {
    const face = new hb.Face(new hb.Blob(await read(path)));
    const at = (weight: Weight): Font => {
      const font = new hb.Font(face);
      font.setVariations([new hb.Variation("wght", wght[weight])]);
      return font;
    };
    const fonts = { regular: at("regular"), semibold: at("semibold") };
    return { id: ++opened, name: fontName(path), fonts, upem: face.upem };
  }
  function load(path: string): Promise<Face> {
    const inProgress = loading.get(path);
    if (inProgress) return inProgress;
    const face = openVariable(path);
    loading.set(path, face);
    return face.then((ready) => {
      loaded.set(path, ready);
      return ready;
    });
  }
  async function openFont(path: string): Promise<{ font: Font; upem: number }> {
    const face = new hb.Face(new hb.Blob(await read(path)));
    return { font: new hb.Font(face), upem: face.upem };
  }
  return {
    load,
    loaded: (path: string): Face | undefined => loaded.get(path),
    /** The face of most texts. It has one file for each weight; every other face has one file for both weights. */
    async text(): Promise<Face> {
      const paths = textFontPaths();
      const [regular, semibold] = [await openFont(paths.regular), await openFont(paths.semibold)];
      const fonts = { regular: regular.font, semibold: semibold.font };
      return { id: 0, name: "NotoSans", fonts, upem: regular.upem };
    },
  };
}

export async function openFaces(): Promise<Faces> {
  const hb = await import("harfbuzzjs");
  const { load, loaded, text: loadText } = await openLoader(hb);
  const scripts = scriptFonts();
  const han = new Map(hanOrder.map((style) => [style, hanFonts(style)]));
  const text = await loadText();
  const mono = await load(monoFontPath());

  const candidates = new Map(
    hanOrder.map((style) => {
      const files = [style, ...hanOrder.filter((other) => other !== style)].flatMap((each) => han.get(each) ?? []);
      return [style, coverage([...scripts, ...files])] as const;
    }),
  );
  const filesFor = (style: HanStyle, codePoint: number) => candidates.get(style)?.of(codePoint) ?? [];
  const hasAll = ({ fonts }: Face, codePoints: readonly number[]) =>
    codePoints.every((codePoint) => fonts.regular.nominalGlyph(codePoint) !== undefined);

  return {
    hb,
    mono,
    async prepare(sample) {
      const style = hanStyleOf(sample);
      for (const codePoint of new Set(Array.from(sample, (char) => char.codePointAt(0) ?? 0))) {
        if (hasAll(text, [codePoint])) continue;
        for (const { path } of filesFor(style, codePoint)) if (hasAll(await load(path), [codePoint])) break;
      }
    },
    pick(codePoints, style) {
      if (hasAll(text, codePoints)) return text;
      const [only, another] = codePoints;
      const files =
        only !== undefined && another === undefined
          ? filesFor(style, only)
          : (candidates.get(style)?.files.filter(({ covers }) => codePoints.some(covers)) ?? []);
      for (const { path } of files) {
        const face = loaded(path);
        if (face && hasAll(face, codePoints)) return face;
      }
      return undefined;
    },
  };
}

/** The most code points whose font files are cached for a Han style. A text has a few thousand different ones. */
const maxRemembered = 50_000;

/**
 * Finds the font files that cover a code point, in order of preference. Caches the result for each code point, because
 * there are hundreds of files.
 */
function coverage(files: readonly FontFile[]) {
  const cached = new Map<number, readonly FontFile[]>();
  return {
    files,
    of(codePoint: number): readonly FontFile[] {
      const found = cached.get(codePoint) ?? files.filter(({ covers }) => covers(codePoint));
      if (cached.size >= maxRemembered) cached.clear();
      cached.set(codePoint, found);
      return found;
    },
  };
}
