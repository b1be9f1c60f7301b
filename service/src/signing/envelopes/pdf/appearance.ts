import {
  addPicture,
  addResources,
  type Canvas,
  colorOperands,
  createCanvas,
  createGlyphFonts,
  type Typeset,
} from "@signsealship/certificate";
import type { ObjectWriter } from "@signsealship/certificate/pdf-file";
import type { PreparedField, SignatureMark, UploadedMark } from "./fields.ts";

/**
 * Draws the appearances of all fields of one revision, with one set of fonts, which must be loaded before. Everything
 * is drawn with the blend mode Multiply, so that signers see the page below the fields of other signers. Only the
 * rectangle that hides a tag is opaque.
 */
export type Appearances = {
  /** Draws the outline and the label of a field that its signer has not filled in. */
  empty: (field: Shape, label: string) => Drawing;
  text: (field: Shape, text: string) => Drawing;
  /** Draws a checkbox or an option of a radio, checked or not. */
  box: (field: Shape, is: { readonly round: boolean; readonly on: boolean }) => Drawing;
  /**
   * Draws a visible signature and its caption.
   * @param caption the line below the mark: the time, the signer and the first digits of the act's hash
   */
  signature: (field: Shape, mark: SignatureMark, caption: string) => Drawing;
  /**
   * Writes the fonts and the drawings into a revision.
   * @returns the reference of each drawing's form XObject
   */
  addTo: (to: ObjectWriter) => (drawing: Drawing | null) => string;
};

type Size = Pick<PreparedField, "width" | "height" | "unit">;
type Shape = Pick<PreparedField, "width" | "height" | "unit" | "matrix" | "covers" | "place">;
export type Drawing = { readonly shape: Shape; readonly canvas: Canvas };

const ink = "#17212e";
const pen = "#10307a";
const muted = "#4a5568";
const waiting = "#8a6100";
/**
 * Black in an uploaded picture becomes this gray. Black text under the picture then has a contrast of 3 to 1 with the
 * gray (WCAG 2.2, section 1.4.11).
 */
const darkest = 0.35;
/** A width so large that no text is wrapped. */
const oneLine = 1_000_000;
const captionPoints = 6.5;

export function createAppearances(typeset: Typeset): Appearances {
  const glyphs = createGlyphFonts();
  const drawings: Drawing[] = [];
  // A revision has only one signer, so it stores one picture, even if the signature appears several times.
  let picture: UploadedMark | null = null;
  const begin = (shape: Shape): Drawing => {
    const drawing = { shape, canvas: createCanvas(glyphs) };
    drawings.push(drawing);
    return drawing;
  };

  /** Draws a text on one line, as large as its box allows, but at most `max` points. */
  function line(
    { canvas, shape }: Drawing,
    text: string,
    box: { x: number; y: number; width: number; height: number },
    { max, color }: { max: number; color: `#${string}` },
  ): void {
    const [set] = typeset(text, oneLine).lines;
    if (!set || set.width === 0) return;
    const size = Math.min(max / shape.unit, box.height / 1.25, (1000 * box.width) / set.width);
    canvas.text(set, box.x, box.y + (box.height - size) / 2 + 0.24 * size, round(size), color);
  }

  return {
    empty(shape, label) {
      const drawing = begin(shape);
      // An outline without a background, because some readers ignore blend modes: a background would hide the words
      // below.
      drawing.canvas.drawing(0, 0, 1, outline(shape));
      line(drawing, label, inset(shape), { max: 9, color: waiting });
      return drawing;
    },
    text(shape, text) {
      const drawing = begin(shape);
      line(drawing, text, inset(shape), { max: 11, color: ink });
      return drawing;
    },
    box(shape, { round, on }) {
      const drawing = begin(shape);
      const { place, unit } = shape;
      // The drawing may be larger than the box, because it may also hide a tag. So the box has its own size.
      const size = { ...shape, width: place.width / unit, height: place.height / unit };
      drawing.canvas.drawing(0, 0, 1, round ? circles(size, on) : checkBox(size, on));
      return drawing;
    },
    signature(shape, mark, caption) {
      const drawing = begin(shape);
      const { width, height } = shape;
      const below = Math.min(1.5 * (captionPoints / shape.unit), height / 3);
      const above = { x: 0, y: below, width, height: height - below };
      if (mark.kind === "typed") line(drawing, mark.text, above, { max: 28, color: pen });
      else if (mark.kind === "drawn") drawStrokes(drawing.canvas, mark, above, shape.unit);
      else {
        picture = mark;
        drawPicture(drawing.canvas, mark, above);
      }
      drawing.canvas.rectangle(0, below, width, 0.5 / shape.unit, muted);
      line(drawing, caption, { x: 0, y: 0, width, height: below }, { max: captionPoints, color: muted });
      return drawing;
    },
    addTo(to) {
      if (drawings.length === 0) return () => "";
      const pictures = picture ? `/XObject<</Picture ${addPicture(to, lightened(picture))}>>` : "";
      const resources = addResources(to, glyphs, `/ExtGState<</Multiply<</BM/Multiply>>>>${pictures}`);
      const added = new Map<Drawing, string>();
      for (const drawing of drawings) {
        const { width, height, matrix } = drawing.shape;
        const box = `/BBox[0 0 ${round(width)} ${round(height)}]/Matrix[${matrix.join(" ")}]`;
        const form = `/Type/XObject/Subtype/Form${box}/Resources ${resources}`;
        added.set(drawing, to.stream(form, `${cover(drawing.shape)}/Multiply gs\n${drawing.canvas.operators()}`));
      }
      return (drawing) => (drawing && added.get(drawing)) ?? "";
    },
  };
}

