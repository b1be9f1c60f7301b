import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL("../../node_modules/.cache/runtimes", import.meta.url));

/** The folder of runtimes on which partners use the SDK; tools/install-tools.ts fills it. */
export const runtimesFolder = folder;

/** The npm packages of the runtimes: other releases of Node, installed under the names given here, and Deno. */
export const runtimePackages = {
  node20: `node20@npm:node-${process.platform}-${process.arch}@20.20.2`,
  node22: `node22@npm:node-${process.platform}-${process.arch}@22.23.3`,
  deno: "deno@2.9.6",
} as const;

export type RuntimeName = keyof typeof runtimePackages;

/** The path of a runtime's program. */
export const runtimeProgram = (name: RuntimeName): string =>
  name === "deno" ? `${folder}/node_modules/.bin/deno` : `${folder}/node_modules/${name}/bin/node`;
