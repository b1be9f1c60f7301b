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
  /** The section's stream; null when the section has none. In a hybrid file, it is the stream that `XRefStm` names. */
  readonly stream: XrefStream | null;
  readonly trailer: Dict;
};

/** An opened document: its cross-reference chain has been read, but none of its objects. */
export type PdfFile = {
  readonly bytes: Buffer;
  /**
   * The number to add to each offset that the file states. It is the length of the junk before `%PDF-`, or 0 if offsets
   * count from the file's start.
   */
  readonly base: number;
  /** The number after the last `startxref`, as the file states it. */
  readonly startxref: number;
  /**
   * The offsets of all objects, if they were found by scanning the file. Null if the document's own cross-reference
   * could be read.
   */
  readonly restated: readonly ObjectOffset[] | null;
  readonly sections: readonly Section[];
  readonly budget: Budget;
  readonly objectStreams: Map<number, ObjectStream>;
  /** The encryption of the document; null when it is not encrypted. */
  readonly encryption: Encryption | null;
};