/**
 * A white rectangle that hides the text of a tag. It is drawn before the blend mode is set, because all other parts
 * must let the page show through.
 */
const cover = ({ covers }: Shape): string =>
  covers ? `1 1 1 rg ${[covers.x, covers.y, covers.width, covers.height].map(round).join(" ")} re f\n` : "";

/** The size in points at which a text fits on one line of its place; null for a text without glyphs. */
export function fittingPoints(shape: Size, text: string, typeset: Typeset): number | null {
  const [set] = typeset(text, oneLine).lines;
  if (!set || set.width === 0) return null;
  const { width, height } = inset(shape);
  return shape.unit * Math.min(height / 1.25, (1000 * width) / set.width);
}

const round = (value: number): number => Math.round(value * 1000) / 1000;

/** The border of an empty place, drawn inside it. */
function outline({ width, height, unit }: Shape): string {
  const thin = Math.min(0.75 / unit, width / 4, height / 4);
  const frame = [thin / 2, thin / 2, width - thin, height - thin].map(round).join(" ");
  return `${colorOperands(waiting)} RG ${round(thin)} w ${frame} re S`;
}

/** The outline of a checkbox, with a check mark when it is on. */
function checkBox({ width, height, unit }: Shape, on: boolean): string {
  const thin = 0.75 / unit;
  const frame = [thin / 2, thin / 2, width - thin, height - thin].map(round).join(" ");
  const box = `${colorOperands(ink)} RG ${round(thin)} w ${frame} re S`;
  if (!on) return box;
  const at = (x: number, y: number) => `${round(x * width)} ${round(y * height)}`;
  const check = `${at(0.2, 0.5)} m ${at(0.42, 0.24)} l ${at(0.8, 0.78)} l S`;
  return `${box} ${penOperators} ${round(Math.min(width, height) / 8)} w 1 J 1 j ${check}`;
}

/** The outline of a radio's option, with a disk when it is on. */
function circles({ width, height, unit }: Shape, on: boolean): string {
  const [thin, radius] = [0.75 / unit, Math.min(width, height) / 2];
  const outer = `${colorOperands(ink)} RG ${round(thin)} w ${circle(width / 2, height / 2, radius - thin / 2)} s`;
  return on ? `${outer} ${colorOperands(pen)} rg ${circle(width / 2, height / 2, radius * 0.5)} f` : outer;
}

/** Four curves, each a quarter of a circle, accurate to 0.03 percent of the radius. */
function circle(x: number, y: number, radius: number): string {
  const arm = 0.5523 * radius;
  const point = (dx: number, dy: number) => `${round(x + dx)} ${round(y + dy)}`;
  const quarter = (from: readonly [number, number], to: readonly [number, number]): string => {
    const [[ax, ay], [bx, by]] = [from, to];
    const k = arm / radius;
    return `${point(ax + bx * k, ay + by * k)} ${point(bx + ax * k, by + ay * k)} ${point(bx, by)} c`;
  };
  const corners = [
    [radius, 0],
    [0, radius],
    [-radius, 0],
    [0, -radius],
    [radius, 0],
  ] as const;
  const quarters = corners.slice(1).map((to, index) => quarter(corners[index] ?? to, to));
  return `${point(radius, 0)} m ${quarters.join(" ")}`;
}

function inset({ width, height, unit }: Size) {
  const by = Math.min(3 / unit, width / 10);
  return { x: by, y: 0, width: width - 2 * by, height };
}

/** Draws strokes of a round pen, as large as the box allows. */
function drawStrokes(
  canvas: Canvas,
  { width, height, strokes }: Extract<SignatureMark, { kind: "drawn" }>,
  box: { x: number; y: number; width: number; height: number },
  unit: number,
): void {
  const scale = Math.min(box.width / width, box.height / height);
  const at = ([x, y]: readonly [number, number]) => `${round(x * scale)} ${round((height - y) * scale)}`;
  const paths = strokes.map(([first, ...rest]) => {
    if (!first) return "";
    // A single point becomes a dot: a line of zero length with round ends.
    const further = rest.length > 0 ? rest : [first];
    return `${at(first)} m ${further.map((point) => `${at(point)} l`).join(" ")} S`;
  });
  canvas.drawing(box.x, box.y, 1, `${penOperators} ${round(1.4 / unit)} w 1 J 1 j ${paths.join(" ")}`);
}

/**
 * Lightens a picture before it is multiplied onto the page. Black ink would hide black text below it, so the darkest
 * sample becomes `darkest`; white stays white.
 */
function lightened({ rgb, ...picture }: UploadedMark): UploadedMark {
  return { ...picture, rgb: rgb.map((sample) => Math.round(255 * darkest + sample * (1 - darkest))) };
}

/** Draws the picture as large as its box allows, aligned to the left. */
function drawPicture(
  canvas: Canvas,
  { width, height }: UploadedMark,
  box: { x: number; y: number; width: number; height: number },
): void {
  const scale = Math.min(box.width / width, box.height / height);
  canvas.drawing(box.x, box.y, 1, `${round(width * scale)} 0 0 ${round(height * scale)} 0 0 cm /Picture Do`);
}

const penOperators = "0.063 0.188 0.478 RG";
