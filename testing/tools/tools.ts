import { existsSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import * as nodeTest from "node:test";
import { dss } from "./dss.ts";
import { jarPath } from "./java.ts";
import { pgbouncer } from "./pgbouncer.ts";
import { postgresProgram } from "./postgresql.ts";
import { python, requirementsFile } from "./python.ts";
import { type RuntimeName, runtimePackages, runtimeProgram } from "./runtimes.ts";
import { veraPdf } from "./verapdf.ts";

/** A program or library of others that tests hold ours against. */
type Tool = {
  /** Whether it is here. */
  readonly isHere: () => boolean;
  /** Packages of Debian and Ubuntu, separated by spaces. */
  readonly debian?: string;
  /** A requirement from PyPI, installed into the virtual environment of python.ts. */
  readonly python?: string;
  /** A package of npm, installed into the folder of runtimes.ts. */
  readonly npm?: string;
  /** An artifact of Maven's central repository, one file that runs, copied into the folder of java.ts. */
  readonly maven?: string;
  /** Makes it from its source, which Debian's packages are made of. */
  readonly build?: () => void;
  /** A project of Maven, and the folder that its libraries are copied into. */
  readonly mavenProject?: { readonly pom: string; readonly folder: string };
};

/** The path of a program in PATH. */
const programPath = (name: string): string | undefined =>
  (process.env["PATH"] ?? "")
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path));

const packaged = (debian: string, ...names: string[]): Tool => ({
  debian,
  isHere: () => names.every((name) => programPath(name) !== undefined),
});

const fromPypi = (requirement: string): Tool => ({
  python: requirement,
  isHere: () => existsSync(requirementsFile) && readFileSync(requirementsFile, "utf8").includes(`${requirement}\n`),
});

const runtime = (name: RuntimeName): Tool => ({
  npm: runtimePackages[name],
  isHere: () => existsSync(runtimeProgram(name)),
});

const fromMaven = (artifact: string): Tool => ({
  debian: "maven",
  maven: artifact,
  isHere: () => programPath("java") !== undefined && existsSync(jarPath(artifact)),
});

export const chromiumPath = (): string | undefined =>
  ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"]
    .map(programPath)
    .find((path) => path !== undefined);

export const softHsmModule = (): string | undefined =>
  ["/usr/lib/softhsm/libsofthsm2.so", "/usr/lib64/pkcs11/libsofthsm2.so"].find((path) => existsSync(path));

const table = {
  chromium: { debian: "chromium-headless-shell", isHere: () => chromiumPath() !== undefined },
  // The same engine without a window: half the CPU.
  headlessShell: packaged("chromium-headless-shell", "chromium-headless-shell"),
  poppler: packaged("poppler-utils", "pdfsig", "pdfinfo", "pdfdetach", "pdftotext", "pdftoppm"),
  nss: packaged("libnss3-tools", "certutil"),
  mupdf: packaged("mupdf-tools", "mutool"),
  qpdf: packaged("qpdf", "qpdf"),
  openssl: packaged("openssl", "openssl"),
  softhsm: {
    debian: "softhsm2",
    isHere: () => softHsmModule() !== undefined && programPath("softhsm2-util") !== undefined,
  },
  redis: packaged("redis-server", "redis-server"),
  // The embedded one is a server alone: no pg_basebackup, no psql.
  postgresql: { debian: "postgresql", isHere: () => postgresProgram("pg_basebackup") !== undefined },
  pgbouncer: { ...pgbouncer, debian: "gcc make pkg-config libevent-dev libssl-dev" },
  prometheus: packaged("prometheus", "promtool"),
  nginx: packaged("nginx-light", "nginx"),
  caddy: packaged("caddy", "caddy"),
  systemd: packaged("systemd", "systemd-analyze"),
  fish: packaged("fish", "fish"),
  jq: packaged("jq", "jq"),
  php: packaged("php-cli", "php"),
  go: packaged("golang-go", "go"),
  zip: packaged("zip", "zip"),
  unzip: packaged("unzip", "unzip"),
  // What a service without root can't be given is not installed, only named.
  root: { isHere: () => process.getuid?.() === 0 },
  python: { debian: "python3-venv", isHere: () => existsSync(python) },
  opentimestamps: fromPypi("opentimestamps==0.4.5"),
  pyhanko: fromPypi("pyHanko==0.38.0"),
  httpx: fromPypi("httpx==0.28.1"),
  hatchling: fromPypi("hatchling==1.33.0"),
  mypy: fromPypi("mypy==2.4.1"),
  schemathesis: fromPypi("schemathesis==4.32.5"),
  node20: runtime("node20"),
  node22: runtime("node22"),
  deno: runtime("deno"),
  verapdf: fromMaven(veraPdf),
  dss: {
    debian: "maven",
    mavenProject: dss,
    isHere: () => programPath("java") !== undefined && dss.isHere(),
  },
} as const satisfies Record<string, Tool>;

export type ToolName = keyof typeof table;

export const tools: Readonly<Record<ToolName, Tool>> = table;

/** The tools that are not here. */
export const missingTools = (): ToolName[] =>
  (Object.keys(table) as ToolName[]).filter((name) => !table[name].isHere());

/** How the reason of a test that was skipped for want of tools begins. */
export const wants = "wants ";

/** Options of a test or suite that is skipped, saying why, where one of the tools is missing. */
export function needs(...names: ToolName[]): { skip: false | string } {
  const missing = names.filter((name) => !table[name].isHere());
  return { skip: missing.length > 0 && wants + missing.join(", ") };
}

type TestFunctions = Pick<typeof nodeTest, "test" | "describe" | "before" | "after" | "beforeEach" | "afterEach">;

/** What `node:test` exports, for a file whose every test needs the tools: where one is missing no hook runs, and each test is skipped. */
export function testsNeeding(...names: ToolName[]): TestFunctions {
  const { skip } = needs(...names);
  if (skip === false) return nodeTest;
  const skipped = ((name: string) => nodeTest.test(name, { skip }, () => {})) as typeof nodeTest.test;
  const noHook = () => {};
  const { describe } = nodeTest;
  return { test: skipped, describe, before: noHook, after: noHook, beforeEach: noHook, afterEach: noHook };
}
