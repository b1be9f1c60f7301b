import { invalid, ServiceError } from "../../platform/errors.ts";
import { isPlainText, isVisible } from "../../platform/text.ts";
import type { PreparedField, SignatureMark, UploadedMark } from "../pdf/fields.ts";
import { mostPicture } from "../pictures/pictures.ts";
import type { SignRequest } from "./ceremony.ts";

const mostNameLength = 100;
const mostTextLength = 500;
const mostStrokes = 200;
const mostPoints = 5_000;
const mostPixels = 10_000;

/** @throws ServiceError naming what is wrong with a mark */
export function requireMark(mark: SignatureMark): void {
  if (mark.kind === "typed") {
    if (!isVisible(mark.text) || !isPlainText(mark.text)) throw invalid("Type your name to sign.");
    if ([...mark.text].length > mostNameLength)
      throw invalid(`A typed signature must have at most ${mostNameLength} characters.`);
    return;
  }
  if (mark.kind === "uploaded") {
    requirePicture(mark);
    return;
  }
  const { width, height, strokes } = mark;
  const isLength = (value: number) => Number.isFinite(value) && value >= 1 && value <= mostPixels;
  if (!isLength(width) || !isLength(height)) throw invalid("The drawing has no proper size.");
  if (strokes.length === 0 || strokes.some((stroke) => stroke.length === 0)) throw invalid("The drawing is empty.");
  if (strokes.length > mostStrokes) throw invalid(`A drawing must have at most ${mostStrokes} strokes.`);
  const points = strokes.flat();
  if (points.length > mostPoints) throw invalid(`A drawing must have at most ${mostPoints} points.`);
  if (!points.every(([x, y]) => x >= 0 && x <= width && y >= 0 && y <= height))
    throw invalid("A point of the drawing lies beside it.");
}

/** Whoever calls has read the picture: that its samples are as many as it says is checked all the same. */
function requirePicture({ width, height, rgb, alpha }: UploadedMark): void {
  const isSide = (side: number, most: number) => Number.isInteger(side) && side >= 1 && side <= most;
  const pixels = width * height;
  if (!isSide(width, mostPicture.width) || !isSide(height, mostPicture.height))
    throw invalid("The picture has no proper size.");
  if (rgb.length !== pixels * 3 || (alpha && alpha.length !== pixels)) throw invalid("The picture is not whole.");
}

/**
 * What the signer's text fields will hold: dates and the name are the service's, the rest is as it was typed.
 * @param own the signer's fields
 * @throws ServiceError naming a field that is missing or can't be filled so
 */
export function valuesOf(
  own: readonly PreparedField[],
  { values }: Pick<SignRequest, "values">,
  { name, at }: { name: string; at: Date },
): Map<string, string> {
  const known = new Set(own.map((field) => field.name));
  for (const given of values.keys())
    if (!known.has(given)) throw new ServiceError("conflict", "The document has changed. Reload the page.");
  const filled = new Map<string, string>();
  for (const field of own) {
    const { kind } = field;
    if (kind === "signature" || kind === "mark") continue;
    const typed = (values.get(field.name) ?? "").trim();
    if (!isPlainText(typed)) throw invalid("A field must be text on one line.");
    if ([...typed].length > mostTextLength) throw invalid(`A field must have at most ${mostTextLength} characters.`);
    const text = textOf(kind, typed, name, at);
    if (field.required && text === "") throw invalid(`${field.label ?? "A field"} must be filled in.`);
    filled.set(field.name, text);
  }
  return filled;
}

function textOf(kind: PreparedField["kind"], typed: string, name: string, at: Date): string {
  if (kind === "date") return at.toISOString().slice(0, 10);
  if (kind === "name") return typed || name;
  if (kind === "initials") return typed || initialsOf(name);
  return typed;
}

/** `Jane van Doe`: `JvD`. */
const initialsOf = (name: string): string =>
  name
    .split(/\s+/)
    .map((part) => [...part][0] ?? "")
    .join("");
