/**
 * Of the page that shows a document: our own scripts, their worker and the bytes that both fetch. pdf.js keeps pictures of
 * a document as blobs. @param images origins of logos
 */
export const signingPolicy = (images: readonly string[]): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "worker-src 'self'",
    "style-src 'self'",
    `img-src 'self' data: blob:${images.map((origin) => ` ${origin}`).join("")}`,
    "font-src 'self' data:",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
