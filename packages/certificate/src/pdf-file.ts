import { createHash } from "node:crypto";
import { deflateSync } from "node:zlib";

/** Writes PDF objects, into a new file or into a new revision of an existing file. */
export type ObjectWriter = {
  /**
   * Adds a dictionary or another value in PDF syntax.
   * @returns its reference, `N 0 R`
   */
  add: (body: string) => string;
  /** Adds a stream; `entries` are the entries of its dictionary besides length and filter. */
  stream: (entries: string, data: string | Uint8Array, options?: { compress?: boolean }) => string;
  /** Reserves a reference. `fill` adds its object later, so objects can refer to each other. */
  reserve: () => { ref: string; fill: (body: string) => void };
};

/** A new PDF file (ISO 32000-2), built object by object. The same objects result in the same bytes. */
export type PdfFile = ObjectWriter & {
  finish: (root: string, info: string) => Buffer;
};

const header = Buffer.from("%PDF-1.7\n%\u00e2\u00e3\u00cf\u00d3\n", "latin1");

// Most streams are short. A compressor with a large window would take longer to set up than to run.
const small = { windowBits: 12, memLevel: 4 };

export function createPdfFile(): PdfFile {
  const bodies: Buffer[] = [];
  const reserve = () => {
    const index = bodies.push(Buffer.alloc(0)) - 1;
    return {
      ref: `${index + 1} 0 R`,
      fill: (body: string | Buffer) => {
        bodies[index] = Buffer.isBuffer(body) ? body : Buffer.from(body, "latin1");
      },
    };
  };
  const add = (body: string | Buffer): string => {
    const { ref, fill } = reserve();
    fill(body);
    return ref;
  };
  return {
    add,
    reserve,
    stream(entries, data, { compress = true } = {}) {
      const plain = typeof data === "string" ? Buffer.from(data, "latin1") : Buffer.from(data);
      const coded = compress ? deflateSync(plain, plain.length < 4096 ? small : {}) : plain;
      const head = `<<${entries}${compress ? "/Filter/FlateDecode" : ""}/Length ${coded.length}>>\nstream\n`;
      return add(Buffer.concat([Buffer.from(head, "latin1"), coded, Buffer.from("\nendstream")]));
    },
    finish(root, info) {
      const parts: Buffer[] = [header];
      const offsets: number[] = [];
      let length = header.length;
      const push = (part: Buffer) => {
        parts.push(part);
        length += part.length;
      };
      for (const [index, body] of bodies.entries()) {
        offsets.push(length);
        push(Buffer.from(`${index + 1} 0 obj\n`));
        push(body);
        push(Buffer.from("\nendobj\n"));
      }
      const id = createHash("sha256").update(Buffer.concat(parts)).digest("hex").slice(0, 32);
      const table = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
      push(
        Buffer.from(
          `xref\n0 ${bodies.length + 1}\n0000000000 65535 f \n${table}trailer\n<</Size ${bodies.length + 1}/Root ${root}` +
            `/Info ${info}/ID[<${id}><${id}>]>>\nstartxref\n${length}\n%%EOF\n`,
        ),
      );
      return Buffer.concat(parts);
    },
  };
}

/** The name of the empty signature field in a document that the service itself creates. The seal fills this field. */
export const sealFieldName = "SignSealShip-Seal";

/** A text string in PDF syntax (ISO 32000-2, section 7.9.2.2). */
export function pdfText(text: string): string {
  if (/^[ -~]*$/.test(text)) return `(${text.replace(/[\\()]/g, "\\$&")})`;
  return `<feff${Buffer.from(text, "utf16le").swap16().toString("hex")}>`;
}

/** A date in PDF syntax, UTC to the second (ISO 32000-2, section 7.9.4). */
export const pdfDate = (instant: Date): string => `(D:${instant.toISOString().replace(/\D/g, "").slice(0, 14)}Z)`;
