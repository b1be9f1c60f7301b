import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { createClient } from "@signsealship/sdk";
import { forTests } from "@signsealship/testing/for-tests";
import { startService, temporaryFolder } from "@signsealship/testing/service";
import { answerOf, type Description, operationsOf, publishedTypes } from "./description.ts";
import {
  bodies,
  calls,
  fieldTypes,
  inputTypes,
  narrowerAnswers,
  narrowerTypes,
  notInClient,
  ownCalls,
  ownTypes,
  queries,
  types,
} from "./sdk-shapes.ts";

const root = fileURLToPath(new URL("../../../..", import.meta.url));
const sdk = join(root, "packages/sdk/src/index.ts");
const folder = await forTests(temporaryFolder());
const service = await forTests(startService({ DATA_DIR: folder.path, RATE_LIMITS: "off" }));
const description = (await (await fetch(`${service.baseUrl}/openapi.json`)).json()) as Description;
const operations = operationsOf(description);

const helpers = `
type Answer<Call extends (...args: never[]) => Promise<unknown>> = Awaited<ReturnType<Call>>;
type Same<Ours, Published> = [Ours] extends [Published]
  ? [Published] extends [Ours] ? "the same" : { published: Published; isNo: Ours }
  : { ours: Ours; isNo: Published };
type Snake<Name> = Name extends \`\${infer First}\${infer Rest}\`
  ? First extends Lowercase<First> ? \`\${First}\${Snake<Rest>}\` : \`_\${Lowercase<First>}\${Snake<Rest>}\`
  : Name;
// Maps input with the SDK's member names to the interface's spelling; undefined members are not sent.
type Wire<Given> = Given extends readonly (infer Item)[]
  ? Wire<Item>[]
  : Given extends object
    ? { [Name in keyof Given as Snake<Name>]: Wire<Exclude<Given[Name], undefined>> }
    : Given;
// JSON omits members that are undefined.
type Sent<Given> = { [Name in keyof Given]: Exclude<Given[Name], undefined> };
type Fits<Given, Published> = [Given] extends [Published] ? "fits" : { given: Given; isNo: Published };
`;

/** Compiles lines together with the published types. @returns the compiler's messages */
function compile(lines: string[]): string {
  const file = join(folder.path, "published.mts");
  const imports = `import type * as Sdk from ${JSON.stringify(sdk)};\ntype Client = Sdk.Client;\n`;
  writeFileSync(file, [imports, publishedTypes(description), helpers, ...lines].join("\n"));
  const settings = join(folder.path, "tsconfig.json");
  const compilerOptions = { typeRoots: [join(root, "node_modules/@types")], noUnusedLocals: false };
  writeFileSync(settings, JSON.stringify({ extends: join(root, "tsconfig.json"), compilerOptions, include: [file] }));
  const tsc = join(root, "node_modules/.bin/tsc");
  const { stdout, stderr } = spawnSync(process.execPath, [tsc, "-p", settings], { encoding: "utf8" });
  return stdout + stderr;
}

const same = (name: string, ours: string, published: string) =>
  `export const ${name}: Same<${ours}, ${published}> = "the same";`;

const fits = (name: string, ours: string, published: string) =>
  `export const ${name}: Fits<${ours}, ${published}> = "fits";`;

const answerOfCall = (call: string) =>
  `Answer<Client${call
    .split(".")
    .map((name) => `['${name}']`)
    .join("")}>`;

test("the types of the SDK and the published description are interchangeable", () => {
  const isJson = new Set(operations.filter(answerOf).map(({ operationId }) => operationId));
  const lines = [
    ...Object.entries(calls)
      .filter(([operation]) => isJson.has(operation))
      .map(([operation, call]) => {
        const hold = narrowerAnswers.has(operation) ? fits : same;
        return hold(`answer_${operation}`, answerOfCall(call), `Answers['${operation}']`);
      }),
    ...Object.entries(narrowerTypes).map(([name, published]) => fits(`type_${name}`, `Sdk.${name}`, published)),
    ...Object.entries(types).map(([name, published]) => same(`type_${name}`, `Sdk.${name}`, published)),
    ...Object.entries(inputTypes).map(([name, published]) => same(`given_${name}`, `Wire<Sdk.${name}>`, published)),
    ...Object.entries(fieldTypes).map(([name, fields]) => same(`fields_${name}`, `keyof Wire<Sdk.${name}>`, fields)),
    ...Object.entries(queries).map(([name, given]) =>
      same(`query_${name}`, `keyof Wire<${given}>`, `Queries['${name}']`),
    ),
    ...Object.entries(bodies).map(
      ([name, given]) => `export const body_${name}: Fits<Sent<${given}>, Bodies['${name}']> = "fits";`,
    ),
  ];
  assert.equal(compile(lines), "");
});

test("finds a member that is missing, added, of another type, or optional on one side only", () => {
  const probe = (ours: string) => compile([same("probe", ours, "Schemas['RotatedRoom']")]);
  assert.equal(probe("{ roomCode: string; roomUrl: string }"), "");
  for (const other of [
    "{ roomCode: string }",
    "{ roomCode: string; roomUrl: string | null }",
    "{ roomCode: string; roomUrl?: string }",
    "{ roomCode: 'a'; roomUrl: string }",
    "{ roomCode: string; roomUrl: string; more: string }",
  ])
    assert.match(probe(other), /error TS2322/, other);
});

test("every operation is a call of the client or a known exception, and every call is an operation", () => {
  const published = operations.map(({ operationId }) => operationId);
  assert.deepEqual([...Object.keys(calls), ...notInClient].sort(), published.sort());
  const namesIn = (part: object): string[] =>
    Object.entries(part).flatMap(([name, each]) =>
      typeof each === "function" ? [name] : namesIn(each as object).map((inner) => `${name}.${inner}`),
    );
  const callable = namesIn(createClient({ baseUrl: service.baseUrl }));
  assert.deepEqual([...Object.values<string>(calls), ...ownCalls].sort(), callable.sort());
});

test("every type that the SDK exports is compared with the published description", () => {
  const exported = new Set(readFileSync(sdk, "utf8").match(/\b[A-Z]\w+/g));
  assert.ok(exported.size > 30);
  assert.deepEqual(
    [...exported].sort(),
    [...Object.keys({ ...types, ...narrowerTypes, ...inputTypes, ...fieldTypes }), ...ownTypes].sort(),
  );
});
