import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { examplePdf } from "@signsealship/testing/inputs/order-form";
import { newPartner, startService, temporaryFolder } from "@signsealship/testing/service";
import { runtimeProgram } from "@signsealship/testing/tools/runtimes";
import { needs } from "@signsealship/testing/tools/tools";
import { until } from "@signsealship/testing/until";
import { buildCli } from "../../../tools/build-cli.ts";

const folder = temporaryFolder("/tmp");
const project = join(folder.path, "project");
const program = join(folder.path, "package/signsealship.js");

const built = await buildCli(join(folder.path, "cli"));
const args = ["pack", "--json", "--pack-destination", folder.path];
const [{ filename }] = JSON.parse(execFileSync("npm", args, { cwd: built, encoding: "utf8" }));
const packed = join(folder.path, filename);
execFileSync("tar", ["-xzf", packed, "-C", folder.path]);
mkdirSync(project);
const service = await forTests(startService({ DATA_DIR: join(folder.path, "data"), RATE_LIMITS: "off" }));
const { key } = await newPartner(service);
const env = {
  ...process.env,
  SIGNSEALSHIP_KEY: key,
  BASE_URL: service.baseUrl,
  npm_config_cache: join(folder.path, "npm"),
};

/** Runs the packed command line in an empty folder. */
function run(...args: string[]) {
  const npx = ["--yes", "--offline", "--package", packed, "--", "signsealship"];
  const { status, stdout, stderr } = spawnSync("npx", [...npx, ...args], { cwd: project, env, encoding: "utf8" });
  return { status, stdout, stderr };
}

function ok(...args: string[]): Record<string, unknown> {
  const { status, stdout, stderr } = run(...args, "--json");
  assert.equal(status, 0, stdout + stderr);
  return JSON.parse(stdout);
}

test("runs by npx from its packed file, and prints its version, its verbs and the owner of the key", () => {
  assert.equal(run("--version").stdout.trim(), JSON.parse(readFileSync("package.json", "utf8")).version);
  const help = run("--help").stdout;
  for (const verb of ["listen", "trigger", "order create", "webhook create", "events", "me"])
    assert.match(help, new RegExp(`^ {2}signsealship ${verb}`, "m"));
  assert.equal(ok("me")["firmName"], "Acme Title");
});

test("moves an order through its statuses, shows it, and saves its sealed document once", () => {
  const { orderCode } = ok("trigger", "signature.completed") as { orderCode: string };
  const shown = ok("order", "show", orderCode) as { status: string; documents: { kind: string; documentId: string }[] };
  assert.equal(shown.status, "EsignComplete");
  const sealed = shown.documents.find(({ kind }) => kind === "sealed")?.documentId ?? "";
  const { bytes } = ok("order", "document", orderCode, sealed, "deed.pdf");
  const file = readFileSync(join(project, "deed.pdf"));
  assert.equal(file.length, bytes);
  assert.ok(file.subarray(0, examplePdf.length).equals(examplePdf));
  const again = run("order", "document", orderCode, sealed, "deed.pdf");
  assert.deepEqual([again.status, /cannot be written \(EEXIST\)/.test(again.stderr)], [1, true]);
  assert.equal(ok("order", "advance", orderCode)["status"], "Completed");
  assert.match(run("order", "list").stdout, new RegExp(`^${orderCode}  Completed`, "m"));
});

test("creates webhooks, tests them, lists and replays deliveries, and deletes webhooks", async () => {
  const hook = ok("webhook", "create", "https://hooks.example.com/a", "--topics", "order.created") as { id: string };
  assert.match(String((hook as Record<string, unknown>)["secret"]), /^svc_whsec_/);
  const { deliveryId } = ok("webhook", "test", hook.id) as { deliveryId: string };
  const { deliveries } = ok("webhook", "deliveries", "--webhook", hook.id) as { deliveries: { deliveryId: string }[] };
  assert.deepEqual(
    deliveries.map((each) => each.deliveryId),
    [deliveryId],
  );
  assert.equal(ok("webhook", "replay", deliveryId)["replayedFrom"], deliveryId);
  assert.deepEqual(ok("webhook", "delete", hook.id), { ok: true });
  assert.deepEqual(ok("webhook", "list"), { webhooks: [] });
});

test("prints events, and follows new ones", async () => {
  const { cursor } = ok("events") as { cursor: string };
  const listening = spawn(process.execPath, [program, "listen", "--since", cursor], {
    cwd: project,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let printed = "";
  listening.stdout.on("data", (text: Buffer) => {
    printed += text;
  });
  try {
    await until(() => printed.includes("Listening to"));
    const { passportId } = ok("trigger", "passport.sealed") as { passportId: string };
    await until(() => printed.includes(passportId));
    const { events } = ok("events", "--since", cursor, "--topics", "passport.sealed") as { events: { id: string }[] };
    assert.deepEqual(
      events.map(({ id }) => id),
      [passportId],
    );
  } finally {
    listening.kill("SIGINT");
  }
});

test("names the mistake: the flag, the topic, the verb, the key", () => {
  for (const [args, code, message] of [
    [["trigger", "order.made"], 2, /TOPIC must be a topic, not order\.made/],
    [["webhook", "create", "http://a.example"], 1, /https/],
    [["webhook", "create", "https://a.example", "--topics", "webhook.test"], 2, /--topics must not be webhook\.test/],
    [["order", "shwo", "x"], 2, /no such verb: order shwo.*\n? *order create/s],
    [["order", "show", "0".repeat(40)], 1, /Order not found/],
    [["me", "--key", "svc_pk_test_wrong"], 1, /--key: /],
    [["partner", "list"], 2, /no such verb/],
  ] as const) {
    const { status, stderr } = run(...args);
    assert.equal(status, code, `${args.join(" ")}: ${stderr}`);
    assert.match(stderr, message);
  }
});

test("runs on Node 20 from its unpacked files", needs("node20"), () => {
  assert.deepEqual(readdirSync(join(folder.path, "package")).sort(), [
    "LICENSE",
    "README.md",
    "lien-release.pdf",
    "package.json",
    "signsealship.js",
  ]);
  const { status, stdout } = spawnSync(runtimeProgram("node20"), [program, "me", "--json"], { env, encoding: "utf8" });
  assert.deepEqual([status, JSON.parse(stdout).firmName], [0, "Acme Title"]);
});
