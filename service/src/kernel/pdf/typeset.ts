import { createTypeset, type Faces, openFaces, type Typeset } from "@signsealship/certificate";

let opening: Promise<Faces> | undefined;

/**
 * Creates a typesetter with the fonts that these texts need. Each worker thread reads a font once, at its first use.
 */
export async function typesetFor(texts: Iterable<string>): Promise<Typeset> {
  opening ??= openFaces();
  const faces = await opening;
  for (const text of texts) await faces.prepare(text);
  return createTypeset(faces);
}
