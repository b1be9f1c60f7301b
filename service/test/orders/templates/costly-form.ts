import { deflateSync } from "node:zlib";

const contentBytes = 8 * 1024 * 1024;

/**
 * A small PDF whose pages share one content of 8 MiB without text. With more than 32 pages it is rejected without being
 * read.
 */
export function costlyForm(pages: number): Buffer {
  const content = deflateSync(Buffer.from("1 0 0 1 0 0 cm ".repeat(contentBytes / 15)), { level: 9 });
  const kids = Array.from({ length: pages }, (_, index) => `${4 + index} 0 R`).join(" ");
  const page = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << >> /Contents 3 0 R >>";
  const bodies: (string | Buffer)[] = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    `<< /Type /Pages /Count ${pages} /Kids [${kids}] >>`,
    Buffer.concat([
      Buffer.from(`<< /Filter /FlateDecode /Length ${content.length} >>\nstream\n`),
      content,
      Buffer.from("\nendstream"),
    ]),
    ...Array.from({ length: pages }, () => page),
  ];
  const chunks = [Buffer.from("%PDF-1.7\n")];
  const offsets: number[] = [];
  for (const [index, body] of bodies.entries()) {
    offsets.push(chunks.reduce((sum, { length }) => sum + length, 0));
    chunks.push(Buffer.from(`${index + 1} 0 obj\n`), Buffer.from(body), Buffer.from("\nendobj\n"));
  }
  const start = chunks.reduce((sum, { length }) => sum + length, 0);
  const rows = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  const size = bodies.length + 1;
  chunks.push(Buffer.from(`xref\n0 ${size}\n0000000000 65535 f \n${rows}`));
  chunks.push(Buffer.from(`trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`));
  return Buffer.concat(chunks);
}
