declare module "pdfjs-dist/image_decoders/pdf.image_decoders.mjs" {
  export const VerbosityLevel: { readonly ERRORS: number };
  export function setVerbosityLevel(level: number): void;
  export class JpegImage {
    constructor(options: object);
    width: number;
    height: number;
    /**
     * Decodes a JPEG, and sets the width and the height.
     * @throws Error
     */
    parse(data: Uint8Array): void;
    getData(as: { width: number; height: number; forceRGBA: true }): Uint8ClampedArray;
  }
}
