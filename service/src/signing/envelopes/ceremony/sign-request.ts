import { createPublicKey } from "node:crypto";
import { invalid, ServiceError } from "../../../kernel/platform/errors.ts";
import type { Language } from "../../../kernel/platform/languages.ts";
import { isPlainText, isVisible } from "../../../kernel/platform/text.ts";
import { applyRules, type Calculated, dateText, readFieldValue, textsIn } from "../../../orders/order/order.ts";
import {
  initialsOf,
  isButton,
  OFF,
  ON,
  type PreparedField,
  type ReferencedField,
  type SignatureMark,
  type UploadedMark,
} from "../pdf/fields.ts";
import { maxPicture } from "../pictures/pictures.ts";
import type { SignRequest } from "./ceremony.ts";

const maxNameLength = 100;
const maxTextLength = 500;
const maxStrokes = 200;
const maxPoints = 5_000;
const maxPixels = 10_000;

/**
 * Requires a valid mark (the visible signature).
 * @throws ServiceError naming the error in the mark
 */
export function requireMark(mark: SignatureMark): void {
  if (mark.kind === "typed") {
    if (!isVisible(mark.text) || !isPlainText(mark.text)) throw invalid("Type your name to sign.");
    if ([...mark.text].length > maxNameLength)
      throw invalid(`A typed signature must have at most ${maxNameLength} characters.`);
    return;
  }
  if (mark.kind === "uploaded") {
    requirePicture(mark);
    return;
  }
  const { width, height, strokes } = mark;
  const isLength = (value: number) => Number.isFinite(value) && value >= 1 && value <= maxPixels;
  if (!isLength(width) || !isLength(height)) throw invalid("The width and height of the drawing are out of bounds.");
  if (strokes.length === 0 || strokes.some((stroke) => stroke.length === 0)) throw invalid("The drawing is empty.");
  if (strokes.length > maxStrokes) throw invalid(`A drawing must have at most ${maxStrokes} strokes.`);
  const points = strokes.flat();
  if (points.length > maxPoints) throw invalid(`A drawing must have at most ${maxPoints} points.`);
  if (!points.every(([x, y]) => x >= 0 && x <= width && y >= 0 && y <= height))
    throw invalid("All points of the drawing must be inside it.");
}

/**
 * Checks the size and the number of samples of an uploaded picture. A worker decoded the picture earlier, but the
 * browser has sent it again since.
 */
function requirePicture({ width, height, rgb, alpha }: UploadedMark): void {
  const isSide = (side: number, max: number) => Number.isInteger(side) && side >= 1 && side <= max;
  const pixels = width * height;
  if (!isSide(width, maxPicture.width) || !isSide(height, maxPicture.height))
    throw invalid("The width and height of the picture are out of bounds.");
  if (rgb.length !== pixels * 3 || (alpha && alpha.length !== pixels)) throw invalid("The picture is incomplete.");
}

type Filling = {
  readonly name: string;
  readonly at: Date;
  readonly language: Language;
  /** The time zone of the dates that are written into the document. */
  readonly zone: string;
};

/** The values that an act writes into the signer's fields, and the names of fields that a condition hides. */
type Filled = { readonly values: ReadonlyMap<string, string>; readonly hidden: ReadonlySet<string> };

/**
 * Computes the values of the signer's fields. The service fills in dates, calculated numbers, and a name or initials
 * that the signer left empty. Fields that a condition hides become empty. All other values are the signer's.
 * @param own the signer's fields
 * @param referenced other people's fields to which the rules of the signer's fields refer
 * @throws ServiceError naming a field that is missing or has an invalid value; `conflict` for an unknown field, and for
 * a calculated number that the page showed differently
 */
export function valuesOf(
  own: readonly PreparedField[],
  { values }: Pick<SignRequest, "values">,
  filling: Filling,
  referenced: readonly ReferencedField[],
): Filled {
  const names = new Set(own.map((field) => field.name));
  for (const name of values.keys())
    if (!names.has(name)) throw new ServiceError("conflict", "The document has changed. Reload the page.");
  const typedIn = ({ name }: PreparedField) => (values.get(name) ?? "").trim();
  const rules = applyRules([...own, ...referenced], (field) =>
    "texts" in field ? field.texts : textsIn(field, typedIn(field)),
  );
  const filled = new Map<string, string>();
  const hidden = new Set<string>();
  for (const field of own) {
    const { kind, name } = field;
    if (kind === "signature" || kind === "mark") continue;
    const sent = values.get(name);
    if (!rules.isShown(field)) hidden.add(name);
    if (!rules.isShown(field)) filled.set(name, isButton(field) ? OFF : "");
    else if (field.formula !== undefined) filled.set(name, resultOf(field, rules.calculate(field), sent));
    else filled.set(name, isButton(field) ? stateOf(field, sent) : textOf(field, sent, filling));
  }
  requireChoices(
    own.filter(({ name }) => !hidden.has(name)),
    filled,
  );
  return { values: filled, hidden };
}

