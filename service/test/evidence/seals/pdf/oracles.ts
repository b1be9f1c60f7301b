import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** A program's exit code and its complete output. */
export type Run = { readonly code: number | null; readonly output: string };

export function run(program: string, args: readonly string[]): Promise<Run> {
  return new Promise((resolve, reject) => {
    execFile(program, args, { encoding: "latin1", timeout: 60_000, maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
      if (error && typeof error.code === "string") reject(error);
      else resolve({ code: error ? (typeof error.code === "number" ? error.code : null) : 0, output: stdout + stderr });
    });
  });
}

/** pdfsig's verdict on each signature, in the order of the fields. */
export async function pdfsig(path: string): Promise<{ valid: boolean; whole: boolean }[]> {
  return signaturesOf((await run("pdfsig", ["-nocert", path])).output).map(({ valid, whole }) => ({ valid, whole }));
}

/**
 * pdfsig's verdict on the signatures and certificates, with an NSS database that trusts this root. @param folder an
 * empty folder for the database
 */
export async function pdfsigTrusting(path: string, rootPem: string, folder: string) {
  const root = join(folder, "root.pem");
  writeFileSync(root, rootPem);
  await run("certutil", ["-N", "-d", folder, "--empty-password"]);
  await run("certutil", ["-A", "-d", folder, "-n", "root", "-t", ",C,", "-i", root]);
  return signaturesOf((await run("pdfsig", ["-nssdir", folder, path])).output);
}

const signaturesOf = (output: string) =>
  output
    .split(/^Signature #\d+:$/m)
    .slice(1)
    .map((part) => ({
      valid: part.includes("- Signature Validation: Signature is Valid."),
      whole: part.includes("- Total document signed"),
      certificate: /- Certificate Validation: (.*)/.exec(part)?.[1] ?? "",
      name: /- Signer Certificate Common Name: (.*)/.exec(part)?.[1] ?? "",
    }));

/** True if mutool opens the file without repairing it. After a repair, its verdicts are about the repaired file. */
export async function mutoolOpens(path: string): Promise<boolean> {
  const { output } = await run("mutool", ["show", path, "trailer"]);
  return !/repair/.test(output);
}

/** mutool's verdict on the last signature. */
export async function mutoolVerdict(path: string): Promise<string> {
  const { output } = await run("mutool", ["sign", "-v", path]);
  return output.split(/^Verifying signature \d+:$/m).at(-1) ?? "";
}

/** True if qpdf finds neither errors nor warnings. */
export async function qpdfAccepts(path: string): Promise<boolean> {
  return (await run("qpdf", ["--check", path])).code === 0;
}
