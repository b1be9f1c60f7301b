import { EvidenceError } from "../../errors.ts";
import { cursorAt, readUnsigned } from "../cursor.ts";
import { lookUp, type PdfDocument } from "../document.ts";
import type { SignatureInPdf } from "../signatures.ts";
import type { PdfDictionary } from "../values.ts";
import { judgeHistory, type Moment, revisionEndingAt } from "./history.ts";
import type { StepResult } from "./judge.ts";
import { type ChangeLevel, reported, worst } from "./levels.ts";
import { type Lock, lockOf } from "./locks.ts";
import type { Touched } from "./step.ts";
import { createView, dictionaryOf, plainDictionary } from "./view.ts";

export { type ChangeLevel, isWithin, permits } from "./levels.ts";

/** A signature whose revision is compared with all later ones. */
export type Signed = {
  readonly dictionary: PdfDictionary;
  /** Offset of the indirect object that contains the signature dictionary. */
  readonly start: number;
  /** Number of signed bytes, and so the end of the revision. */
  readonly end: number;
};

/** The changes that later revisions made after a signed revision. */
export type LaterChanges = {
  /** True if the signed bytes form a complete revision in which a field or the catalog names the signature. */
  readonly covered: boolean;
  /** The most serious change in later revisions. `other` if a change can't be classified, or if `covered` is false. */
  readonly level: ChangeLevel;
  /**
   * The strictest permission (/P) that the signature's locks state. Null if they state none, or if `covered` is false.
   */
  readonly lockPermission: 1 | 2 | 3 | null;
  /** The name of a changed field that is locked; "" if all fields changed at once. Null if none is known. */
  readonly lockedField: string | null;
  /** A read-only field whose value a later revision recomputed; null when there is none, or it is unknown. */
  readonly readOnlyField: string | null;
  /**
   * Index of the signed revision; the newest revision has index 0. -1 unless the signature is `covered` and all later
   * revisions are readable.
   */
  readonly revision: number;
  /** The most serious change of each later revision, oldest first. */
  readonly revisions: readonly Pick<StepResult, "level" | "invisible">[];
};

const UNKNOWN: LaterChanges = {
  covered: false,
  level: "other",
  lockPermission: null,
  lockedField: null,
  readOnlyField: null,
  revision: -1,
  revisions: [],
};

/**
 * Compares each signed revision with all later ones, step by step. So a change that the next revision reverts is still
 * reported. The whole file is read once, however many signatures there are.
 */
export function laterChanges(document: PdfDocument, signatures: readonly Signed[]): LaterChanges[] {
  const found: Found[] = signatures.map(() => ({ revision: -1, covered: false, lock: null }));
  let steps: readonly StepResult[] | null = null;
  try {
    steps = compare(document, signatures, found);
  } catch (error) {
    if (!(error instanceof EvidenceError)) throw error;
  }
  const oldest = Math.max(...found.map(({ revision }) => revision));
  return found.map((one) => {
    if (!one.covered) return UNKNOWN;
    if (steps !== null) return sinceRevision(one, steps, oldest);
    return { ...UNKNOWN, covered: true, lockPermission: one.lock?.permission ?? null };
  });
}

/**
 * The strictest permission (/P) that the locks of a signature state. Null when no lock states a permission; 1 (the
 * strictest) when the locks are unreadable.
 * @param document the document at the revision in which to read the locks
 * @throws EvidenceError `limit`
 */
export function lockPermission(
  document: PdfDocument,
  { dictionary, field }: Pick<SignatureInPdf, "dictionary" | "field">,
): 1 | 2 | 3 | null {
  const view = createView(document, (number) => lookUp(document, number), new Map());
  try {
    return lockOf(view, dictionary, field).permission;
  } catch (error) {
    if (error instanceof EvidenceError && error.code !== "limit") return 1;
    throw error;
  }
}

/** Like `changedSince`, but without the field names. */
export const changesSince = (document: PdfDocument, end: number): ChangeLevel | null =>
  changedSince(document, end)?.level ?? null;

/**
 * The most serious change in revisions after the first `end` bytes, which need not be signed. Also the names of the
 * changed fields; the name "" means that a revision changes all fields of the form.
 * @returns null when the first `end` bytes are not a revision of the document, or later revisions are unreadable
 */
export function changedSince(
  document: PdfDocument,
  end: number,
): { readonly level: ChangeLevel; readonly fields: readonly string[] } | null {
  try {
    const revision = revisionEndingAt(document, end);
    if (revision < 0) return null;
    const steps = judgeHistory(document, revision, end, () => {});
    const fields = steps.flatMap(({ touched }) => touched.map(({ name }) => name ?? ""));
    return { level: reported(worst(steps.map(({ level }) => level))), fields };
  } catch (error) {
    if (error instanceof EvidenceError) return null;
    throw error;
  }
}

type Found = { revision: number; covered: boolean; lock: Lock | null };

function compare(document: PdfDocument, signatures: readonly Signed[], found: readonly Found[]): StepResult[] {
  for (const [index, one] of found.entries()) one.revision = revisionEndingAt(document, signatures[index]?.end ?? 0);
  const oldest = Math.max(-1, ...found.map(({ revision }) => revision));
  if (oldest < 0) return [];
  const ends = signatures.flatMap(({ end }, index) => (found[index]?.revision === oldest ? [end] : []));
  return judgeHistory(document, oldest, Math.max(...ends), (revision, moment) => {
    for (const [index, one] of found.entries()) {
      const signature = signatures[index];
      if (signature === undefined || one.revision !== revision) continue;
      const field = fieldOf(document, moment, signature);
      one.covered = field !== null && moment.reaches <= signature.end;
      one.lock = lockOf(moment.view, signature.dictionary, field ?? undefined);
    }
  });
}

function sinceRevision({ revision, lock }: Found, steps: readonly StepResult[], oldest: number): LaterChanges {
  const later = steps.slice(oldest - revision);
  const touched = later.flatMap((step) => step.touched);
  return {
    covered: true,
    level: reported(worst(later.map(({ level }) => level))),
    lockPermission: lock?.permission ?? null,
    lockedField: nameOf(touched.find((one) => lock?.locks(one))),
    readOnlyField: nameOf(touched.find(({ readOnly }) => readOnly)),
    revision,
    revisions: later,
  };
}

const nameOf = (touched: Touched | undefined) => (touched === undefined ? null : (touched.name ?? ""));

/**
 * The field whose value is the signature; undefined when only the catalog names the signature, null when nothing does.
 */
function fieldOf(document: PdfDocument, { view, reach }: Moment, { start }: Signed): PdfDictionary | undefined | null {
  const number = readUnsigned(cursorAt(document.bytes, start));
  if (number === undefined || view.get(number)?.start !== start) return null;
  const field = reach.signed.get(number) ?? (reach.fields.get(number)?.type === "Sig" ? number : undefined);
  if (field !== undefined) return dictionaryOf(view.get(field)) ?? null;
  const catalog = plainDictionary(view, view.trailer.entries.get("Root"));
  const certification = plainDictionary(view, catalog?.entries.get("Perms"))?.entries.get("DocMDP");
  return certification?.kind === "reference" && certification.number === number ? undefined : null;
}
