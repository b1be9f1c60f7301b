import type { Color } from "./canvas.ts";
import { pageSize } from "./pages.ts";
import type { Sheets } from "./sheet.ts";
import type { Structure, Tag } from "./structure.ts";
import type { Line, Paragraph, TextStyle, Typeset } from "./typeset.ts";

/**
 * The appearance of a text: size in points, `leading` as a multiple of the size, and its structure type (a paragraph by
 * default).
 */
export type Look = TextStyle & { size: number; color?: Color; leading?: number; tag?: Tag };

/** Lays out text from top to bottom, over as many pages as it needs. */
export type Flow = {
  /** The distance of the next line from the lower edge of the page. */
  y: () => number;
  skip: (height: number) => void;
  moveTo: (y: number) => void;
  /** Begins a new page unless the current page has at least this much height left. */
  keep: (height: number) => void;
  /**
   * Measures a text without drawing it.
   * @returns its height
   */
  measure: (text: string, width: number, look: Look) => number;
  /** Draws a text, at the left margin by default. */
  text: (text: string, look: Look, place?: { x?: number; width?: number }) => void;
  /**
   * Draws a label, of which only the first line fits, and its value next to it. A long value wraps over several lines.
   */
  row: (label: string, value: string, look: Look, place?: { labelWidth?: number; width?: number }) => void;
  /** Draws one table row. Each cell's text must fit on one line; `x` is its distance from the left margin. */
  cells: (
    cells: readonly (readonly [text: string, look: Look, x: number])[],
    height?: number,
    tag?: "TH" | "TD",
  ) => void;
  tagged: Structure["tagged"];
  /** Draws a hairline from the left margin to the right margin. */
  rule: () => void;
  /**
   * True if any text so far, drawn or measured, contained an invisible character or one without a glyph. Such a
   * character is drawn as its code point: `\u{...}`.
   */
  escaped: () => boolean;
};

export const ink: Color = "#1b2430";
export const muted: Color = "#566173";
const hair: Color = "#d3dae3";

export const margin = { side: 54, top: 50, bottom: 58 } as const;
export const textWidth = pageSize.width - 2 * margin.side;

const leadingOf = ({ size, leading = 1.4 }: Look): number => size * leading;

export function createFlow(sheets: Sheets, typeset: Typeset): Flow {
  let y: number = pageSize.height - margin.top;
  let escaped = false;

  const set = (text: string, width: number, look: Look): Paragraph => {
    const paragraph = typeset(text, (width * 1000) / look.size, look);
    escaped ||= paragraph.escaped;
    return paragraph;
  };
  const keep = (height: number) => {
    if (y - height >= margin.bottom) return;
    sheets.newPage();
    y = pageSize.height - margin.top;
  };
  /**
   * Draws one line of text. The text of a row's label is smaller than the text of its value. So `row` passes the
   * baseline of the value for the label.
   */
  const lineAt = (line: Line, x: number, look: Look, baseline = y - look.size) =>
    sheets.text(line, x, baseline, look.size, look.color ?? ink);

  const drawLines = (lines: readonly Line[], x: number, look: Look) => {
    for (const line of lines) {
      keep(leadingOf(look));
      lineAt(line, x, look);
      y -= leadingOf(look);
    }
  };

  return {
    y: () => y,
    skip(height) {
      y -= height;
    },
    moveTo(to) {
      y = to;
    },
    keep,
    measure: (text, width, look) => set(text, width, look).lines.length * leadingOf(look),
    text(text, look, { x = margin.side, width = textWidth } = {}) {
      const paragraph = set(text, width, look);
      const draw = () => drawLines(paragraph.lines, x, look);
      sheets.tagged(look.tag ?? "P", draw, spoken(paragraph));
    },
    row(label, value, look, { labelWidth = 118, width = textWidth } = {}) {
      const labelLook: Look = { size: 8.5, color: muted };
      const [name] = set(label, labelWidth, labelLook).lines;
      const paragraph = set(value, width - labelWidth, look);
      keep(leadingOf(look));
      sheets.tagged("LI", () => {
        if (name && label !== "") sheets.tagged("Lbl", () => lineAt(name, margin.side, labelLook, y - look.size));
        sheets.tagged("LBody", () => drawLines(paragraph.lines, margin.side + labelWidth, look), spoken(paragraph));
      });
    },
    cells(cells, height = 14, tag = "TD") {
      keep(height);
      const top = y;
      const largest = Math.max(...cells.map(([, { size }]) => size));
      sheets.tagged("TR", () => {
        for (const [text, look, x] of cells) {
          y = top - (largest - look.size);
          const paragraph = set(text, textWidth - x, look);
          sheets.tagged(tag, () => drawLines(paragraph.lines, margin.side + x, look), spoken(paragraph));
        }
      });
    },
    tagged: sheets.tagged,
    rule() {
      sheets.rectangle(margin.side, y, textWidth, 0.6, hair);
    },
    escaped: () => escaped,
  };
}

/**
 * Adds ActualText, the text in reading order, if the drawn characters differ from it. They differ in right-to-left
 * text, and where a line break replaces a space.
 */
function spoken({ text, lines }: Paragraph): { actualText?: string } {
  const drawn = lines.flatMap(({ clusters }) => clusters.map((cluster) => cluster.text)).join("");
  return drawn === text ? {} : { actualText: text };
}
