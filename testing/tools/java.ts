import { fileURLToPath } from "node:url";

/** The folder of programs from Maven; tools/install-tools.ts fills it. */
export const jarsFolder = fileURLToPath(new URL("../../node_modules/.cache/java", import.meta.url));

/** The file of an artifact, `group:name:version`. */
export function jarPath(artifact: string): string {
  const [, name, version] = artifact.split(":");
  return `${jarsFolder}/${name}-${version}.jar`;
}
