// Refuses wordings that readers stumble over, in comments and in Markdown: npm run check
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { refusedWordings } from "./english.ts";

/** Folders that still have refused wordings, one a line. A folder that is clean leaves the list, and stays clean. */
const notYetClean: string[] = [
  "packages/sdk-python/src/signsealship/models/orders.py",
  "service/src/pages/live/",
  "service/src/pages/operator/operator.ts",
  "service/src/signing/envelopes/ceremony/sign-request.ts",
  "service/src/signing/notaries/sheets/store.ts",
  "service/src/signing/notaries/sessions/",
  "service/src/signing/envelopes/ceremony/identify.ts",
  "service/src/signing/envelopes/ceremony/view.ts",
  "service/src/signing/envelopes/pdf/fields.ts",
  "service/src/signing/notaries/acts/act.ts",
  "service/src/signing/notaries/acts/entry.ts",
  "service/src/signing/notaries/desk/complete.ts",
  "service/src/signing/notaries/eligibility/rules.ts",
  "service/src/signing/notaries/sheets/ipen.ts",
  "service/src/signing/notaries/signing/block.ts",
  "service/src/signing/notaries/signing/build-task.ts",
  "service/src/signing/notaries/signing/sign.ts",
];

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const checked = /\.(?:ts|mjs|cjs|py|sql|sh|css|ya?ml|md)$/;
// The patterns and their test; vectors; texts that signers have agreed to; migrations that databases have run.
const exempt =
  /^tools\/english(?:\.test)?\.ts$|\/vectors\/|^service\/data\/consent\/|^service\/migrations\/00(?:[0-8]\d|9[01])_/;

// With a folder or file as argument, checks it although it is on the list.
const [asked] = process.argv.slice(2);
const files = execFileSync("git", ["ls-files", "-z"], { cwd: root, encoding: "utf8" }).split("\0");
let refused = 0;
for (const file of files) {
  if (!checked.test(file) || exempt.test(file)) continue;
  if (asked === undefined ? notYetClean.some((folder) => file.startsWith(folder)) : !file.startsWith(asked)) continue;
  for (const { line, found, better } of refusedWordings(file, readFileSync(join(root, file), "utf8"))) {
    console.error(`${file}:${line}: "${found}" is hard to read: write ${better}`);
    refused += 1;
  }
}
if (refused > 0) process.exitCode = 1;
