/** The kind of structure. A reader must read the part as this kind. */
export type PartKind =
  | "certificate"
  | "cms"
  | "time-stamp-response"
  | "tst-info"
  | "pem"
  | "trust-list"
  | "manifest"
  | "proof"
  | "signature"
  | "token"
  | "path"
  | "envelope"
  | "ber"
  | "deflate"
  | "zip"
  | "documents-zip"
  | "pdf"
  | "attachment"
  | "changes";

/** A vector of one structure by itself, which a reader must accept or reject. */
export type Part = {
  readonly name: string;
  readonly kind: PartKind;
  readonly hex?: string;
  readonly text?: string;
  /**
   * A long repetition that the hex or text leaves out. To restore it, insert `of`, repeated `times` times, at the
   * character `at`.
   */
  readonly again?: { readonly at: number; readonly times: number; readonly of: string };
  /** The bytes that the signature or time stamp covers. */
  readonly content?: string;
  /** In hex: further certificates for the path, and the trusted certificates. */
  readonly others?: readonly string[];
  readonly anchors?: readonly string[];
  readonly at?: string;
  readonly purpose?: string;
  /** The checks that must fail: of a signature, a token or an envelope. */
  readonly notHolding?: readonly string[];
  readonly expect: "accepted" | "refused";
  readonly teaches: string;
};

/** Shortens a part with a long repetition, which moves to `again`. */
export function shortened(part: Part): Part {
  const member = part.hex === undefined ? "text" : "hex";
  const value = part[member] ?? "";
  const run = value.length < 4000 ? null : /((?:[\s\S]{2}){1,80}?)\1{80,}/.exec(value);
  if (run === null) return part;
  const [all, of = ""] = run;
  const rest = value.slice(0, run.index) + value.slice(run.index + all.length);
  const { name, kind, hex: _, text: __, ...others } = part;
  return { name, kind, [member]: rest, again: { at: run.index, times: all.length / of.length, of }, ...others };
}
