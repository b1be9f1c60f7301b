import { EvidenceError } from "../errors.ts";

/** A cursor over the bytes of a proof. Every read throws EvidenceError `ots` at the end of the bytes. */
export type OtsReader = {
  readonly byte: () => number;
  readonly bytes: (length: number) => Uint8Array;
  readonly varuint: () => number;
  readonly varbytes: (maxLength: number) => Uint8Array;
  readonly atEnd: () => boolean;
};

/** Reads the proof format's primitives: bytes, base-128 numbers (lowest group first), and length-prefixed bytes. */
export function otsReader(source: Uint8Array): OtsReader {
  let at = 0;

  function bytes(length: number): Uint8Array {
    if (length > source.length - at) throw new EvidenceError("ots", "proof ends too early");
    at += length;
    return source.slice(at - length, at);
  }

  function byte(): number {
    const value = source[at];
    if (value === undefined) throw new EvidenceError("ots", "proof ends too early");
    at += 1;
    return value;
  }

  // Refuses a number with a padding group, so that each number has only one encoding. Otherwise a parsed proof could
  // not be written back byte for byte.
  function varuint(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const group = byte();
      value += (group & 0x7f) * scale;
      if (!Number.isSafeInteger(value)) throw new EvidenceError("limit", "number beyond 2^53");
      if (group < 0x80) {
        if (group === 0 && scale > 1) throw new EvidenceError("ots", "number with a padding group");
        return value;
      }
      if (scale > Number.MAX_SAFE_INTEGER) throw new EvidenceError("limit", "number beyond 2^53");
    }
  }

  function varbytes(maxLength: number): Uint8Array {
    const length = varuint();
    if (length > maxLength) throw new EvidenceError("limit", `${length} bytes where ${maxLength} are allowed`);
    return bytes(length);
  }

  return { byte, bytes, varuint, varbytes, atEnd: () => at === source.length };
}

/** The base-128 encoding of a safe integer, least significant group first. */
export function varuintBytes(value: number): Uint8Array {
  const groups = [];
  let rest = value;
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) groups.push(0x80 | (rest % 128));
  groups.push(rest);
  return Uint8Array.from(groups);
}
