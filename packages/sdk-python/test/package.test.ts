import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { signWebhook } from "@signsealship/sdk";
import { freePort } from "@signsealship/testing/free-port";
import { endWithTests } from "@signsealship/testing/reaper";
import { newPartner, type Service, startService, temporaryFolder } from "@signsealship/testing/service";
import { python as toolsPython, wheelsFolder } from "@signsealship/testing/tools/python";
import { testsNeeding } from "@signsealship/testing/tools/tools";
import { until } from "@signsealship/testing/until";
import { buildPythonSdk, pythonSources } from "../../../tools/build-sdk-python.ts";
import { consumer } from "./consumer.ts";

const { test, before, after } = testsNeeding("python", "httpx", "hatchling", "mypy");
const root = fileURLToPath(new URL("../../..", import.meta.url));
const sdk = join(root, "packages/sdk-python");
const folder = temporaryFolder();
/** A partner's project, and its environment, with the SDK installed from its wheel. */
const project = join(folder.path, "project");
const python = join(folder.path, "venv/bin/python");
const programs = [...readFileSync(join(sdk, "README.md"), "utf8").matchAll(/```python\n(.*?)```/gs)].map(
  ([, program = ""], index) => ({ file: `readme_${index + 1}.py`, program }),
);

let wheel: string;
let service: Service;
let env: Record<string, string>;

before(async () => {
  wheel = buildPythonSdk(join(folder.path, "dist"));
  execFileSync(toolsPython, ["-m", "venv", "--without-pip", join(folder.path, "venv")]);
  const install = ["--python", python, "install", "--quiet", "--no-index", "--find-links", wheelsFolder, wheel];
  execFileSync(toolsPython, ["-m", "pip", "--disable-pip-version-check", ...install]);
  mkdirSync(project);
  copyFileSync(join(root, "examples/lien-release.pdf"), join(project, "deed.pdf"));
  for (const { file, program } of programs) writeFileSync(join(project, file), program);
  writeFileSync(join(project, "consumer.py"), consumer);
  for (const file of globSync("*.py", { cwd: join(sdk, "test") }))
    cpSync(join(sdk, "test", file), join(project, "test", file));
  service = await startService({ DATA_DIR: join(folder.path, "data"), RATE_LIMITS: "off" });
  const { key } = await newPartner(service);
  env = {
    PATH: process.env["PATH"] ?? "",
    SIGNSEALSHIP_URL: service.baseUrl,
    SIGNSEALSHIP_KEY: key,
    SIGNSEALSHIP_PDF: join(project, "deed.pdf"),
    WEBHOOK_VECTORS: join(root, "packages/sdk/test/vectors/webhooks.json"),
    CHAIN_PAGE: join(root, "docs/webhook-chain.md"),
    WEBHOOK_SECRET: "svc_whsec_x",
  };
});
after(async () => {
  await service.stop();
  folder.remove();
});

/**
 * Runs Python in the partner's project. @returns its output @throws AssertionError with the error messages of Python
 */
function run(program: string, ...args: string[]): string {
  const ran = spawnSync(program, args, { cwd: project, env, encoding: "utf8" });
  assert.equal(ran.status, 0, `${ran.stdout}${ran.stderr}`);
  return ran.stdout;
}

test("the wheel contains the package, the marker for types, and the license", () => {
  assert.match(basename(wheel), /^signsealship-\d+\.\d+\.\d+-py3-none-any\.whl$/);
  const names: string[] = JSON.parse(
    run(python, "-c", `import json, zipfile; print(json.dumps(zipfile.ZipFile(${JSON.stringify(wheel)}).namelist()))`),
  );
  for (const name of ["signsealship/__init__.py", "signsealship/py.typed", "signsealship/_async/client.py"])
    assert.ok(names.includes(name), name);
  assert.ok(names.some((name) => name.endsWith(".dist-info/licenses/LICENSE")));
  for (const name of names) assert.match(name, /^signsealship[-/].*(?:\.py|py\.typed|LICENSE|METADATA|WHEEL|RECORD)$/);
  const metadata =
    "import importlib.metadata as m; d = m.distribution('signsealship'); print(d.metadata['License-Expression'], d.requires)";
  const { license } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  assert.equal(run(python, "-c", metadata), `${license} ['httpx<1,>=0.27']\n`);
});

