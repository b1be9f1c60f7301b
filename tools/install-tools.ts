import { execFileSync, spawnSync } from "node:child_process";
import { appendFileSync, existsSync } from "node:fs";
import { jarsFolder } from "../testing/tools/java.ts";
import { python, pythonEnvironment, requirementsFile, wheelsFolder } from "../testing/tools/python.ts";
import { runtimesFolder } from "../testing/tools/runtimes.ts";
import { missingTools, tools } from "../testing/tools/tools.ts";

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

const missingPackages = (): string[] => {
  const names = missingTools().filter((name) =>
    name === "python" ? !canMakeEnvironment() : !((tools[name].maven || tools[name].mavenProject) && hasMaven()),
  );
  return [...new Set(names.flatMap((name) => tools[name].debian?.split(" ") ?? []))];
};

const missingRequirements = (): string[] => missingTools().flatMap((name) => tools[name].python ?? []);

/** The command that installs every tool that is missing here; null when none would. */
export function installCommand(): string | null {
  const packages = missingPackages();
  if (packages.length === 0) return null;
  return `sudo apt-get install -y ${packages.join(" ")}`;
}

/** Installs what tests need and is missing: Debian's packages as root, Python's libraries where Python is. Never throws: tests of what is missing then are skipped. */
export function installTools(): void {
  const packages = missingPackages();
  if (packages.length > 0 && process.getuid?.() === 0 && existsSync("/usr/bin/apt-get"))
    attempt(`${packages.join(" ")} (apt-get)`, () => {
      run("apt-get", "update", "-qq");
      // A name that this release does not have would keep out all the others.
      const known = packages.filter((name) => spawnSync("apt-cache", ["show", name]).status === 0);
      run("apt-get", "install", "-y", "-qq", "--no-install-recommends", ...known);
    });
  installRuntimes();
  buildTools();
  installJars();
  installProjects();
  const requirements = missingRequirements();
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

function installRuntimes(): void {
  const packages = missingTools().flatMap((name) => tools[name].npm ?? []);
  if (packages.length === 0) return;
  attempt(`${packages.join(" ")} (npm, into node_modules/.cache)`, () =>
    run("npm", "install", "--no-audit", "--no-fund", "--no-save", "--prefix", runtimesFolder, ...packages),
  );
}

function buildTools(): void {
  if (!existsSync("/usr/bin/apt-get")) return;
  for (const name of missingTools()) {
    const { build } = tools[name];
    if (build) attempt(`${name} (from its source, into node_modules/.cache)`, build);
  }
}

function installJars(): void {
  const artifacts = missingTools().flatMap((name) => tools[name].maven ?? []);
  if (artifacts.length === 0 || !hasMaven()) return;
  attempt(`${artifacts.join(" ")} (mvn, into node_modules/.cache)`, () => {
    const copy = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy";
    for (const artifact of artifacts)
      run("mvn", "-q", "-B", copy, `-Dartifact=${artifact}`, `-DoutputDirectory=${jarsFolder}`);
  });
}

function installProjects(): void {
  const projects = missingTools().flatMap((name) => tools[name].mavenProject ?? []);
  if (projects.length === 0 || !hasMaven()) return;
  const copy = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies";
  for (const { pom, folder } of projects)
    attempt(`${pom} (mvn, into node_modules/.cache)`, () =>
      run("mvn", "-q", "-B", "-f", pom, copy, `-DoutputDirectory=${folder}`),
    );
}

if (import.meta.main) installTools();
