import type { Encryption } from "./encryption/ciphers.ts";
import type { Budget } from "./limits.ts";
import type { ObjectStream } from "./object-stream.ts";
import type { Dict } from "./values.ts";
import type { XrefStream } from "./xref/xref-stream.ts";
import type { ObjectOffset, XrefTable } from "./xref/xref-table.ts";

/** One cross-reference section. `PdfFile.sections` lists the newest first. */
export type Section = {
  /** The section's table; null when the section is a stream. */
  readonly table: XrefTable | null;
  /** The section's stream. In a hybrid file, it is the stream that `XRefStm` names. */
  readonly stream: XrefStream | null;
  readonly trailer: Dict;
};

/** An opened document: its cross-reference chain has been read, but none of its objects. */
export type PdfFile = {
  readonly bytes: Buffer;
  /** Added to each offset in the file: the length of the junk before `%PDF-`, usually 0. */
  readonly base: number;
  /** The number after the last `startxref`, as the file states it. */
  readonly startxref: number;
  /** The offset of every object, when the document's own cross-reference can't be read; otherwise null. */
  readonly restated: readonly ObjectOffset[] | null;
  readonly sections: readonly Section[];
  readonly budget: Budget;
  readonly objectStreams: Map<number, ObjectStream>;
  /** How the document is encrypted; null for a document that is not. */
  readonly encryption: Encryption | null;
};
