import { execFileSync, spawnSync } from "node:child_process";
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { jarsFolder } from "../testing/tools/java.ts";
import { python, pythonEnvironment, requirementsFile, wheelsFolder } from "../testing/tools/python.ts";
import { runtimesFolder } from "../testing/tools/runtimes.ts";
import { missingTools, type ToolName, tools } from "../testing/tools/tools.ts";

const attempt = (what: string, work: () => void): void => {
  console.error(`npm test: installing ${what}`);
  try {
    work();
  } catch (error) {
    console.error(`npm test: that failed: ${(error as Error).message.trim().split("\n").at(-1)}`);
  }
};

const run = (program: string, ...args: string[]): void => {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  execFileSync(program, args, { env, stdio: ["ignore", "ignore", "pipe"] });
};

const canMakeEnvironment = (): boolean => spawnSync("python3", ["-c", "import venv, ensurepip"]).status === 0;

const hasMaven = (): boolean => spawnSync("mvn", ["--version"]).status === 0;

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const allTools = Object.keys(tools) as ToolName[];
/** All tools, except those that take minutes to build and that only `npm run test:long` needs. */
const usualTools = allTools.filter((name) => !tools[name].longOnly);
const importing = /\bfrom "(\.{1,2}\/[^"]+|@signsealship\/testing\/[^"]+)"/g;
const asksForTools = /\b(?:needs|testsNeeding)\(/;
/**
 * True if a file may require tools: only tests and test support do. The folder of the tools is excluded, because it
 * names all of them.
 */
const holdsTests = (path: string): boolean =>
  /^(?:testing|tools|bench|service\/test|packages\/[\w-]+\/test)\//.test(path) && !path.startsWith("testing/tools/");

/** The tools that test files require, directly or through test support that they import. */
export function toolsOf(files: readonly string[]): ToolName[] {
  const seen = new Set<string>();
  const names = new Set<ToolName>();
  const waiting = files.map((file) => resolve(root, file));
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const isTest = holdsTests(path.slice(root.length + 1));
    if (seen.has(path) || !isTest || !existsSync(path)) continue;
    seen.add(path);
    const source = readFileSync(path, "utf8");
    if (asksForTools.test(source)) for (const name of allTools) if (source.includes(`"${name}"`)) names.add(name);
    for (const [, from = ""] of source.matchAll(importing)) {
      const shared = from.startsWith("@") ? `${from.slice("@signsealship/".length)}.ts` : null;
      waiting.push(shared === null ? resolve(dirname(path), from) : join(root, shared));
    }
  }
  // The Python libraries are installed into a virtual environment, which the tool `python` stands for.
  if ([...names].some((name) => tools[name].python)) names.add("python");
  return [...names].sort();
}

const missingOf = (wanted: readonly ToolName[]): ToolName[] => missingTools().filter((name) => wanted.includes(name));

const missingPackages = (wanted: readonly ToolName[]): string[] => {
  const names = missingOf(wanted).filter((name) =>
    name === "python" ? !canMakeEnvironment() : !((tools[name].maven || tools[name].mavenProject) && hasMaven()),
  );
  return [...new Set(names.flatMap((name) => tools[name].debian?.split(" ") ?? []))];
};

const missingRequirements = (wanted: readonly ToolName[]): string[] =>
  missingOf(wanted).flatMap((name) => tools[name].python ?? []);

/** The command that installs the missing Debian packages; null when none is missing. */
export function installCommand(): string | null {
  const packages = missingPackages(usualTools);
  if (packages.length === 0) return null;
  return `sudo apt-get install -y ${packages.join(" ")}`;
}

/**
 * Installs missing tools, by default all that the usual tests need: Debian packages as root, npm packages, programs
 * from source where apt-get exists, Maven artifacts where Maven exists, and Python libraries where Python exists. Never
 * throws; tests without their tools are skipped.
 */
export function installTools(wanted: readonly ToolName[] = usualTools): void {
  const packages = missingPackages(wanted);
  if (packages.length > 0 && process.getuid?.() === 0 && existsSync("/usr/bin/apt-get"))
    attempt(`${packages.join(" ")} (apt-get)`, () => {
      run("apt-get", "update", "-qq");
      // Leaves out names that this release of Debian lacks, because one such name would make apt refuse all packages.
      const known = packages.filter((name) => spawnSync("apt-cache", ["show", name]).status === 0);
      run("apt-get", "install", "-y", "-qq", "--no-install-recommends", ...known);
    });
  installRuntimes(wanted);
  buildTools(wanted);
  installJars(wanted);
  installProjects(wanted);
  if (!wanted.includes("python")) return;
  const requirements = missingRequirements(wanted);
  const environmentIsHere = tools.python.isHere();
  if (environmentIsHere ? requirements.length === 0 : !canMakeEnvironment()) return;
  attempt(`${requirements.join(" ")} (pip, into node_modules/.cache)`, () => {
    if (!environmentIsHere) run("python3", "-m", "venv", pythonEnvironment);
    const pip = (...args: string[]) => run(python, "-m", "pip", ...args, "--quiet", "--disable-pip-version-check");
    pip("wheel", "--wheel-dir", wheelsFolder, ...requirements);
    pip("install", "--no-index", "--find-links", wheelsFolder, ...requirements);
    appendFileSync(requirementsFile, requirements.map((each) => `${each}\n`).join(""));
  });
}

function installRuntimes(wanted: readonly ToolName[]): void {
  const packages = missingOf(wanted).flatMap((name) => tools[name].npm ?? []);
  if (packages.length === 0) return;
  attempt(`${packages.join(" ")} (npm, into node_modules/.cache)`, () =>
    run("npm", "install", "--no-audit", "--no-fund", "--no-save", "--prefix", runtimesFolder, ...packages),
  );
}

function buildTools(wanted: readonly ToolName[]): void {
  if (!existsSync("/usr/bin/apt-get")) return;
  for (const name of missingOf(wanted)) {
    const { build } = tools[name];
    if (build) attempt(`${name} (from its source, into node_modules/.cache)`, build);
  }
}

function installJars(wanted: readonly ToolName[]): void {
  const artifacts = missingOf(wanted).flatMap((name) => tools[name].maven ?? []);
  if (artifacts.length === 0 || !hasMaven()) return;
  attempt(`${artifacts.join(" ")} (mvn, into node_modules/.cache)`, () => {
    const copy = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy";
    for (const artifact of artifacts)
      run("mvn", "-q", "-B", copy, `-Dartifact=${artifact}`, `-DoutputDirectory=${jarsFolder}`);
  });
}

function installProjects(wanted: readonly ToolName[]): void {
  const projects = missingOf(wanted).flatMap((name) => tools[name].mavenProject ?? []);
  if (projects.length === 0 || !hasMaven()) return;
  const copy = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies";
  for (const { pom, folder } of projects)
    attempt(`${pom} (mvn, into node_modules/.cache)`, () =>
      run("mvn", "-q", "-B", "-f", pom, copy, `-DoutputDirectory=${folder}`),
    );
}

if (import.meta.main) installTools();
