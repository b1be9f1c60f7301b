import { readdirSync, readFileSync } from "node:fs";

// A file for each sample: an operation's id, and the language.
const folder = new URL("../../../../guides/samples/", import.meta.url);

const languages = [
  { ending: ".sh", lang: "Shell", label: "curl" },
  { ending: ".ts", lang: "TypeScript", label: "TypeScript" },
  { ending: ".py", lang: "Python", label: "Python" },
] as const;

/** In the files of samples and guides; what is served names this service in its place. */
const placeholder = "https://sign.example.com";

/** A text of samples or guides with the address of this service. */
export const withAddress = (text: string, baseUrl: string): string => text.replaceAll(placeholder, baseUrl);

type Operation = { operationId: string; [codeSamples]?: object[] };

const codeSamples = "x-codeSamples";

/** Adds to the operations that have samples their samples, for this service. Changes what it is given. */
export function addSamples(paths: Readonly<Record<string, object | undefined>>, baseUrl: string): void {
  const files = new Set(readdirSync(folder));
  for (const operation of Object.values(paths).flatMap((item = {}) => Object.values(item) as Operation[])) {
    const samples = languages
      .map(({ ending, ...names }) => ({ ...names, file: operation.operationId + ending }))
      .filter(({ file }) => files.has(file))
      .map(({ file, ...names }) => ({
        ...names,
        source: withAddress(readFileSync(new URL(file, folder), "utf8").trimEnd(), baseUrl),
      }));
    if (samples.length > 0) operation[codeSamples] = samples;
  }
}