test("the wheel's synchronous client has a file for each asynchronous one, and awaits nothing", () => {
  const files = (client: string): Record<string, string> =>
    JSON.parse(
      run(
        python,
        "-c",
        `import json, pathlib, signsealship; print(json.dumps({ f.name: f.read_text() for f in pathlib.Path(signsealship.__file__).parent.joinpath("${client}").glob("*.py") }))`,
      ),
    );
  const sync = files("_sync");
  assert.deepEqual(Object.keys(sync).sort(), Object.keys(files("_async")).sort());
  assert.ok("client.py" in sync);
  for (const [name, text] of Object.entries(sync))
    assert.doesNotMatch(text.split("\n").slice(1).join("\n"), /async|await|aclose/i, name);
});

test("its own tests pass after installation, against a real service and its description", () => {
  const ran = spawnSync(python, ["-m", "unittest", "discover", "-s", "test"], { cwd: project, env, encoding: "utf8" });
  assert.equal(ran.status, 0, ran.stderr);
  assert.ok(Number(/Ran (\d+) tests/.exec(ran.stderr)?.[1]) > 30, ran.stderr);
});

test("the programs of the README run unchanged", async () => {
  const [first, second, receiver, ...more] = programs;
  assert.ok(first && second && receiver && more.length === 0);
  const [placed = "", ...listed] = run(python, first.file).trim().split("\n");
  assert.match(placed, /^[0-9a-f]{40} \d+$/);
  assert.match(listed.join(), /^[0-9a-f]{40} QuoteReady \d{4}-\d\d-\d\d$/);
  assert.match(run(python, second.file), /^Jane Doe (?:pending|sent)\nBob Roe pending\n[0-9a-f]{40} EsignPending\n/);
  await receives(receiver.file);
});

async function receives(file: string): Promise<void> {
  const port = await freePort();
  const child = spawn(python, [file], {
    cwd: project,
    env: { ...env, PORT: String(port) },
    stdio: ["ignore", "pipe", "ignore"],
  });
  endWithTests(child);
  let printed = "";
  child.stdout.on("data", (data) => {
    printed += data;
  });
  const post = (headers: Record<string, string>) =>
    fetch(`http://127.0.0.1:${port}/`, { method: "POST", headers, body });
  const data = {
    orderCode: "abc",
    status: "Paid",
    environment: "test",
    occurredAtUtc: "2026-03-04T05:06:07.089Z",
  };
  const body = JSON.stringify({ type: "payment.cleared", id: "1", data });
  await until(() =>
    post({}).then(
      ({ status }) => status === 400,
      () => false,
    ),
  );
  assert.equal((await post(await signWebhook(body, "svc_whsec_x"))).status, 204);
  const refused = await post(await signWebhook(body, "svc_whsec_y"));
  assert.deepEqual([refused.status, refused.statusText], [400, "wrong_signature"]);
  assert.equal(printed, "1 payment.cleared\nabc Paid\n");
  child.kill("SIGTERM");
  await once(child, "exit");
}

test("its types pass the strictest mypy: its own, its tests', the README's; wrong uses are found", () => {
  const settings = ["--strict", "--python-version", "3.10", "--python-executable", python];
  const files = [...programs.map(({ file }) => file), "consumer.py", "test"];
  // mypy reports no errors in installed packages, so the test passes it the package's source files.
  const sources = pythonSources(join(folder.path, "sources"));
  run(toolsPython, "-m", "mypy", ...settings, "--cache-dir", "/dev/null", sources, ...files);
});
