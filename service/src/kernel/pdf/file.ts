import type { Encryption } from "./encryption/ciphers.ts";
import type { Budget } from "./limits.ts";
import type { ObjectStream } from "./object-stream.ts";
import type { Dict } from "./values.ts";
import type { XrefStream } from "./xref/xref-stream.ts";
import type { Placed, XrefTable } from "./xref/xref-table.ts";

/** One cross-reference section, newest first in `PdfFile.sections`. */
export type Section = {
  /** The table, or null when the section is a stream. */
  readonly table: XrefTable | null;
  /** The stream, or for a hybrid file the one that `XRefStm` names. */
  readonly stream: XrefStream | null;
  readonly trailer: Dict;
};

/** An opened document: its cross-reference chain is known, no object has been read yet. */
export type PdfFile = {
  readonly bytes: Buffer;
  /** Added to each offset written in the file: the length of the junk before `%PDF-`, or 0. */
  readonly base: number;
  /** The number after the last `startxref`, as written. */
  readonly startxref: number;
  /** Every object by number, when the document's own cross-reference can't be read; else null. */
  readonly restated: readonly Placed[] | null;
  readonly sections: readonly Section[];
  readonly budget: Budget;
  readonly objectStreams: Map<number, ObjectStream>;
  /** Null for plain documents. */
  readonly encryption: Encryption | null;
};
