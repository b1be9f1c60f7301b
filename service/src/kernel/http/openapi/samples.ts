import { readdirSync, readFileSync } from "node:fs";

// Each file of the folder is a sample of one operation in one language, named after the operation's id.
const folder = new URL("../../../../guides/samples/", import.meta.url);

const languages = [
  { ending: ".sh", lang: "Shell", label: "curl" },
  { ending: ".ts", lang: "TypeScript", label: "TypeScript" },
  { ending: ".py", lang: "Python", label: "Python" },
] as const;

/**
 * The placeholder URL in the files of samples and guides. It is replaced by this service's URL before they are served.
 */
const placeholder = "https://sign.example.com";

/** Replaces the placeholder in a sample or guide with the URL of this service. */
export const withAddress = (text: string, baseUrl: string): string => text.replaceAll(placeholder, baseUrl);

type Operation = { operationId: string; [codeSamples]?: object[] };

const codeSamples = "x-codeSamples";

/** Adds code samples, with this service's URL, to the operations that have sample files. Changes `paths` in place. */
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
