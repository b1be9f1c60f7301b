import { readFileSync } from "node:fs";

/** Of the service, as its package says. */
export const readVersion = (): string =>
  (JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8")) as { version: string }).version;
