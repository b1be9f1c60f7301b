const policy = (connect: string, images: readonly string[], forms: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src 'self' data:${images.map((origin) => ` ${origin}`).join("")}`,
    `connect-src ${connect}`,
    "font-src 'self'",
    "worker-src 'self'",
    `form-action ${forms}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; ");

/**
 * The content security policy of pages that verify files. Their scripts can't send data to anybody, not even to us.
 * @param images origins of logos
 */
export const silentPolicy = (images: readonly string[] = []): string => policy("'none'", images, "'none'");

/**
 * The content security policy of pages that a script refreshes. It permits forms, because a refresh may add one.
 * @param images origins of logos
 */
export const refreshingPolicy = (images: readonly string[] = []): string => policy("'self'", images, "'self'");

/**
 * The content security policy of a room where people meet. It permits frames of our own site, in which the room shows
 * the signing pages and the document.
 */
export const roomPolicy = (): string => `${policy("'self'", [], "'self'")}; frame-src 'self'`;

/**
 * The content security policy of a page that shows a document. It allows our own scripts, the worker of pdf.js, and
 * requests to our own site. It allows `blob:`, because pdf.js stores a document's pictures as blobs.
 * @param images origins of logos
 * @param frame the only origin that may show the page in a frame
 */
export const viewerPolicy = (images: readonly string[] = [], frame = "'none'"): string =>
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
    `frame-ancestors ${frame}`,
  ].join("; ");

/**
 * The content security policy of a page that plays recordings from our own site. Only the browser's player loads them;
 * scripts do not read them.
 */
export const playerPolicy: string = `${refreshingPolicy()}; media-src 'self'`;
