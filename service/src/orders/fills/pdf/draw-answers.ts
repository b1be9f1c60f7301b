import { addResources, type Canvas, createCanvas, createGlyphFonts, type Typeset } from "@signsealship/certificate";
import type { ObjectWriter } from "@signsealship/certificate/pdf-file";
import { shownPlace, toUserSpace, type UserSpaceRect } from "../../../kernel/pdf/pages/page-box.ts";
import type { WidgetOnPage } from "./form-questions.ts";

type Upright = Pick<UserSpaceRect, "matrix" | "width" | "height">;
export type Drawn = { readonly canvas: Canvas; readonly upright: Upright };

type TextLook = {
  readonly text: string;
  /** True if the field may have several lines of text. */
  readonly lines: boolean;
  /** The number of cells of a comb field, with one character in each; 0 for other fields. */
  readonly cells: number;
  /** The font size that the PDF form states; 0 means that the size is chosen to fit the field. */
  readonly points: number;
  /** 0 left, 1 centered, 2 right (ISO 32000-2, table 226). */
  readonly align: number;
};

/** The drawing functions for one revision. They share one set of fonts. */
export type Ink = {
  /**
   * Draws the text of a field.
   * @returns the drawing, or why the text can't be drawn
   */
  readonly text: (widget: WidgetOnPage, look: TextLook) => Drawn | "long" | "characters";
  /**
   * Draws both states of a check box, for a PDF form that has no drawings of its own.
   * @returns the appearance dictionary
   */
  readonly boxes: (to: ObjectWriter, widget: WidgetOnPage, isRound: boolean, state: string) => string;
  /**
   * Adds all drawings made so far to a revision, as form XObjects.
   * @returns a function that finds the reference of a drawing's form XObject
   */
  readonly addTo: (to: ObjectWriter) => (drawing: Drawn) => string;
};

const ink = "#17212e";
/**
 * The smallest font size, in points: smaller text can't be read on paper. Exceptions: the form states a smaller size,
 * the field is too low, or the cells of a comb field are too narrow.
 */
const min = 6;
const usual = 11;
const leading = 1.2;
/** A width at which the typesetter never wraps the text. */
const oneLine = 1_000_000;
const round = (value: number): number => Math.round(value * 1000) / 1000;

/**
 * The width and height of a field as PDF readers display it, on rotated pages too. `matrix` leads from these displayed
 * coordinates to user space.
 */
function uprightOf({ box, rect }: WidgetOnPage): Upright {
  const { matrix, width, height } = toUserSpace(box, shownPlace(box, rect));
  return { matrix, width, height };
}

export function openInk(typeset: Typeset): Ink {
  const glyphs = createGlyphFonts();
  const drawings: Drawn[] = [];

  return {
    text(widget, look) {
      const upright = uprightOf(widget);
      const { unit } = widget.box;
      const paragraphs = look.text === "" ? [] : look.text.split("\n");
      if (paragraphs.some((each) => typeset(each, oneLine).escaped)) return "characters";
      const canvas = createCanvas(glyphs);
      const drawn = { canvas, upright };
      if (paragraphs.length > 0) {
        const at = { ...upright, unit };
        const fits =
          look.cells > 0
            ? inCells(canvas, typeset, at, look)
            : look.lines
              ? inLines(canvas, typeset, at, look, paragraphs)
              : onOneLine(canvas, typeset, at, look);
        if (!fits) return "long";
      }
      drawings.push(drawn);
      return drawn;
    },
    boxes(to, widget, isRound, state) {
      const { width, height, matrix } = uprightOf(widget);
      const form = `/Type/XObject/Subtype/Form/BBox[0 0 ${round(width)} ${round(height)}]/Matrix[${matrix.join(" ")}]/Resources<<>>`;
      const on = isRound ? dot(width, height) : check(width, height);
      return `<</N<<${state} ${to.stream(form, on)}/Off ${to.stream(form, "")}>>>>`;
    },
    addTo(to) {
      if (drawings.length === 0) return () => "null";
      const resources = addResources(to, glyphs);
      const added = new Map<Drawn, string>();
      for (const drawn of drawings) {
        const { width, height, matrix } = drawn.upright;
        const box = `/BBox[0 0 ${round(width)} ${round(height)}]/Matrix[${matrix.join(" ")}]`;
        const entries = `/Type/XObject/Subtype/Form${box}/Resources ${resources}`;
        added.set(drawn, to.stream(entries, `/Tx BMC\nq\n${drawn.canvas.operators()}\nQ\nEMC`));
      }
      return (drawn) => added.get(drawn) ?? "null";
    },
  };
}

