import type { Colour } from "./canvas.ts";
import { pageSize, type Sheets } from "./sheet.ts";
import type { Line, TextStyle, Typeset } from "./typeset.ts";

/** How a text is drawn: size in points, `leading` as a multiple of it. */
export type Look = TextStyle & { size: number; colour?: Colour; leading?: number };

/** Text from top to bottom over as many pages as it takes. */
export type Flow = {
  /** Where the next line goes: the distance from the lower edge. */
  y: () => number;
  skip: (height: number) => void;
  moveTo: (y: number) => void;
  /** Begins a page unless so much is left on this one. */
  keep: (height: number) => void;
  /** @returns the height of the text as it would be drawn. */
  measure: (text: string, width: number, look: Look) => number;
  /** Draws a text, at the left margin by default. */
  text: (text: string, look: Look, place?: { x?: number; width?: number }) => void;
  /** Draws a label and beside it a value; a long value has several lines. */
  row: (label: string, value: string, look: Look, place?: { labelWidth?: number; width?: number }) => void;
  /** A hair line over the width of the text. */
  rule: () => void;
  /** Whether any text had characters written as code points. */
  escaped: () => boolean;
};

export const ink: Colour = "#1b2430";
export const muted: Colour = "#566173";
const hair: Colour = "#d3dae3";

export const margin = { side: 54, top: 50, bottom: 58 } as const;
export const textWidth = pageSize.width - 2 * margin.side;

const leadingOf = ({ size, leading = 1.4 }: Look): number => size * leading;

export function createFlow(sheets: Sheets, typeset: Typeset): Flow {
  let y: number = pageSize.height - margin.top;
  let escaped = false;

  const linesOf = (text: string, width: number, look: Look): Line[] => {
    const paragraph = typeset(text, (width * 1000) / look.size, look);
    escaped ||= paragraph.escaped;
    return paragraph.lines;
  };
  const keep = (height: number) => {
    if (y - height >= margin.bottom) return;
    sheets.newPage();
    y = pageSize.height - margin.top;
  };
  /** Lines of different sizes side by side stand on the baseline of the larger one. */
  const lineAt = (line: Line, x: number, look: Look, baseline = y - look.size) =>
    sheets.text(line, x, baseline, look.size, look.colour ?? ink);

  return {
    y: () => y,
    skip(height) {
      y -= height;
    },
    moveTo(to) {
      y = to;
    },
    keep,
    measure: (text, width, look) => linesOf(text, width, look).length * leadingOf(look),
    text(text, look, { x = margin.side, width = textWidth } = {}) {
      for (const line of linesOf(text, width, look)) {
        keep(leadingOf(look));
        lineAt(line, x, look);
        y -= leadingOf(look);
      }
    },
    row(label, value, look, { labelWidth = 118, width = textWidth } = {}) {
      const labelLook: Look = { size: 8.5, colour: muted };
      const [name] = linesOf(label, labelWidth, labelLook);
      for (const [index, line] of linesOf(value, width - labelWidth, look).entries()) {
        keep(leadingOf(look));
        if (index === 0 && name) lineAt(name, margin.side, labelLook, y - look.size);
        lineAt(line, margin.side + labelWidth, look);
        y -= leadingOf(look);
      }
    },
    rule() {
      sheets.rectangle(margin.side, y, textWidth, 0.6, hair);
    },
    escaped: () => escaped,
  };
}
