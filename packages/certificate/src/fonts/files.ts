import { readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** A font file and the code points that it covers. */
export type FontFile = { path: string; covers: (codePoint: number) => boolean };

/** Writing systems that prefer different shapes of the same Han characters. */
export type HanStyle = "sc" | "tc" | "jp" | "kr";

const folderOf = (name: string): string => fileURLToPath(new URL(".", import.meta.resolve(`${name}/package.json`)));

const noto = (script: string): string => `@fontsource-variable/noto-sans-${script}`;

const scripts = [
  ..."arabic hebrew armenian georgian devanagari bengali gurmukhi gujarati oriya tamil telugu kannada malayalam sinhala".split(
    " ",
  ),
  ..."thai lao khmer myanmar ethiopic cherokee canadian-aboriginal thaana".split(" "),
];
const others = [
  "@fontsource-variable/noto-serif-tibetan",
  "@fontsource/noto-sans-mongolian",
  noto("symbols"),
  "@fontsource/noto-sans-symbols-2",
  "@fontsource-variable/noto-emoji",
];

/** The subsets that are left out of each font package, because the complete Noto Sans has all of their characters. */
const inNotoSans = /^(?:latin|cyrillic|greek)(?:-ext)?$|^vietnamese$/;

/**
 * The complete Noto Sans in two weights. Its subsets are not used: a letter and its combining mark can be in different
 * subsets, but must come from one file.
 */
export function textFontPaths(): { regular: string; semibold: string } {
  const folder = folderOf("@expo-google-fonts/noto-sans");
  return {
    regular: join(folder, "400Regular/NotoSans_400Regular.ttf"),
    semibold: join(folder, "600SemiBold/NotoSans_600SemiBold.ttf"),
  };
}

/** The path of the monospaced font, for codes and hashes. */
export const monoFontPath = (): string => join(folderOf(noto("mono")), "files/noto-sans-mono-latin-wght-normal.woff2");

/** Fonts for scripts and symbols that are missing in Noto Sans: scripts first, then symbols. */
export const scriptFonts = (): FontFile[] => [...scripts.map(noto), ...others].flatMap(filesOf);

/** The font files for Chinese, Japanese and Korean text. */
export const hanFonts = (style: HanStyle): FontFile[] => filesOf(noto(style));

/**
 * The PostScript name of the font in a package, such as `NotoSansArabic`.
 * @param path the path of one of the package's font files
 */
export const fontName = (path: string): string =>
  basename(dirname(dirname(path)))
    .split("-")
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("");

function filesOf(name: string): FontFile[] {
  const folder = folderOf(name);
  const id = name.slice(name.indexOf("/") + 1);
  const axis = name.startsWith("@fontsource/") ? "400" : "wght";
  const parts = JSON.parse(readFileSync(join(folder, "unicode.json"), "utf8")) as Record<string, string>;
  return Object.entries(parts)
    .filter(([part]) => !inNotoSans.test(part))
    .map(([part, ranges]) => ({
      path: join(folder, `files/${id}-${part.replace(/[[\]]/g, "")}-${axis}-normal.woff2`),
      covers: within(ranges),
    }));
}

/**
 * Parses ranges of code points.
 * @param ranges as in CSS: `U+600-6ff,U+750`
 * @returns a function that is true for a code point in the ranges
 */
function within(ranges: string): (codePoint: number) => boolean {
  const bounds = ranges.split(",").map((range): [number, number] => {
    const [first = "", last = first] = range.trim().slice(2).split("-");
    return [Number.parseInt(first, 16), Number.parseInt(last, 16)];
  });
  bounds.sort(([one], [other]) => one - other);
  return (codePoint) => {
    // The binary search for the last range that begins at or before the code point. Ranges don't overlap.
    let [low, high] = [0, bounds.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((bounds[middle]?.[0] ?? 0) <= codePoint) low = middle + 1;
      else high = middle;
    }
    return codePoint <= (bounds[low - 1]?.[1] ?? -1);
  };
}
