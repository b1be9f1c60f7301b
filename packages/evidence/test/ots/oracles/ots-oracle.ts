import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { python } from "@signsealship/testing/tools/python";

export type OracleRequest =
  | { readonly read: string; readonly message?: string }
  | { readonly merge: readonly string[]; readonly message: string }
  | { readonly random: number };

/**
 * The reference implementation's answer. `found` lists the attestations, sorted by their JSON text. Each item has the
 * attested message, the attestation's kind (or the tag of an unknown kind), and its URI, height or payload.
 */
export type OracleAnswer = {
  readonly hex?: string;
  readonly found?: readonly (readonly [string, string, string | number])[];
  readonly error?: string;
};

/** Sends all questions to the reference implementation in one process. */
export function askReference(requests: readonly OracleRequest[]): OracleAnswer[] {
  const script = fileURLToPath(new URL("ots_oracle.py", import.meta.url));
  const run = spawnSync(python, [script], {
    input: requests.map((request) => `${JSON.stringify(request)}\n`).join(""),
    encoding: "utf8",
    maxBuffer: 2 ** 28,
  });
  if (run.status !== 0) throw new Error(`opentimestamps: ${run.error ?? run.stderr}`);
  return run.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
}
