export { certificateFile } from "./certificate-file.ts";
export { type Faces, openFaces } from "./faces.ts";
export { createFlow, type Flow, ink, type Look, margin, muted, textWidth } from "./flow.ts";
export { legible } from "./legible.ts";
export { markOperators } from "./mark.ts";
export { qrOperators } from "./qr.ts";
export { createSheets, pageSize, type Sheets } from "./sheet.ts";
export { createTypeset, type Typeset } from "./typeset.ts";
