import { createHash } from "node:crypto";
import { deflateSync } from "node:zlib";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { createCmsSigner } from "../../src/evidence/seals/cms/cms.ts";
import { sealPdf } from "../../src/evidence/seals/pdf/seal-pdf.ts";
import { memoryKey, selfSigned } from "../evidence/seals/signers.ts";

const mib = 1024 * 1024;

/** A file under construction: its objects in order, and their offsets. */
function file() {
  const chunks: Buffer[] = [Buffer.from("%PDF-1.7\n")];
  const offsets: number[] = [0];
  let length = 9;
  const add = (part: string | Buffer): number => {
    const chunk = typeof part === "string" ? Buffer.from(part, "latin1") : part;
    const at = length;
    chunks.push(chunk);
    length += chunk.length;
    return at;
  };
  return {
    add,
    object: (body: string | Buffer) => {
      const number = offsets.length;
      offsets.push(add(`${number} 0 obj\n`));
      add(body);
      add("\nendobj\n");
    },
    /** The cross-reference table of all objects so far, with its trailer. */
    table() {
      const rows = offsets.slice(1).map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`);
      const head = `xref\n0 ${offsets.length}\n0000000000 65535 f \n`;
      return add(`${head}${rows.join("")}trailer\n<</Size ${offsets.length}/Root 1 0 R>>\n`);
    },
    done: (startxref: number) => {
      add(`startxref\n${startxref}\n%%EOF\n`);
      return Buffer.concat(chunks, length);
    },
  };
}

const catalog = "<</Type/Catalog/Pages 2 0 R>>";
const page = "<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>";

/**
 * Only the oldest section lists the pages, and readers reach that section last. So they search every section for each
 * page.
 */
function manySections(sections: number, pages: number): Buffer {
  const made = file();
  made.object(catalog);
  const kids = Array.from({ length: pages }, (_, index) => `${index + 3} 0 R`).join(" ");
  made.object(`<</Type/Pages/Count ${pages}/Kids[${kids}]>>`);
  for (let count = 0; count < pages; count++) made.object(page);
  let previous = made.table();
  for (let count = 1; count < sections; count++) {
    const rows = [1, 2, 3, 4, 5, 6, 7, 8].map((n) => `${8_000_000 + 2 * n} 1\n0000000009 00000 n \n`).join("");
    previous = made.add(`xref\n${rows}trailer\n<</Size 8000100/Root 1 0 R/Prev ${previous}>>\n`);
  }
  return made.done(previous);
}

function comments(bytes: number): Buffer {
  const made = file();
  made.object(catalog);
  made.object(`<</Type/Pages/Count 1/Kids[${"%\n".repeat(bytes / 2)} 3 0 R]>>`);
  made.object(page);
  return made.done(made.table());
}

/** Cross-reference streams that decompress to 64 MB each. The predictor makes every row depend on the previous one. */
function swelling(streams: number, predictor: number): Buffer {
  const made = file();
  made.object(catalog);
  made.object("<</Type/Pages/Count 1/Kids[3 0 R]>>");
  made.object(page);
  const rows = Buffer.alloc(8 * 8_000_000);
  for (let at = 0; at < rows.length; at += 8) rows[at] = predictor - 10;
  const data = deflateSync(rows, { level: 9 });
  let previous = made.table();
  for (let number = 10; number < 10 + streams; number++) {
    const dict =
      `/Type/XRef/Size 8000100/Index[100 8000000]/W[1 4 2]/Root 1 0 R/Prev ${previous}` +
      `/Filter/FlateDecode/DecodeParms<</Predictor ${predictor}/Columns 7>>/Length ${data.length}`;
    previous = made.add(`${number} 0 obj\n<<${dict}>>\nstream\n`);
    made.add(data);
    made.add("\nendstream\nendobj\n");
  }
  return made.done(previous);
}

/** A large document with this many real signatures, each over everything before it. */
async function signedOften(times: number, bytes: number): Promise<Buffer> {
  const key = memoryKey("p-256");
  const signer = createCmsSigner({ key, chain: [await selfSigned(key)] });
  const room = Buffer.alloc(bytes + times * 16 * 1024);
  let length = makePdf({ bytes }).copy(room);
  for (let count = 0; count < times; count++) {
    const original = room.subarray(0, length);
    const docHash = createHash("sha256").update(original);
    const at = new Date("2026-01-15T12:00:00Z");
    const sign = async (place: Parameters<typeof signer.sign>[0]) => (await signer.sign(place)).cms();
    const { tail } = await sealPdf({ original, docHash, at, reserve: signer.maxLength(), sign });
    tail.copy(room, length);
    length += tail.length;
  }
  return room.subarray(0, length);
}

/** The expensive documents. Each key says what makes the document expensive to read. */
export const costlyDocuments: Readonly<Record<string, () => Buffer | Promise<Buffer>>> = {
  "20,000 pages that are looked up in 1,000 sections": () => manySections(1000, 20_000),
  "34 MiB of comments": () => comments(34 * mib),
  "swelling cross-reference streams": () => swelling(3, 12),
  "swelling cross-reference streams, Paeth": () => swelling(3, 14),
  "40 earlier signatures over 34 MiB": () => signedOften(40, 34 * mib),
};
