export { type Canvas, type Color, colorOperands, createCanvas } from "./canvas.ts";
export { type Attached, certificateFile } from "./certificate-file.ts";
export { createFlow, type Flow, ink, type Look, margin, muted, textWidth } from "./flow.ts";
export { type Faces, openFaces } from "./fonts/faces.ts";
export { createGlyphFonts } from "./fonts/glyph-fonts.ts";
export { addResources } from "./fonts/objects.ts";
export { bullet, firmHead, letterhead, limitsSection, manualChecks, pageFeet, qrAtRight, testNotice } from "./frame.ts";
export { legible } from "./legible.ts";
export {
  body,
  code,
  dateText,
  fine,
  heading,
  instantText,
  itemLook,
  quiet,
  section,
  tableHead,
  titleLook,
} from "./looks.ts";
export { markOperators } from "./mark.ts";
export { pageSize } from "./pages.ts";
export { addPicture, type Picture, readLogo } from "./picture.ts";
export { qrOperators } from "./qr.ts";
export { type SealWords, sealBlock } from "./seal-block.ts";
export { createSheets, type Sheets } from "./sheet.ts";
export { createTypeset, type Typeset } from "./typeset.ts";
