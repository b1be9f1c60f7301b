import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { createClient, signWebhook } from "@signsealship/sdk";
import { forTests } from "@signsealship/testing/for-tests";
import { freePort } from "@signsealship/testing/free-port";
import { openHarness } from "@signsealship/testing/harness";
import { newPartner, temporaryFolder } from "@signsealship/testing/service";
import { python } from "@signsealship/testing/tools/python";
import { needs, type ToolName, tools } from "@signsealship/testing/tools/tools";
import { pythonSources } from "../../../../tools/build-sdk-python.ts";
import { guideNames } from "../../../src/pages/guides/guides.ts";
import { type Sample, samplesOf } from "./sample-blocks.ts";

const root = fileURLToPath(new URL("../../../..", import.meta.url));
const folder = temporaryFolder();
const pythonSdk = join(folder.path, "python-sdk");
let key: string;
const harness = await forTests(openHarness());
if (tools.python.isHere()) pythonSources(pythonSdk);

const markdownOf = (name: string) => readFileSync(join(root, "service/guides", `${name}.md`), "utf8");
const programs: Readonly<Record<string, string>> = { ts: "node", js: "node", py: python, python };

const environment = () => ({
  PATH: [dirname(process.execPath), process.env["PATH"]].join(delimiter),
  HOME: process.env["HOME"] ?? "/root",
  SIGNSEALSHIP_KEY: key,
  PYTHONPATH: join(pythonSdk, "src"),
  PYTHONDONTWRITEBYTECODE: "1",
  GOTOOLCHAIN: "local",
});

/** The folder of a reader who has installed the SDK and downloaded our example. */
function readersFolder(name: string): string {
  const own = join(folder.path, name);
  mkdirSync(join(own, "node_modules/@signsealship"), { recursive: true });
  symlinkSync(join(root, "packages/sdk"), join(own, "node_modules/@signsealship/sdk"));
  writeFileSync(join(own, "package.json"), '{ "type": "module" }');
  cpSync(join(root, "examples/lien-release.pdf"), join(own, "deed.pdf"));
  cpSync(join(root, "examples/rental-application.pdf"), join(own, "form.pdf"));
  return own;
}

/** One shell script: commands are included as they are, and programs are run from their files. */
function terminalOf(samples: readonly Sample[], own: string): string {
  const lines = samples.map(({ lang, file, text }) => {
    if (file === null) return text;
    writeFileSync(join(own, file), text);
    return `${programs[lang]} ${file}\n`;
  });
  return ["set -euo pipefail\n", ...lines, "export -p > environment.sh\n"].join("");
}

function run(script: string, own: string): void {
  const { status, stdout, stderr } = spawnSync("bash", ["-c", script], {
    cwd: own,
    env: environment(),
    encoding: "utf8",
    timeout: 60_000,
  });
  assert.equal(status, 0, `${stdout}\n${stderr}`);
}

const sampled = (name: string) =>
  samplesOf(markdownOf(name), { baseUrl: harness.service.baseUrl, key }).filter(({ isReceiver }) => !isReceiver);

// The guide for closing agents is about pages, and has no code.
const withSamples = guideNames.filter((name) => name !== "closing-agents");

for (const name of withSamples)
  test(`the commands and the TypeScript of ${name} run as pasted`, needs("jq", "openssl"), async () => {
    // Each guide gets its own firm, so that guides don't share webhooks and idempotency keys.
    key = (await newPartner(harness.service, { tier: "ClosingDesk" })).key;
    const samples = sampled(name).filter(({ lang }) => ["sh", "ts", "js"].includes(lang));
    assert.ok(samples.length > 0);
    const own = readersFolder(name);
    run(terminalOf(samples, own), own);
  });

const withPython = needs("jq", "openssl", "python", "httpx");

for (const name of withSamples)
  test(`the Python of ${name} runs as pasted`, withPython, () => {
    const own = join(folder.path, name);
    const samples = sampled(name).filter(({ lang }) => lang === "py");
    run(`. ./environment.sh\n${terminalOf(samples, own)}`, own);
  });

type Published = { paths: Record<string, Record<string, { operationId: string; "x-codeSamples"?: CodeSample[] }>> };
type CodeSample = { lang: string; source: string };

const endings: Readonly<Record<string, string>> = { Shell: "sh", TypeScript: "ts", Python: "py" };

