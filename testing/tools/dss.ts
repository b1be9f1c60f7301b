import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { jarsFolder } from "./java.ts";

/** EU DSS, the validator that authorities of the European Union use, with its libraries. */
export const dss = {
  pom: fileURLToPath(new URL("dss/pom.xml", import.meta.url)),
  folder: `${jarsFolder}/dss`,
  isHere: (): boolean => existsSync(`${jarsFolder}/dss/dss-validation-6.2.jar`),
};

/**
 * EU DSS's verdict on one signature: `good` when neither the signed bytes nor the signature value was changed. A file
 * that EU DSS can't read also gets a verdict.
 */
export type DssSignature = {
  readonly path: string;
  readonly verdict: "good" | "bad" | "unread";
  readonly indication: string;
};

/** EU DSS's verdict on each signature of the files, in order. @throws Error with its output when it fails */
export function judgedByDss(paths: readonly string[]): DssSignature[] {
  const program = fileURLToPath(new URL("dss/Validate.java", import.meta.url));
  const machine = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", `${dss.folder}/*`];
  const { status, stdout, stderr } = spawnSync("java", [...machine, program, ...paths], { encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  return stdout
    .trim()
    .split("\n")
    .map((line) => {
      const [path = "", verdict = "", indication = ""] = line.split("\t");
      return { path, verdict: verdict as DssSignature["verdict"], indication };
    });
}
