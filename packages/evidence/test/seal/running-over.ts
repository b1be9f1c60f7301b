const IMAGE = "/Type /XObject /Subtype /Image /Width 64 /Height 64 /BitsPerComponent 8 /ColorSpace /DeviceGray";
const data = (length: string) => `<< ${IMAGE}${length} >>\nstream\n`;

/**
 * Values of a document's last object that do not end inside the document, so that the seal's bytes become part of that
 * object.
 */
export const RUNNING_OVER: Readonly<Record<string, string>> = {
  "an image whose data run on": data(" /Length 4096"),
  "an image whose /Length is written with escapes": data(" /#4cength 4096"),
  "an image of an indirect /Length": data(" /Length 7 0 R"),
  "an image without /Length": data(""),
  "an image whose data are shorter than they are": data(" /Length 3"),
  "an image of two /Length": data(" /Length 3 /Length 4096"),
  "an image whose dictionary goes on behind a word": `<< ${IMAGE} endobj /Length 4096 >>\nstream\n`,
  "a string that is not closed": "(\\) ( )",
  "a hexadecimal string that is not closed": "[/Indexed /DeviceRGB 255 <00",
  "an array that is not closed": "[ 1 2",
};

/** Values of a document's last object that end inside the document, although not where they seem to end. */
export const ENDING: Readonly<Record<string, string>> = {
  "an image of another /Length than it has": `${data(" /Length 2")}abcdef\nendstream\nendobj`,
  "an image that holds objects": `${data(" /Length 26")}8 0 obj\n(a)\nendobj\n9 0 obj\nendstream\nendobj\nendobj`,
  "a string that holds an object": "(8 0 obj << /Length 3 >> endobj)\nendobj",
  "an object that nothing closes": "<< /Type /Font >>",
};

export type Naming = "named" | "named behind a comment" | "named by no section";

/**
 * A one-page document whose last object, number 6, has this value. An object 7 and the cross-reference table follow. If
 * the value has no end, object 7 and the table become part of object 6.
 */
export function endingIn(value: string, naming: Naming = "named"): Uint8Array {
  let text = "%PDF-1.7\n";
  const offsets: number[] = [];
  const object = (body: string) => {
    offsets.push(text.length);
    text += `${offsets.length} 0 obj\n${body}\nendobj\n`;
  };
  object("<< /Type /Catalog /Pages 2 0 R >>");
  object("<< /Type /Pages /Kids [3 0 R] /Count 1 >>");
  object(
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 100 100] /Resources << /XObject << /Im 6 0 R >> >> /Contents 4 0 R >>",
  );
  object("<< /Length 22 >>\nstream\n90 0 0 90 5 5 cm /Im Do\nendstream");
  object("null");
  offsets.push(text.length);
  text += naming === "named behind a comment" ? "% x\n6 % y\n0 obj\n" : "6 0 obj\n";
  text += `${value}\n`;
  const seven = text.length;
  text += "7 0 obj 4096 endobj\n";
  const startxref = text.length;
  const rows = [...offsets.slice(0, naming === "named by no section" ? 5 : 6)];
  const row = (offset: number) => `${String(offset).padStart(10, "0")} 00000 n \n`;
  text += `xref\n0 ${rows.length + 1}\n0000000000 65535 f \n${rows.map(row).join("")}7 1\n${row(seven)}`;
  text += `trailer\n<< /Size 8 /Root 1 0 R >>\nstartxref\n${startxref}\n%%EOF\n`;
  return Uint8Array.from(Buffer.from(text, "latin1"));
}
