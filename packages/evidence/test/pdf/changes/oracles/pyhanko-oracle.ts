import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { python } from "@signsealship/testing/tools/python";

/**
 * The name of an operation on a document, and its arguments. `MAKERS` in pyhanko_oracle.py maps each name to a function
 * that uses pyHanko.
 */
export type Operation = readonly [name: string, ...args: (string | number | readonly string[])[]];

export type OracleRequest =
  | { readonly judge: Uint8Array }
  | {
      readonly validate: Uint8Array;
      readonly roots: readonly Uint8Array[];
      /**
       * Revocation lists in DER. If given, revocation is checked, and a certificate that names a revocation list is
       * valid only with that list.
       */
      readonly crls?: readonly Uint8Array[];
      /** The instant of validation; now by default. */
      readonly at?: Date;
    }
  | { readonly make: readonly Operation[]; readonly pdf: Uint8Array };

/**
 * pyHanko's verdict on one signature: `permitted` when the signature covers a whole revision and permits all later
 * changes.
 */
type OracleJudgement = { readonly field: string; readonly permitted: boolean; readonly why: string };

/**
 * pyHanko's verdict on one signature by its default policy: `valid` is the overall verdict, and `trusted` says whether
 * there is a path to a trusted root.
 */
type OracleValidation = { readonly field: string; readonly valid: boolean; readonly trusted: boolean };

export type OracleAnswer = {
  readonly validations?: readonly OracleValidation[];
  readonly signatures?: readonly OracleJudgement[];
  readonly pdf?: Uint8Array;
  readonly error?: string;
};

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");

function onTheWire(request: OracleRequest): object {
  if ("judge" in request) return { judge: base64(request.judge) };
  if ("make" in request) return { ...request, pdf: base64(request.pdf) };
  const { validate, roots, crls, at } = request;
  return {
    validate: base64(validate),
    roots: roots.map(base64),
    ...(crls && { crls: crls.map(base64) }),
    ...(at && { at: at.toISOString() }),
  };
}

/** Sends all questions to pyHanko in one process. */
export function askPyHanko(requests: readonly OracleRequest[]): OracleAnswer[] {
  const script = fileURLToPath(new URL("pyhanko_oracle.py", import.meta.url));
  const lines = requests.map((request) => JSON.stringify(onTheWire(request)));
  const run = spawnSync(python, [script], { input: `${lines.join("\n")}\n`, encoding: "utf8", maxBuffer: 2 ** 30 });
  if (run.status !== 0) throw new Error(`pyHanko: ${run.error ?? run.stderr}`);
  return run.stdout
    .trim()
    .split("\n")
    .map((line) => {
      const { pdf, ...answer } = JSON.parse(line);
      return pdf === undefined ? answer : { ...answer, pdf: Uint8Array.from(Buffer.from(pdf, "base64")) };
    });
}
