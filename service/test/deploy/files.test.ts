import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "@signsealship/testing/temporary-folder";
import { needs } from "@signsealship/testing/tools/tools";
import { parse } from "yaml";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const read = (name: string) => readFileSync(join(root, name), "utf8");
const folder = temporaryFolder();
after(() => folder.remove());

type Part = {
  image?: string;
  depends_on?: Record<string, { condition: string }>;
  environment?: Record<string, string>;
  healthcheck?: object;
  volumes?: string[];
  networks?: string[];
  network_mode?: string;
  ports?: string[];
};
type Compose = {
  services: Record<string, Part>;
  volumes: Record<string, null>;
  networks: Record<string, { ipam?: { config: { subnet: string }[] } }>;
};
const compose = parse(read("deploy/compose.yaml"), { merge: true }) as Compose;

/** All settings of the service: the documented ones, and those that Node and the S3 client read themselves. */
const settings = new Set([
  ...[...read("docs/operating.md").matchAll(/^\| (`[A-Z].*?`) \|/gm)].flatMap(([, names = ""]) =>
    [...names.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name),
  ),
  "AWS_ACCESS_KEY_ID",
  "AWS_SECRET_ACCESS_KEY",
  "NODE_ENV",
  "NODE_COMPILE_CACHE",
]);

test("unit and container limit the memory as the docs state", () => {
  const [, needed] = /less than (\d+) GB, which `MemoryMax=`/.exec(read("docs/operating.md")) ?? [];
  assert.match(read("deploy/signsealship.service"), new RegExp(`^MemoryMax=${needed}G$`, "m"));
  assert.match(read("docs/running.md"), new RegExp(`docker run [^\n]*--memory ${needed}g`));
});

test("every value that the container, the compose file and the unit pass to the service is one of its settings", () => {
  const [, inImage = ""] = /^ENV (.*)$/m.exec(read("deploy/Containerfile")) ?? [];
  const [, inUnit = ""] = /^Environment=(.*)$/m.exec(read("deploy/signsealship.service")) ?? [];
  const names = [inImage, inUnit].flatMap((text) => text.split(" ").map((each) => each.split("=")[0] ?? ""));
  for (const part of ["service", "migrate"]) names.push(...Object.keys(compose.services[part]?.environment ?? {}));
  assert.ok(names.length > 15);
  assert.deepEqual(
    names.filter((name) => !settings.has(name)),
    [],
  );
});

test("services wait for existing services, and for the health of those that have a check", () => {
  // True if a part has a health check: its own, or the one in the service's image.
  const checked = (part: Part | undefined) => part?.healthcheck !== undefined || part?.image === "signsealship";
  for (const [name, { depends_on = {} }] of Object.entries(compose.services))
    for (const [other, { condition }] of Object.entries(depends_on)) {
      assert.ok(compose.services[other], `${name} waits for ${other}`);
      assert.ok(condition === "service_completed_successfully" || checked(compose.services[other]), other);
    }
  assert.match(read("deploy/Containerfile"), /^HEALTHCHECK /m);
});

test("only the proxy can be reached from outside, and its network is the trusted one", () => {
  const open = Object.entries(compose.services).filter(([, { ports }]) => ports);
  assert.deepEqual(
    open.map(([name]) => name),
    ["proxy"],
  );
  const inEdge = Object.entries(compose.services).filter(([, { networks = [] }]) => networks.includes("edge"));
  assert.deepEqual(inEdge.map(([name]) => name).sort(), ["proxy", "service"]);
  assert.equal(
    compose.services["service"]?.environment?.["TRUST_PROXY"],
    compose.networks["edge"]?.ipam?.config[0]?.subnet,
  );
  for (const { networks = [], network_mode } of Object.values(compose.services)) {
    assert.ok(networks.length > 0 || network_mode === "none");
    for (const name of networks) assert.ok(name in compose.networks, name);
  }
});

test("mounted volumes and files exist, and images have a version", () => {
  for (const { volumes = [], image } of Object.values(compose.services)) {
    for (const [from = ""] of volumes.map((each) => each.split(":")))
      assert.ok(from.startsWith("./") ? existsSync(join(root, "deploy", from)) : from in compose.volumes, from);
    assert.match(image ?? "", /^signsealship$|:v?\d[\w.-]*$/);
  }
});

test("no password is written down: each is generated once, in a file that only its owner can read", () => {
  const deploy = join(folder.path, "deploy");
  mkdirSync(deploy);
  copyFileSync(join(root, "deploy/new-secrets.sh"), join(deploy, "new-secrets.sh"));
  execFileSync("sh", [join(deploy, "new-secrets.sh"), "sign.example.com"]);
  const made = readFileSync(join(deploy, ".env"), "utf8");
  assert.equal(statSync(join(deploy, ".env")).mode & 0o777, 0o600);
  const values = new Map(
    made
      .trim()
      .split("\n")
      .map((line) => line.split("=") as [string, string]),
  );
  const wanted = new Set([...read("deploy/compose.yaml").matchAll(/\$\{(\w+)/g)].map(([, name = ""]) => name));
  assert.deepEqual([...values.keys()].sort(), [...wanted].sort());
  assert.equal(new Set(values.values()).size, values.size);
  for (const [name, value] of values) if (name !== "DOMAIN") assert.match(value, /^[0-9a-f]{48}$/);
  assert.equal(spawnSync("sh", [join(deploy, "new-secrets.sh"), "other.example.com"]).status, 1);
  assert.equal(readFileSync(join(deploy, ".env"), "utf8"), made);
  assert.doesNotMatch(read("deploy/compose.yaml"), /(?:PASSWORD|SECRET\w*): (?!["']?\$\{)/);
});

test("systemd accepts the unit, and suggests few further restrictions", needs("systemd"), () => {
  const unit = join(folder.path, "signsealship.service");
  writeFileSync(unit, read("deploy/signsealship.service").replace("/opt/signsealship/bin/signsealship", "/bin/true"));
  const verified = spawnSync("systemd-analyze", ["verify", unit], { encoding: "utf8" });
  assert.equal(
    verified.stderr
      .split("\n")
      .filter((line) => line.includes("signsealship"))
      .join("\n"),
    "",
  );
  const rated = spawnSync("systemd-analyze", ["security", "--offline=yes", unit], { encoding: "utf8" });
  const [, exposure = "10"] = /Overall exposure level for \S+: ([\d.]+)/.exec(rated.stdout) ?? [];
  assert.ok(Number(exposure) <= 2, rated.stdout);
});
