import bidiFactory from "bidi-js";
import type { Face, Faces, Weight } from "./fonts/faces.ts";
import { type Legible, legible } from "./legible.ts";

/**
 * A shaped cluster: characters that are drawn together as one or more glyphs. Lengths in thousandths of the font size.
 */
export type Cluster = {
  face: Face;
  weight: Weight;
  /** Glyphs of the face; `x` and `y` are relative to the cluster's origin. */
  parts: { id: number; x: number; y: number }[];
  text: string;
  advance: number;
};

/** One line, from left to right. `width` is in thousandths of the font size. */
export type Line = { clusters: Cluster[]; width: number };

/** A text broken into lines; `text` contains its characters in logical order. */
export type Paragraph = { lines: Line[]; text: string; escaped: boolean };

export type TextStyle = { weight?: Weight; mono?: boolean };

/** Breaks a text into lines of at most `width` thousandths of the font size. Call `faces.prepare` first. */
export type Typeset = (text: string, width: number, style?: TextStyle) => Paragraph;

type Run = { start: number; end: number; face: Face; level: number };

const words = new Intl.Segmenter("und", { granularity: "word" });
const graphemes = new Intl.Segmenter("und", { granularity: "grapheme" });
// The types of bidi-js describe another module format than its code, so a cast is needed. The factory is called once,
// because each call builds a table of all characters.
const bidi = (bidiFactory as unknown as typeof bidiFactory.default)();

export function createTypeset(faces: Faces): Typeset {
  const { hb } = faces;
  const buffer = new hb.Buffer();

  function shape(text: string, { start, end, face, level }: Run, weight: Weight): Cluster[] {
    const scale = 1000 / face.upem;
    buffer.reset();
    buffer.addText(text.slice(start, end));
    buffer.setDirection(level % 2 === 1 ? hb.Direction.RTL : hb.Direction.LTR);
    buffer.guessSegmentProperties();
    hb.shape(face.fonts[weight], buffer);
    const infos = buffer.getGlyphInfos();
    const positions = buffer.getGlyphPositions();
    const ends = [...new Set(infos.map(({ cluster }) => cluster)), end - start].sort((a, b) => a - b);
    const clusters: Cluster[] = [];
    let open = -1;
    for (const [index, { codepoint, cluster }] of infos.entries()) {
      const { xAdvance = 0, xOffset = 0, yOffset = 0 } = positions[index] ?? {};
      if (cluster !== open) {
        const to = ends[ends.indexOf(cluster) + 1] ?? end - start;
        clusters.push({ face, weight, parts: [], text: text.slice(start + cluster, start + to), advance: 0 });
        open = cluster;
      }
      const last = clusters.at(-1);
      if (!last) continue;
      last.parts.push({ id: codepoint, x: last.advance + xOffset * scale, y: yOffset * scale });
      last.advance += xAdvance * scale;
    }
    return clusters;
  }

  function layOut(
    { text, faces: units }: Legible,
    levels: Uint8Array,
    start: number,
    end: number,
    weight: Weight,
  ): Line {
    const runs: Run[] = [];
    for (let at = start; at < end; at++) {
      const [face, level] = [units[at] ?? faces.mono, levels[at] ?? 0];
      const last = runs.at(-1);
      if (last && last.face === face && last.level === level) last.end = at + 1;
      else runs.push({ start: at, end: at + 1, face, level });
    }
    const clusters = inVisualOrder(runs).flatMap((run) => shape(text, run, weight));
    return { clusters, width: clusters.reduce((sum, { advance }) => sum + advance, 0) };
  }

  return (wanted, width, { weight = "regular", mono = false } = {}) => {
    const found = legible(faces, wanted, mono);
    const { text, escaped } = found;
    const { levels } = bidi.getEmbeddingLevels(text, "auto");
    const line = (start: number, end: number) => layOut(found, levels, start, end, weight);
    const whole = line(0, trimmed(text, 0, text.length));
    if (whole.width <= width) return { lines: [whole], text, escaped };
    const lines: Line[] = [];
    let start = 0;
    let end = 0;
    for (const next of breaks(text, (from, to) => line(from, to).width <= width)) {
      if (end > start && line(start, trimmed(text, start, next)).width > width) {
        lines.push(line(start, trimmed(text, start, end)));
        start = end;
      }
      end = next;
    }
    if (end > start) lines.push(line(start, trimmed(text, start, end)));
    return { lines, text, escaped };
  };
}

/**
 * The positions at which a line may end, in ascending order: after words, and inside words that are too long for any
 * line.
 */
function breaks(text: string, fits: (from: number, to: number) => boolean): number[] {
  const ends: number[] = [];
  let from = 0;
  const close = (to: number) => {
    if (to > from && !fits(from, trimmed(text, from, to))) {
      for (const { index } of graphemes.segment(text.slice(from, to))) if (index > 0) ends.push(from + index);
    }
    if (to > from) ends.push(to);
    from = to;
  };
  let afterWord = false;
  for (const { index, segment, isWordLike } of words.segment(text)) {
    // A line may break after white space. It may also break between two adjacent words if the first ends in a letter
    // without case, as in Chinese. So punctuation stays with the word that it touches.
    if (/\s$/u.test(text.slice(from, index)) || (isWordLike === true && afterWord)) close(index);
    afterWord = isWordLike === true && /[\p{Lo}]$/u.test(segment);
  }
  close(text.length);
  return ends;
}

/** Returns the end of a line without its trailing spaces. */
function trimmed(text: string, start: number, end: number): number {
  let at = end;
  while (at > start && /\s/u.test(text[at - 1] ?? "")) at--;
  return at;
}

/** Rule L2 of the Unicode Bidirectional Algorithm (UAX 9), applied to whole runs instead of characters. */
function inVisualOrder(runs: readonly Run[]): Run[] {
  const ordered = [...runs];
  const levels = runs.map(({ level }) => level);
  for (let level = Math.max(0, ...levels); level > 0; level--) {
    for (let from = 0; from < ordered.length; from++) {
      let to = from;
      while (to < ordered.length && (ordered[to]?.level ?? 0) >= level) to++;
      if (to - from > 1) ordered.splice(from, to - from, ...ordered.slice(from, to).reverse());
      from = to;
    }
  }
  return ordered;
}
