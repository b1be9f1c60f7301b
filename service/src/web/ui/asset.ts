/** A file that is served from memory; `hash` tells its contents apart. */
export type Asset = { bytes: Buffer; gzipped: Buffer; mediaType: string; hash: string };
