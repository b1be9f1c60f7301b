import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { forTests } from "@signsealship/testing/for-tests";
import { examplePdf } from "@signsealship/testing/inputs/order-form";
import { newPartner, startService, temporaryFolder } from "@signsealship/testing/service";
import { type RuntimeName, runtimeProgram } from "@signsealship/testing/tools/runtimes";
import { needs } from "@signsealship/testing/tools/tools";
import { build } from "esbuild";
import { buildSdk } from "../../../tools/build-sdk.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
// Deno can't read below /dev, where the in-memory folder of test runs is. So this test uses /tmp.
const folder = await forTests(temporaryFolder("/tmp"));
/** A partner's project in which the packed SDK is installed. */
const project = join(folder.path, "project");
const npm = (cwd: string, ...args: string[]) => execFileSync("npm", args, { cwd, encoding: "utf8" });
/** A partner's first program. */
const use = `
import { createClient, parseWebhook, ServiceRefusal, signWebhook, WebhookRefusal } from "@signsealship/sdk";
import { readFile } from "node:fs/promises";
const [baseUrl, key] = process.argv.slice(2);
const client = createClient({ baseUrl, key });
const pdf = await readFile("deed.pdf");
const order = await client.orders.create({ email: "a@example.com", byodConfirmed: true, svcSign: true }, { pdf, fileName: "deed.pdf" });
for await (const { orderCode } of client.orders.all()) {
  if (orderCode !== order.orderCode) throw new Error("another order");
  break;
}
const refusal = await client.orders.get("none").catch((error) => error);
if (!(refusal instanceof ServiceRefusal) || refusal.code !== "not_found") throw refusal;
const body = JSON.stringify({ type: "webhook.test", id: "1", data: {} });
const headers = await signWebhook(body, "svc_whsec_x");
const event = await parseWebhook(body, headers["Service-Signature"], "svc_whsec_x");
const wrong = await parseWebhook(body + " ", headers["Service-Signature"], "svc_whsec_x").catch((error) => error);
if (!(wrong instanceof WebhookRefusal) || wrong.reason !== "wrong_signature") throw wrong;
console.log(order.status, event.type);
`;

const built = buildSdk(join(folder.path, "sdk"));
const [packed]: [{ filename: string; files: { path: string }[] }] = JSON.parse(
  npm(built, "pack", "--json", "--pack-destination", folder.path),
);
mkdirSync(project);
writeFileSync(join(project, "package.json"), '{ "name": "partner", "private": true, "type": "module" }');
npm(project, "install", "--no-audit", "--no-fund", "--offline", join(folder.path, packed.filename));
writeFileSync(join(project, "deed.pdf"), examplePdf);
writeFileSync(join(project, "use.mjs"), use);
const service = await forTests(startService({ DATA_DIR: join(folder.path, "data") }));
const { key } = await newPartner(service);

test("the package contains compiled files, their types and the license, and nothing that only Node has", () => {
  const names = packed.files.map(({ path }) => path);
  for (const name of ["index.js", "index.d.ts", "README.md", "LICENSE", "package.json"])
    assert.ok(names.includes(name), name);
  for (const name of names) {
    assert.match(name, /^[\w-]+\.(?:js|d\.ts)$|^(?:LICENSE|README\.md|package\.json)$/);
    if (name.endsWith(".js"))
      assert.doesNotMatch(readFileSync(join(project, "node_modules/@signsealship/sdk", name), "utf8"), /node:|\.ts"/);
  }
});

function runs(program: string, ...flags: string[]): void {
  const ran = spawnSync(program, [...flags, "use.mjs", service.baseUrl, key], { cwd: project, encoding: "utf8" });
  assert.equal(ran.stdout, "QuoteReady webhook.test\n", ran.stderr);
}

test("places an order and reads a webhook on this Node", () => runs(process.execPath));
for (const [name, flags] of [
  ["node20", []],
  ["node22", []],
  ["deno", ["run", "--allow-net", "--allow-read", "--quiet"]],
] as const satisfies readonly (readonly [RuntimeName, readonly string[]])[])
  test(`places an order and reads a webhook on ${name}`, needs(name), () => runs(runtimeProgram(name), ...flags));

/**
 * Compiles a file of the partner's project in the strictest way.
 * @returns what the compiler reports
 */
function compile(name: string, source: string, more: readonly string[] = []): string {
  writeFileSync(join(project, name), source);
  const options = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
    noEmit: true,
    target: "es2022",
    lib: ["es2022", "dom", "dom.iterable"],
    module: "nodenext",
    jsx: "react-jsx",
    types: [],
  };
  const files = [name, ...more];
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions: options, files }));
  const tsc = join(root, "node_modules/.bin/tsc");
  return spawnSync(process.execPath, [tsc, "-p", project], { encoding: "utf8" }).stdout;
}

