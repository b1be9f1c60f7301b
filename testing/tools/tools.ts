import { existsSync, globSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import * as nodeTest from "node:test";
import { dss } from "./dss.ts";
import { jarPath } from "./java.ts";
import { litewitness } from "./litewitness.ts";
import { livekit } from "./livekit.ts";
import { pgbouncer } from "./pgbouncer.ts";
import { postgresProgram } from "./postgresql.ts";
import { python, requirementsFile } from "./python.ts";
import { type RuntimeName, runtimePackages, runtimeProgram } from "./runtimes.ts";
import { sigstore } from "./sigstore.ts";
import { tesseraFsck } from "./tessera-fsck.ts";
import { veraPdf } from "./verapdf.ts";

/** A foreign program or library that tests compare ours with. */
type Tool = {
  /** Returns true if the tool is installed. */
  readonly isHere: () => boolean;
  /** Packages of Debian and Ubuntu, separated by spaces. */
  readonly debian?: string;
  /** A requirement from PyPI, installed into the virtual environment of python.ts. */
  readonly python?: string;
  /** An npm package, installed into the folder of runtimes.ts. */
  readonly npm?: string;
  /** An artifact in Maven's central repository: one executable file, copied into the folder of java.ts. */
  readonly maven?: string;
  /** Builds the tool from its source, or installs it in a way that no other member covers. */
  readonly build?: () => void;
  /** True if only the suites of `npm run test:long` need the tool. */
  readonly longOnly?: true;
  /** A Maven project, and the folder for its libraries. */
  readonly mavenProject?: { readonly pom: string; readonly folder: string };
};

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

/** A library that, if preloaded, gives a program another time (`FAKETIME`). */
export const fakeTimeLibrary = (): string | undefined => globSync("/usr/lib/*/faketime/libfaketime.so.1")[0];

/** Settings of a service whose clock runs ahead. */
export const clockAhead = (seconds: number): Record<string, string> => ({
  LD_PRELOAD: fakeTimeLibrary() ?? "",
  FAKETIME: `+${seconds}s`,
  FAKETIME_DONT_FAKE_MONOTONIC: "1",
});

/** Debian's S3 client. */
export const awsProgram = "/usr/bin/aws";

const table = {
  chromium: { debian: "chromium-headless-shell", isHere: () => chromiumPath() !== undefined },
  // Chromium's engine without windows. It needs half the CPU time of the whole browser.
  headlessShell: packaged("chromium-headless-shell", "chromium-headless-shell"),
  poppler: packaged("poppler-utils", "pdfsig", "pdfinfo", "pdfdetach", "pdftotext", "pdftoppm"),
  nss: packaged("libnss3-tools", "certutil"),
  ffmpeg: packaged("ffmpeg", "ffprobe", "ffmpeg"),
  mupdf: packaged("mupdf-tools", "mutool"),
  qpdf: packaged("qpdf", "qpdf"),
  openssl: packaged("openssl", "openssl"),
  softhsm: {
    debian: "softhsm2",
    isHere: () => softHsmModule() !== undefined && programPath("softhsm2-util") !== undefined,
  },
  redis: packaged("redis-server", "redis-server"),
  // The embedded PostgreSQL contains only a server: no pg_basebackup, no psql.
  postgresql: { debian: "postgresql", isHere: () => postgresProgram("pg_basebackup") !== undefined },
  ceph: packaged("radosgw ceph-mon ceph-osd ceph-common", "radosgw", "ceph-mon", "ceph-osd", "ceph"),
  awscli: { debian: "awscli", isHere: () => existsSync(awsProgram) },
  pgbouncer: { ...pgbouncer, debian: "gcc make pkg-config libevent-dev libssl-dev" },
  prometheus: packaged("prometheus", "promtool"),
  coturn: packaged("coturn", "turnserver"),
  nginx: packaged("nginx-light", "nginx"),
  caddy: packaged("caddy", "caddy"),
  systemd: packaged("systemd", "systemd-analyze"),
  faketime: { debian: "faketime", isHere: () => fakeTimeLibrary() !== undefined },
  fish: packaged("fish", "fish"),
  jq: packaged("jq", "jq"),
  php: packaged("php-cli", "php"),
  go: packaged("golang-go", "go"),
  sigstore,
  tesseraFsck: { ...tesseraFsck, debian: "golang-go" },
  litewitness: { ...litewitness, debian: "openssh-client" },
  livekit: { ...livekit, debian: "golang-go", longOnly: true },
  zip: packaged("zip", "zip"),
  unzip: packaged("unzip", "unzip"),
  // Running as root counts as a tool that can't be installed. Tests that need it are skipped for other users.
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

export const missingTools = (): ToolName[] =>
  (Object.keys(table) as ToolName[]).filter((name) => !table[name].isHere());

/** The beginning of the reason for a test that is skipped because a tool is missing. */
export const wants = "wants ";

/** Options of a test or suite; it is skipped with a reason if one of the tools is missing. */
export function needs(...names: ToolName[]): { skip: false | string } {
  const missing = names.filter((name) => !table[name].isHere());
  return { skip: missing.length > 0 && wants + missing.join(", ") };
}

type TestFunctions = Pick<typeof nodeTest, "test" | "describe" | "before" | "after" | "beforeEach" | "afterEach">;

/**
 * Replaces `node:test` in a file whose every test needs the tools: if one is missing, each test is skipped and no hook
 * runs.
 */
export function testsNeeding(...names: ToolName[]): TestFunctions {
  const { skip } = needs(...names);
  if (skip === false) return nodeTest;
  const skipped = ((name: string) => nodeTest.test(name, { skip }, () => {})) as typeof nodeTest.test;
  const noHook = () => {};
  const { describe } = nodeTest;
  return { test: skipped, describe, before: noHook, after: noHook, beforeEach: noHook, afterEach: noHook };
}
