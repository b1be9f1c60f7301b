import { pageCount } from "./page-count.ts";

export const run = (bytes: Buffer): number | null => pageCount(bytes);
