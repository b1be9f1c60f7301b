declare module "wawoff2/decompress.js" {
  /**
   * Decompresses a WOFF2 font.
   * @returns the font as TrueType or OpenType
   */
  export default function decompress(woff2: Uint8Array): Promise<Uint8Array>;
}
