const policy = (connect: string, images: readonly string[]): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src 'self' data:${images.map((origin) => ` ${origin}`).join("")}`,
    `connect-src ${connect}`,
    "worker-src 'self'",
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; ");

/** Of pages that check files: their scripts may talk to nobody, not even to us. @param images origins of logos */
export const silentPolicy = (images: readonly string[] = []): string => policy("'none'", images);

/** Of pages that refresh themselves. @param images origins of logos */
export const refreshingPolicy = (images: readonly string[] = []): string => policy("'self'", images);
