import { createHash } from "node:crypto";
import { sealReasons } from "@signsealship/evidence/seal";
import {
  appendRevision,
  bodyOf,
  bytesOf,
  endOf,
  latin1,
  type NewObject,
  type SignOptions,
  signPdf,
} from "../../../../../packages/evidence/test/seal/signed-pdf.ts";
import type { Expectation, State } from "./case.ts";
import { oddSeal } from "./sealing.ts";
import { stranger } from "./signers.ts";
import { plain } from "./way.ts";

export type Step = (pdf: Uint8Array) => Uint8Array;
export type Earlier = NonNullable<Expectation["earlier"]>[number];
export type EarlierRow = {
  readonly name: string;
  readonly steps: readonly Step[];
  readonly earlier?: readonly Earlier[];
  readonly respected?: readonly State[];
  readonly verdict?: "verified" | "not_verified";
  readonly trust?: readonly string[];
  readonly teaches: string;
};

export const sha256 = (bytes: Uint8Array) => Uint8Array.from(createHash("sha256").update(bytes).digest());
export const foreign = { signer: stranger, originalLength: "absent", reserve: 900 } as const;
export const signed =
  (options: Partial<SignOptions> = {}): Step =>
  (pdf) =>
    signPdf(pdf, { ...foreign, ...options });
export const sealedAs =
  (kind: keyof typeof sealReasons, options: Partial<SignOptions> = {}): Step =>
  (pdf) =>
    oddSeal(pdf, { reason: sealReasons[kind].live, ...options });
export const revised =
  (objects: (pdf: string) => readonly NewObject[]): Step =>
  (pdf) =>
    bytesOf(appendRevision(latin1(pdf), objects(latin1(pdf))));
export const visible = signed({ visible: true });
export const proof = sealedAs("proof");

export const state = (later: State, valid: State = "holds"): Earlier => ({
  revision_covered: "holds",
  signature_valid: valid,
  later_changes_permitted: later,
});

/** Adds an annotation that is not a widget. */
export const noted = revised((pdf) => {
  const number = endOf(pdf).size;
  const page = bodyOf(pdf, 5);
  return [
    [5, page.replace(/(\/Annots \[[^\]]*)\]/, `$1 ${number} 0 R]`)],
    [number, "<< /Type /Annot /Subtype /Text /Rect [10 10 20 20] /Contents (x) >>"],
  ];
});
/** Empties the newest signature's field. */
export const emptied = revised((pdf) => {
  const field = endOf(pdf).size - 1;
  return [[field, bodyOf(pdf, field).replace(/ \/V \d+ 0 R/, "")]];
});
/** Replaces the page's content. */
export const rewritten = revised((pdf) => {
  const number = endOf(pdf).size;
  const data = "BT /F1 18 Tf 72 720 Td (Another text) Tj ET";
  return [
    [5, bodyOf(pdf, 5).replace("/Contents 6 0 R", `/Contents ${number} 0 R`)],
    [number, `<< /Length ${data.length} >>\nstream\n${data}\nendstream`],
  ];
});
/** The same as `rewritten`, but the new section's /Prev skips the sealed revision. */
export const bypassed: Step = (pdf) =>
  bytesOf(latin1(rewritten(pdf)).replace(/\/Prev \d+(?![\s\S]*\/Prev)/, `/Prev ${endOf(plain).startxref}`));
/** Adds an unreadable font that no text uses. */
export const damaged = revised((pdf) => [
  [5, bodyOf(pdf, 5).replace("/F1 3 0 R", "/F1 3 0 R /F2 20 0 R")],
  [20, "<< /A 7x >>"],
]);

/** A signature whose field has a lock with /P 2, as in an act. */
export const locked = signed({
  objects: (list) =>
    list.map(([number, body]) => [
      number,
      body.replace("/FT /Sig", "/FT /Sig /Lock << /Action /Include /Fields [] /P 2 >>"),
    ]),
});
/** Removes the lock of the newest signature's field. */
export const unlocked = revised((pdf) => {
  const field = endOf(pdf).size - 1;
  return [[field, bodyOf(pdf, field).replace(/ \/Lock << .*? >>/, "")]];
});
const reference = "/Reference [<< /Type /SigRef /TransformMethod /DocMDP /TransformParams << /P 3 >> >>] ";
export const permissive = signed({ dictionary: (text) => text.replace("/Contents", `${reference}/Contents`) });

export const HOLE = "AAAAAAAAAA BBBBBBBBBB CCCCCCCCCC";
/**
 * Replaces each placeholder of a /ByteRange. The range leaves out the signature's own value, and ends at the end of the
 * file or `short` bytes earlier.
 */
export function ranged(pdf: string, short = 0): string {
  let text = pdf;
  for (let at = text.indexOf(HOLE); at >= 0; at = text.indexOf(HOLE)) {
    const start = text.lastIndexOf("<3003020100>", at);
    const end = start + "<3003020100>".length;
    const numbers = [start, end, text.length - short - end].map((number) => String(number).padEnd(10));
    text = text.slice(0, at) + numbers.join(" ") + text.slice(at + HOLE.length);
  }
  return text;
}
/** Adds a revision whose form has exactly `count` signatures, which all cover the file up to the revision's end. */
export const holding =
  (count: number, more = ""): Step =>
  (pdf) => {
    const text = latin1(pdf);
    const { size } = endOf(text);
    const fields = Array.from({ length: count }, (_, index) => size + 2 * index);
    const objects = fields.flatMap((field): NewObject[] => [
      [field, `<< /FT /Sig /T (f${field}) /V ${field + 1} 0 R >>`],
      [field + 1, `<< /Type /Sig /SubFilter /adbe.pkcs7.sha1 ${more}/Contents <3003020100> /ByteRange [0 ${HOLE}] >>`],
    ]);
    const form = `/AcroForm << /SigFlags 3 /Fields [${fields.map((field) => `${field} 0 R`).join(" ")}] >>`;
    const catalog = bodyOf(plain, 1).replace(/ >>$/, ` ${form} >>`);
    return bytesOf(ranged(appendRevision(text, [[1, catalog], ...objects]), more === "" ? 0 : 100));
  };