type At = { width: number; height: number; unit: number };

const pad = ({ width, unit }: At): number => Math.min(2 / unit, width / 10);
/** The font size that is tried first, in units of user space. */
const sizeOf = ({ height, unit }: At, { points }: TextLook): number =>
  Math.min((points > 0 ? points : usual) / unit, height / leading);
const minOf = (at: At, look: TextLook): number => Math.min(min / at.unit, sizeOf(at, look));

function across(at: At, { align }: TextLook, width: number): number {
  const room = at.width - 2 * pad(at) - width;
  return pad(at) + (align === 1 ? room / 2 : align === 2 ? room : 0);
}

function onOneLine(canvas: Canvas, typeset: Typeset, at: At, look: TextLook): boolean {
  const [line] = typeset(look.text, oneLine).lines;
  if (!line || line.width === 0) return true;
  const size = Math.min(sizeOf(at, look), (1000 * (at.width - 2 * pad(at))) / line.width);
  if (size < minOf(at, look) - 0.001) return false;
  const x = across(at, look, (line.width * size) / 1000);
  canvas.text(line, x, (at.height - size) / 2 + 0.24 * size, round(size), ink);
  return true;
}

function inLines(canvas: Canvas, typeset: Typeset, at: At, look: TextLook, paragraphs: readonly string[]): boolean {
  const step = 0.5 / at.unit;
  for (let size = sizeOf(at, look); size >= minOf(at, look) - 0.001; size -= step) {
    const width = (1000 * (at.width - 2 * pad(at))) / size;
    const lines = paragraphs.flatMap((each) => (each === "" ? [null] : typeset(each, width).lines));
    const top = at.height - Math.min(2 / at.unit, at.height / 10);
    if (lines.length * leading * size > top + 0.001 || lines.some((line) => line && line.width > width + 1)) continue;
    for (const [index, line] of lines.entries())
      if (line && line.width > 0)
        canvas.text(
          line,
          across(at, look, (line.width * size) / 1000),
          top - (index + 0.8) * leading * size,
          round(size),
          ink,
        );
    return true;
  }
  return false;
}

function inCells(canvas: Canvas, typeset: Typeset, at: At, look: TextLook): boolean {
  const characters = [...look.text];
  if (characters.length > look.cells) return false;
  const cell = at.width / look.cells;
  const size = Math.min(sizeOf(at, look), cell * 1.2);
  for (const [index, character] of characters.entries()) {
    const [line] = typeset(character, oneLine).lines;
    if (!line || line.width === 0) continue;
    const x = index * cell + (cell - (line.width * size) / 1000) / 2;
    canvas.text(line, x, (at.height - size) / 2 + 0.24 * size, round(size), ink);
  }
  return true;
}

function check(width: number, height: number): string {
  const at = (x: number, y: number) => `${round(x * width)} ${round(y * height)}`;
  return `0.09 0.13 0.18 RG ${round(Math.min(width, height) / 8)} w 1 J 1 j ${at(0.2, 0.5)} m ${at(0.42, 0.24)} l ${at(0.8, 0.78)} l S`;
}

/** A round dot: a line of zero length with round ends. */
const dot = (width: number, height: number): string =>
  `0.09 0.13 0.18 RG ${round(Math.min(width, height) / 2)} w 1 J ${round(width / 2)} ${round(height / 2)} m ${round(width / 2)} ${round(height / 2)} l S`;
