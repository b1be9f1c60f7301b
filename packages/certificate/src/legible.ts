import { type Face, type Faces, hanStyleOf } from "./fonts/faces.ts";

/** A text with a face for each of its UTF-16 units. */
export type Legible = {
  text: string;
  faces: readonly Face[];
  /** True if any character is written as its code point: no font has it, or it is invisible or misleading. */
  escaped: boolean;
};

const graphemes = new Intl.Segmenter("und", { granularity: "grapheme" });

// Characters that are invisible or misleading: direction overrides, zero-width spaces, and code points that are private
// or unassigned.
const invisible = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0\u2800]/u;
// Characters that join, separate or select shapes inside a cluster.
const joining = /\u200c|\u200d|[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/gu;

/**
 * Finds faces for a text. A character without a glyph, or an invisible one, is written as its code point `\u{...}`, so
 * that readers see it. Joiners and variation selectors may be left out.
 * @param text prepared with `faces.prepare`
 * @param mono true for an ASCII text, such as a hash, that is drawn in the monospaced face
 */
export function legible(faces: Faces, text: string, mono = false): Legible {
  if (mono) return { text, faces: Array.from({ length: text.length }, () => faces.mono), escaped: false };
  const style = hanStyleOf(text);
  const cached = new Map<string, Face | undefined>();
  const faceOf = (piece: string): Face | undefined => {
    if (!cached.has(piece)) cached.set(piece, find(faces, piece, style));
    return cached.get(piece);
  };
  const out: { text: string; faces: Face[]; escaped: boolean } = { text: "", faces: [], escaped: false };
  const add = (piece: string, face: Face) => {
    out.text += piece;
    for (let unit = 0; unit < piece.length; unit++) out.faces.push(face);
  };
  const spellOut = (piece: string) => {
    for (const char of piece) add(`\\u{${(char.codePointAt(0) ?? 0).toString(16).toUpperCase()}}`, faces.mono);
    out.escaped = true;
  };
  for (const { segment } of graphemes.segment(text)) {
    const visible = segment.replace(joining, "");
    const face = visible === "" || invisible.test(visible) ? undefined : faceOf(segment);
    if (face) add(segment, face);
    else if (/\p{M}/u.test(visible) || visible === "") spellOut(segment);
    else for (const char of segment) addAlone(char);
  }
  return out;

  /** Adds one character of a sequence that is not drawn as a whole. Omits characters that only join others. */
  function addAlone(char: string): void {
    if (char.replace(joining, "") === "") return;
    const face = invisible.test(char) ? undefined : faceOf(char);
    if (face) add(char, face);
    else spellOut(char);
  }
}

function find(faces: Faces, piece: string, style: ReturnType<typeof hanStyleOf>): Face | undefined {
  for (const form of [piece, piece.normalize("NFC")]) {
    const face = faces.pick(
      Array.from(form.replace(joining, ""), (char) => char.codePointAt(0) ?? 0),
      style,
    );
    if (face) return face;
  }
  return undefined;
}
