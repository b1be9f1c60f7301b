import { type DataFile, dataFile, fail, fields, list, parseDataFile, readDataFile } from "./data-file.ts";
import { text } from "./data-values.ts";
import { isUsState } from "./us-states.ts";

/** The states, in capitals and sorted, whose signers may not be notarized remotely. */
export type NotarizationStates = { notRecognized: string[] };

/** @throws DataFileError when the file cannot be read or is not valid; it names the line, the field and the rule */
export const loadNotarizationStates = (path: string): DataFile<NotarizationStates> =>
  parseNotarizationStates(readDataFile(path), path);

/** @throws DataFileError naming the line, the field and the rule */
export function parseNotarizationStates(source: string, file: string): DataFile<NotarizationStates> {
  const root = fields(parseDataFile(source, file), { required: ["notRecognized"] });
  const codes = new Set<string>();
  for (const place of list(root.notRecognized)) {
    const code = text(place);
    if (!isUsState(code)) fail(place, "must be the two-letter code of a US state or territory");
    if (codes.has(code)) fail(place, `must be unique (${code} is listed twice)`);
    codes.add(code);
  }
  return dataFile({ notRecognized: [...codes].sort() });
}
