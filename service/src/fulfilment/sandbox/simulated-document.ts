/**
 * A one-page PDF 1.4 that stands for a test order's document where that cannot be sealed.
 * @param sha256 of the document it stands for, hex
 */
export function simulatedDocument(sha256: string): Buffer {
  const text = [
    "Simulated document of a test order",
    "The document that was sent cannot be sealed. Its SHA-256:",
    sha256,
  ];
  const lines = text.map((line, n) => `1 0 0 1 56 ${720 - 24 * n} Tm (${line}) Tj`).join(" ");
  const content = `BT /F1 11 Tf ${lines} ET`;
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
  ];
  let pdf = "%PDF-1.4\n";
  const offsets = objects.map((object, n) => {
    const at = pdf.length;
    pdf += `${n + 1} 0 obj\n${object}\nendobj\n`;
    return at;
  });
  const entries = offsets.map((at) => `${String(at).padStart(10, "0")} 00000 n \n`).join("");
  const size = objects.length + 1;
  const xref = `xref\n0 ${size}\n0000000000 65535 f \n${entries}`;
  return Buffer.from(
    `${pdf}${xref}trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${pdf.length}\n%%EOF\n`,
    "latin1",
  );
}
