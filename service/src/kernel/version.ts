import { readFileSync } from "node:fs";

/** The version of the service, from its package. */
export const readVersion = (): string =>
  (JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8")) as { version: string }).version;
