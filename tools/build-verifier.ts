import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { readTrust } from "@signsealship/evidence/seal";
import { buildAssets } from "../service/src/pages/ui/assets/assets.ts";
import { standaloneVerifier } from "../service/src/pages/verify/standalone.ts";

const usage = "usage: npm run build:verifier -- [--out FILE] [--trust SEAL-CERTIFICATES.pem | TRUST.json]";

/** Builds the verifier as one HTML file; `--trust` embeds certificates of trusted seals. */
async function main(): Promise<void> {
  const { values } = parseArgs({ options: { out: { type: "string" }, trust: { type: "string" } } });
  const out = values.out ?? fileURLToPath(new URL("../dist/verifier.html", import.meta.url));
  const text = values.trust === undefined ? "" : readFileSync(values.trust, "utf8");
  if (values.trust !== undefined) readTrust(text);
  const page = standaloneVerifier(await buildAssets(), text);
  mkdirSync(dirname(out), { recursive: true });
  writeFileSync(out, page);
  const sha256 = createHash("sha256").update(page).digest("hex");
  console.log(`${sha256}  ${out} (${Math.round(page.length / 1024)} KB)`);
}

try {
  await main();
} catch (error) {
  console.error(`${(error as Error).message}\n${usage}`);
  process.exitCode = 1;
}
