import { type DataFile, dataFile, fail, list, members, type Place, parseDataFile, readDataFile } from "./data-file.ts";
import { decimal, text } from "./data-values.ts";
import { isOneOfTheFiftyOrDc } from "./us-states.ts";

/**
 * The ZIP codes whose first three digits are from `first` to `last`, with the center of their delivery area in degrees.
 */
export type Zip3Area = { first: string; last: string; state: string; latitude: number; longitude: number };

/**
 * Reads the areas of ZIP codes and their centers from a YAML file. The zones of postage are computed from them.
 * @throws DataFileError when the file cannot be read or is not valid; the message names the line, the field and the
 * rule
 */
export const loadZip3Areas = (path: string): DataFile<Zip3Area[]> => parseZip3Areas(readDataFile(path), path);

/**
 * Like `loadZip3Areas`, but parses the file's text. `file`: its path, for error messages.
 * @throws DataFileError naming the line, the field and the rule
 */
export function parseZip3Areas(source: string, file: string): DataFile<Zip3Area[]> {
  let end = "";
  const areas = [...members(parseDataFile(source, file))].map(([range, place]) => {
    const area = zip3Area(range, place);
    if (area.first <= end) fail(place, "must come after the range above it");
    end = area.last;
    return area;
  });
  return dataFile(areas);
}

/**
 * ZIP codes whose post office is in another US state than the rest of their three-digit area: Fishers Island, Texhoma
 * and Alta. For the last two, the sources disagree: the Postal Service's ZIP Locale Detail names the neighbor of the
 * state that GeoNames names.
 */
const strays: ReadonlyMap<string, string> = new Map([
  ["06390", "NY"],
  ["73960", "TX"],
  ["83414", "WY"],
]);

/**
 * The state of a ZIP or ZIP+4 code. Null for a malformed code, and for a code outside all areas, such as that of a
 * territory.
 */
export function stateOfZip(areas: readonly Zip3Area[], postal: string): string | null {
  const zip = /^(\d{5})(?:-\d{4})?$/.exec(postal)?.[1];
  if (zip === undefined) return null;
  const area = areas.find(({ first, last }) => first <= zip.slice(0, 3) && zip.slice(0, 3) <= last);
  return strays.get(zip) ?? area?.state ?? null;
}

function zip3Area(range: string, place: Place): Zip3Area {
  const [, first, last = first] = /^(\d{3})(?:-(\d{3}))?$/.exec(range) ?? [];
  if (first === undefined || last === undefined || last < first) {
    fail(place, "must be named by three digits, or by two of them as in 100-102");
  }
  const [code, north, east, ...rest] = list(place);
  if (!code || !north || !east || rest.length > 0) fail(place, "must be a list of state, latitude, longitude");
  const state = text(code);
  if (!isOneOfTheFiftyOrDc(state)) fail(code, "must be the two-letter code of a US state or DC");
  return { first, last, state, latitude: decimal(north, 15, 75), longitude: decimal(east, -180, -60) };
}