test("compiles in the strictest project, which checks the package's types; a wrong field does not compile", () => {
  const key = "declare const key: string | undefined;\nconst client = createClient({ baseUrl: '', key });";
  const order = (fields: string) =>
    `import { createClient } from "@signsealship/sdk";\n${key}\nclient.orders.create({ email: "", byodConfirmed: true, ${fields} }, null);\n`;
  assert.equal(compile("consumer.ts", order("svcSign: true, name: key")), "");
  assert.match(compile("consumer.ts", order("scvSign: true")), /TS2561|TS2353/);
  assert.match(compile("consumer.ts", order("svcSign: 1")), /TS2322/);
});

/**
 * Declares the parts of the types of React and Node that the examples use. The service does not depend on React, so its
 * types are not installed.
 */
const typesOfOthers = `
declare module "react" {
  export function useRef<T>(value: T): { current: T };
  export function useRef<T>(value: T | null): { current: T | null };
  export function useEffect(effect: () => void | (() => void), inputs: readonly unknown[]): void;
}
declare module "react/jsx-runtime" {
  export namespace JSX {
    interface Element {}
    interface IntrinsicElements { div: { ref?: { current: HTMLDivElement | null } } }
  }
}
declare const process: { env: Readonly<Record<string, string | undefined>> };
`;

test("the examples of embedded signing compile with the packed SDK, and a wrong property of the React component does not", () => {
  const example = (name: string) => readFileSync(join(root, "examples/embedded-signing", name), "utf8");
  writeFileSync(join(project, "others.d.ts"), typesOfOthers);
  writeFileSync(join(project, "SignFrame.tsx"), example("SignFrame.tsx"));
  assert.equal(compile("server.ts", example("server.ts"), ["SignFrame.tsx", "others.d.ts"]), "");
  const page = (props: string) =>
    `import { SignFrame } from "./SignFrame.js";\nexport const page = <SignFrame url="https://x.example" ${props} />;\n`;
  const types = ["others.d.ts"];
  assert.equal(compile("page.tsx", page("onEvent={({ type }) => console.log(type === 'signed')}"), types), "");
  assert.match(compile("page.tsx", page("onEvent={({ type }) => console.log(type === 'sealed')}"), types), /TS2367/);
  assert.match(compile("page.tsx", page(""), types), /TS2741/);
});

test("the programs of the README compile", () => {
  const readme = readFileSync(join(root, "packages/sdk/README.md"), "utf8");
  const programs = [...readme.matchAll(/```ts\n(.*?)```/gs)].map(([, program = ""]) => program);
  assert.ok(programs.length >= 5);
  const files = programs.map((program, index) => {
    const given = ["declare const orderCode: string;"];
    if (!program.includes("createClient(")) given.push("declare const client: import('@signsealship/sdk').Client;");
    if (!program.includes("import { readFile }"))
      given.push("declare const readFile: (path: string) => Promise<Uint8Array>;");
    const file = `readme-${index}.ts`;
    writeFileSync(join(project, file), `${program}\n${given.join("\n")}\nexport {};\n`);
    return file;
  });
  const compilerOptions = {
    strict: true,
    noEmit: true,
    target: "es2022",
    lib: ["es2023", "dom", "dom.iterable"],
    module: "nodenext",
    typeRoots: [join(root, "node_modules/@types")],
    types: ["node"],
  };
  writeFileSync(join(project, "tsconfig.readme.json"), JSON.stringify({ compilerOptions, files }));
  const tsc = [join(root, "node_modules/.bin/tsc"), "-p", join(project, "tsconfig.readme.json")];
  assert.equal(spawnSync(process.execPath, tsc, { encoding: "utf8" }).stdout, "");
});

test("bundles into a small file for browsers and edges", async () => {
  const { outputFiles } = await build({
    stdin: { contents: 'export * from "@signsealship/sdk";', resolveDir: project },
    bundle: true,
    minify: true,
    platform: "browser",
    format: "esm",
    write: false,
  });
  assert.ok((outputFiles[0]?.contents.length ?? Number.POSITIVE_INFINITY) < 22_000);
});