/**
 * Returns the result of a formula. Throws if the page showed another value, because nobody may sign a number that was
 * not on their page.
 * @param sent the value that the page showed
 */
function resultOf(field: PreparedField, result: Calculated, sent = ""): string {
  if (result === "no value" && field.required)
    throw invalid(`${labelOf(field)} can't be calculated: it divides by zero.`);
  if (typeof result === "object" && "rule" in result) throw invalid(`${labelOf(field)} is out of its bounds.`);
  const value = result === "no value" ? "" : result.value;
  if (sent.trim() !== value)
    throw new ServiceError("conflict", `${labelOf(field)} is ${value}. Look at it, and sign again.`);
  return value;
}

const labelOf = ({ label }: PreparedField): string => label ?? "A field";

function stateOf(field: PreparedField, sent: string | undefined): string {
  const state = sent ?? OFF;
  if (state !== ON && state !== OFF) throw invalid(`${labelOf(field)} must be checked or not.`);
  const mustBe = field.required && field.group === undefined;
  if (field.kind === "checkbox" && mustBe && state === OFF) throw invalid(`${labelOf(field)} must be checked.`);
  return state;
}

/**
 * Checks how many options are selected. A required radio needs exactly one, and an optional radio takes at most one. A
 * multiple choice needs as many as the order demands.
 */
function requireChoices(own: readonly PreparedField[], filled: ReadonlyMap<string, string>): void {
  for (const radio of own.filter((field, index) => own.findIndex(({ group }) => group === field.group) === index)) {
    if (radio.group === undefined) continue;
    const on = own.filter(({ group, name }) => group === radio.group && filled.get(name) === ON).length;
    if (radio.choices) {
      const { least, most } = radio.choices;
      if (on < least) throw invalid(`${labelOf(radio)} needs at least ${least} of its options.`);
      if (on > most) throw invalid(`${labelOf(radio)} takes at most ${most} of its options.`);
      continue;
    }
    if (on > 1) throw invalid(`${labelOf(radio)} takes one choice.`);
    if (on === 0 && radio.required) throw invalid(`${labelOf(radio)} must be chosen.`);
  }
}

function textOf(field: PreparedField, sent: string | undefined, { name, at, language, zone }: Filling): string {
  const { kind, format, options } = field;
  if (kind === "date") return dateText(at, { format, language, zone });
  const typed = (sent ?? "").trim();
  if (!isPlainText(typed)) throw invalid("A field must be text on one line.");
  if ([...typed].length > maxTextLength) throw invalid(`A field must have at most ${maxTextLength} characters.`);
  const text = typed || (kind === "name" ? name : kind === "initials" ? initialsOf(name) : "");
  if (text === "") {
    if (field.required) throw invalid(`${labelOf(field)} must be filled in.`);
    return text;
  }
  const read = readFieldValue({ kind, format, options }, text);
  if ("rule" in read) throw invalid(`${labelOf(field)} does not accept this value.`);
  return read.value;
}

/**
 * The DER prefix of a SubjectPublicKeyInfo of P-256 with a named curve, as RFC 5480 requires, and an uncompressed
 * point. OpenSSL alone would also accept other encodings.
 */
const prefix = Buffer.from("3059301306072a8648ce3d020106082a8648ce3d03010703420004", "hex");
const spkiBytes = 91;

/**
 * Requires a public key that a browser created for P-256.
 * @throws ServiceError unless the bytes are the SubjectPublicKeyInfo of a P-256 key in DER
 */
export function requireP256(spki: Uint8Array): void {
  const refusal = invalid("publicKey must be the SubjectPublicKeyInfo of a P-256 key.");
  if (spki.length !== spkiBytes || !prefix.equals(spki.subarray(0, prefix.length))) throw refusal;
  try {
    const key = createPublicKey({ key: Buffer.from(spki), format: "der", type: "spki" });
    if (key.asymmetricKeyDetails?.namedCurve === "prime256v1") return;
  } catch {
    throw refusal;
  }
  throw refusal;
}
