import type { WholeCase } from "../../../../../packages/evidence/test/whole-cases.ts";
import { verifiedAt } from "./signers.ts";

export type State = "holds" | "fails" | "unchecked";
export type Verdict = "verified" | "verified_test" | "intact" | "unchecked" | "unsigned" | "not_a_pdf" | "not_verified";

/**
 * The result of a conforming verifier for a case. It is written by hand from docs/evidence-format.md, never recorded
 * from a run.
 */
export type Expectation = {
  readonly verdict: Verdict;
  /** The claims that the format decides, by name; a list of states if the claim is made several times. */
  readonly claims: Readonly<Record<string, State | readonly State[]>>;
  /**
   * For each signature that the document had before it was sealed: its claims (docs/evidence-format.md, section 7), in
   * the order of the file.
   */
  readonly earlier?: readonly Readonly<Record<string, State>>[];
};

type Kind =
  | "sealed_pdf"
  | "evidence_zip"
  | "proof_record"
  | "room_record"
  | "closing_set"
  | "room_document"
  | "custody_set";

/** One vector, with an expected result that is written by hand. */
export type VectorCase = Omit<WholeCase, "kind" | "verdict" | "claims"> & {
  readonly kind: Kind;
  readonly expect: Expectation;
  readonly teaches: string;
};

export type Made = {
  readonly cases: readonly VectorCase[];
  /** The bytes of each file, by the name that the cases use. */
  readonly files: ReadonlyMap<string, Uint8Array>;
};

/**
 * Converts a case to its form in the index: one list of claims, with the earlier signatures' claims named by number.
 */
export function indexed({ expect, teaches, ...one }: VectorCase) {
  const listed = Object.entries(expect.claims).flatMap(([claim, states]) =>
    [states].flat().map((state) => ({ claim, state })),
  );
  const earlier = (expect.earlier ?? []).flatMap((claims, index) =>
    Object.entries(claims).map(([name, state]) => ({ claim: `earlier.${index + 1}.${name}`, state })),
  );
  return { ...one, verdict: expect.verdict, claims: [...listed, ...earlier], teaches };
}

/** A case; without `trust`, `tsaTrust` and `at`, those of most cases. */
export type NewCase = Omit<VectorCase, "trust" | "tsaTrust" | "at"> & Partial<VectorCase>;

/** Collects the cases and files of one folder of vectors. */
export function collection(folder: string) {
  const cases: VectorCase[] = [];
  const files = new Map<string, Uint8Array>();
  const slug = (name: string) =>
    name
      .replace(/[^A-Za-z0-9]+/g, "-")
      .replace(/^-|-$/g, "")
      .toLowerCase();
  const put = (name: string, bytes: Uint8Array): string => {
    const path = `${folder}/${name}`;
    const known = files.get(path);
    if (known !== undefined && Buffer.compare(known, bytes) !== 0) throw new Error(`two files of the name ${path}`);
    files.set(path, bytes);
    return path;
  };
  const trust = (name: string, pem: string): string => {
    files.set(`trust/${name}`, Buffer.from(pem));
    return `trust/${name}`;
  };
  return {
    put,
    trust,
    slug,
    add: (one: NewCase): void => {
      cases.push({ trust: ["trust/seal.pem"], tsaTrust: ["trust/tsa.pem"], at: verifiedAt, ...one });
    },
    made: (): Made => ({ cases, files }),
  };
}

/** Every claim about a valid seal without detached evidence (docs/evidence-format.md, section 6.3). */
const SEAL: Readonly<Record<string, State>> = {
  pdf_readable: "holds",
  whole_file_covered: "holds",
  signature_structure: "holds",
  document_unchanged_since_seal: "holds",
  seal_signature_valid: "holds",
  seal_place: "holds",
  seal_purpose: "holds",
  seal_certificate_trusted: "holds",
  seal_certificate_valid_at_time: "holds",
  time_stamp_valid: "unchecked",
  original_document_hash: "holds",
};

/** The claims of a good sealed PDF, with changes; null removes a claim that the format leaves open. */
function sealClaims(changes: Readonly<Record<string, State | null>> = {}): Record<string, State> {
  const all = Object.entries<State | null>({ ...SEAL, ...changes });
  return Object.fromEntries(all.filter((entry): entry is [string, State] => entry[1] !== null));
}

type Changes = Readonly<Record<string, State | null>>;
const expected =
  (verdict: Verdict) =>
  (changes: Changes = {}) => ({ verdict, claims: sealClaims(changes) });
export const verified = expected("verified");
export const verifiedTest = (changes: Changes = {}) =>
  expected("verified_test")({ seal_environment: "unchecked", ...changes });
export const intact = expected("intact");
export const notVerified = expected("not_verified");
/** The expected result for a readable file whose last byte no signature covers. */
export const notCovered: Expectation = {
  verdict: "not_verified",
  claims: { pdf_readable: "holds", whole_file_covered: "fails" },
};
export const unreadable: Expectation = { verdict: "not_verified", claims: { pdf_readable: "fails" } };
export const unsigned: Expectation = { verdict: "unsigned", claims: { pdf_readable: "holds" } };
/**
 * The claims that fail when signed bytes were changed: neither the digest nor the signature matches the changed bytes.
 */
export const changedBytes = { document_unchanged_since_seal: "fails", seal_signature_valid: "fails" } as const;
