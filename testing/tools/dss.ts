import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { jarsFolder } from "./java.ts";

/** EU DSS, the validator that authorities of the European Union use, with the libraries that it needs. */
export const dss = {
  pom: fileURLToPath(new URL("dss/pom.xml", import.meta.url)),
  folder: `${jarsFolder}/dss`,
  isHere: (): boolean => existsSync(`${jarsFolder}/dss/dss-validation-6.2.jar`),
};

/** What EU DSS says of one signature: `good` where the bytes and the value are those that were signed; or of a file that it does not read. */
export type DssSignature = {
  readonly path: string;
  readonly verdict: "good" | "bad" | "unread";
  readonly indication: string;
};

/** What EU DSS says of each signature of the files, in the order of the files. @throws Error with what it printed when it ends otherwise */
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
