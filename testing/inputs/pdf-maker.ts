/** Options of a generated PDF. */
export type PdfRecipe = {
  pages?: number;
  /** Size of the file in bytes; reached exactly if it is at least a few hundred bytes above the unpadded size. */
  bytes?: number;
  /** ASCII text on every page, next to the page number. Different texts give different files. */
  text?: string;
  /** Further entries of every page, such as `/Rotate 90`. Without a MediaBox, pages have letter size. */
  pageEntries?: string;
  /**
   * Further operators of the pages' content. They are drawn after the text, and so over it. They are the same for all
   * pages, or a function returns them by page number from 1.
   */
  content?: string | ((page: number) => string);
};

const HEADER = "%PDF-1.7\n%\xe2\xe3\xcf\xd3\n";
const PADDING_OBJECT = 4;
const FIRST_PAGE_OBJECT = 5;

/**
 * Generates a valid PDF with a classic xref table. The same options give the same bytes. The padding is one
 * incompressible stream, which the catalog references so that no reader calls it an orphan.
 */
export function makePdf(recipe: PdfRecipe = {}): Buffer {
  const pages = recipe.pages ?? 1;
  const assembleWith = (padding: number) => assemble(pages, padding, recipe);
  const bare = assembleWith(0);
  if (recipe.bytes === undefined || recipe.bytes <= bare.length) return bare;
  let padding = recipe.bytes - bare.length;
  let made = assembleWith(padding);
  // With more padding, the stream's length and later offsets may get more digits. The padding is adjusted until the
  // size is right.
  for (let round = 0; round < 4 && made.length !== recipe.bytes; round++) {
    padding = Math.max(0, padding + recipe.bytes - made.length);
    made = assembleWith(padding);
  }
  return made;
}

const letterSize = "/MediaBox [0 0 612 792]";

function assemble(pages: number, padding: number, recipe: PdfRecipe): Buffer {
  const { text = "Page", pageEntries = "", content: operators = "" } = recipe;
  const chunks: Buffer[] = [Buffer.from(HEADER, "latin1")];
  const offsets: number[] = [];
  let length = HEADER.length;
  const add = (chunk: Buffer) => {
    chunks.push(chunk);
    length += chunk.length;
  };
  const object = (body: string, stream?: Buffer) => {
    offsets.push(length);
    add(Buffer.from(`${offsets.length} 0 obj\n${body}\n`, "latin1"));
    if (stream) {
      add(Buffer.from("stream\n", "latin1"));
      add(stream);
      add(Buffer.from("\nendstream\n", "latin1"));
    }
    add(Buffer.from("endobj\n", "latin1"));
  };
  const shown = text.replace(/[^ -~]/g, "?").replace(/[\\()]/g, "\\$&");
  const kids = Array.from({ length: pages }, (_, i) => `${FIRST_PAGE_OBJECT + 2 * i} 0 R`).join(" ");
  object(`<< /Type /Catalog /Pages 2 0 R /PieceInfo << /Padding << /Private ${PADDING_OBJECT} 0 R >> >> >>`);
  object(`<< /Type /Pages /Count ${pages} /Kids [${kids}] >>`);
  object("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>");
  object(`<< /Length ${padding} >>`, noise(padding));
  for (let page = 0; page < pages; page++) {
    const more = typeof operators === "string" ? operators : operators(page + 1);
    const content = Buffer.from(
      `BT /F1 18 Tf 72 720 Td (${shown} ${page + 1} of ${pages}) Tj ET${more && `\n${more}`}`,
      "latin1",
    );
    const fonts = "<< /Font << /F1 3 0 R >> >>";
    const box = pageEntries.includes("/MediaBox") ? pageEntries : `${letterSize} ${pageEntries}`.trimEnd();
    object(
      `<< /Type /Page /Parent 2 0 R ${box} /Resources ${fonts} /Contents ${FIRST_PAGE_OBJECT + 2 * page + 1} 0 R >>`,
    );
    object(`<< /Length ${content.length} >>`, content);
  }
  const startxref = length;
  const entries = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  const size = offsets.length + 1;
  const id = `<${Buffer.from(text.padEnd(16, " ")).subarray(0, 16).toString("hex")}>`;
  add(Buffer.from(`xref\n0 ${size}\n0000000000 65535 f \n${entries}`, "latin1"));
  add(
    Buffer.from(
      `trailer\n<< /Size ${size} /Root 1 0 R /ID [${id} ${id}] >>\nstartxref\n${startxref}\n%%EOF\n`,
      "latin1",
    ),
  );
  return Buffer.concat(chunks, length);
}

/** Incompressible bytes from a fixed xorshift32. */
function noise(length: number): Buffer {
  const words = new Uint32Array(Math.ceil(length / 4));
  let state = 0x9e3779b9;
  for (let i = 0; i < words.length; i++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    words[i] = state;
  }
  return Buffer.from(words.buffer, 0, length);
}