/** Writes the reference's samples to files. @returns the file names by language */
async function writeReferenceSamples(own: string): Promise<Record<string, string[]>> {
  const { paths } = (await (await fetch(`${harness.service.baseUrl}/openapi.json`)).json()) as Published;
  const files: Record<string, string[]> = {};
  for (const { operationId, "x-codeSamples": samples = [] } of Object.values(paths).flatMap((item) =>
    Object.values(item),
  ))
    for (const { lang, source } of samples) {
      const file = `${operationId}.${endings[lang]}`;
      writeFileSync(join(own, file), source.replace(/^curl /, "curl -sS --fail-with-body "));
      files[lang] = [...(files[lang] ?? []), file];
    }
  return files;
}

test("the samples of the reference run as pasted", withPython, async () => {
  key = (await newPartner(harness.service, { tier: "ClosingDesk" })).key;
  const own = readersFolder("reference");
  const client = createClient({ baseUrl: harness.service.baseUrl, key });
  const pdf = readFileSync(join(own, "deed.pdf"));
  const { orderCode } = await client.orders.create({ email: "a@example.com", byodConfirmed: true, svcSign: true }, pdf);
  const { roomCode } = await client.rooms.create({ name: "For the samples" });
  const { Shell = [], TypeScript = [], Python = [] } = await writeReferenceSamples(own);
  assert.ok(Shell.length >= 8 && Shell.length === TypeScript.length && Shell.length === Python.length);
  // One process for each language, because starting a process costs more than running the samples.
  writeFileSync(join(own, "all.mjs"), TypeScript.map((file) => `await import("./${file}");`).join("\n"));
  const runAll = `import runpy\nfor file in ${JSON.stringify(Python)}: runpy.run_path(file)\n`;
  writeFileSync(join(own, "all.py"), runAll);
  const commands = [...Shell.map((file) => `. ./${file}`), "node all.mjs", `${python} all.py`];
  run(["set -euo pipefail", `export ORDER_CODE=${orderCode} ROOM_CODE=${roomCode}`, ...commands].join("\n"), own);
});

const receiverTools: Readonly<Record<string, ToolName[]>> = { php: ["php"], go: ["go"], python: ["python"] };
const receivers = samplesOf(markdownOf("webhooks"), { baseUrl: "", key: "" }).filter(({ isReceiver }) => isReceiver);

/** Starts a receiver on its own port. @returns its URL, and a function that stops it */
async function start({ lang, file, text }: Sample): Promise<{ url: string; end: () => void }> {
  const own = join(folder.path, `receiver-${lang}`);
  mkdirSync(own);
  symlinkSync(join(root, "node_modules"), join(own, "node_modules"));
  writeFileSync(join(own, String(file)), text);
  const port = await freePort();
  const env = { ...environment(), PORT: String(port), WEBHOOK_SECRET: secret };
  if (lang === "go")
    assert.equal(spawnSync("go", ["build", "-o", "receiver", String(file)], { cwd: own, env }).status, 0);
  const command: Readonly<Record<string, [string, ...string[]]>> = {
    php: ["php", "-S", `localhost:${port}`],
    go: ["./receiver"],
  };
  const [program, ...args] = command[lang] ?? [programs[lang] ?? lang];
  const child = spawn(program, lang === "go" ? args : [...args, String(file)], { cwd: own, env, stdio: "ignore" });
  const url = `http://localhost:${port}/`;
  for (let tries = 0; tries < 200; tries++) {
    if (await fetch(url, { method: "POST" }).catch(() => null)) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return { url, end: () => child.kill("SIGKILL") };
}

const secret = `svc_whsec_${"k4s7".repeat(13)}`;
const event = '{"type":"order.created","id":"order.created:é","data":{}}';

for (const receiver of receivers) {
  const needed = receiver.lang === "py" ? withPython : needs(...(receiverTools[receiver.lang] ?? []));
  test(`the receiver in ${receiver.lang} accepts only what we signed`, needed, async () => {
    const { url, end } = await start(receiver);
    const post = async (headers: Record<string, string>, body = event) =>
      (await fetch(url, { method: "POST", headers, body })).status;
    try {
      const good = await signWebhook(event, secret);
      const other = await signWebhook(event, `svc_whsec_${"a".repeat(52)}`);
      const signature = good["Service-Signature"] ?? "";
      const wrongV1 = other["Service-Signature"]?.split(",")[1];
      assert.equal(await post(good), 204);
      assert.equal(await post({ ...good, "Service-Signature": `${signature.replace(",", `,${wrongV1},`)}` }), 204);
      assert.equal(await post(good, event.replace("created", "changed")), 400);
      assert.equal(await post(other), 400);
      assert.equal(await post(await signWebhook(event, secret, { now: Date.now() - 301_000 })), 400);
      assert.equal(await post({}), 400);
      assert.equal(await post({ ...good, "Service-Signature": "t=,v1=" }), 400);
    } finally {
      end();
    }
  });
}
