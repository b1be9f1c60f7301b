const quality = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/i;

/**
 * The quality, from 0 to 1, that an `Accept` header states for this exact media type (RFC 9110, section 12.5.1).
 * Wildcards don't match, because some types are sent only to callers that name them.
 * @param type in lower case, without parameters. A range such as `text/*` is found only if the header has the same
 * range
 * @returns null when the header doesn't name the type; an invalid quality counts as 1
 */
export function namedQuality(accept: string | undefined, type: string): number | null {
  if (accept === undefined) return null;
  // Replaces quoted strings, because a comma or semicolon inside one is not a separator.
  const ranges = accept.replace(/"(?:[^"\\]|\\.)*"?/g, '""').split(",");
  const named = ranges.flatMap((range) => {
    const [name = "", ...parameters] = range.split(";").map((part) => part.trim());
    return name.toLowerCase() === type ? [qualityOf(parameters)] : [];
  });
  return named.length === 0 ? null : Math.max(...named);
}

/**
 * Maps language codes that only browsers use to the service's own codes. For Tagalog, browsers send `fil`, CLDR's code
 * of Filipino.
 */
const otherCodes: Readonly<Record<string, string>> = { fil: "tl" };

/**
 * The language that an `Accept-Language` header prefers (RFC 4647, section 3.4: `es-MX` matches `es`), by quality and
 * then by order. Null when the header names no language of the service.
 */
export function preferredLanguage<Language extends string>(
  header: string | undefined,
  ours: readonly Language[],
): Language | null {
  let best: { language: Language; q: number } | null = null;
  for (const range of (header ?? "").split(",")) {
    const [tag = "", ...parameters] = range.split(";").map((part) => part.trim());
    const [primary = ""] = tag.toLowerCase().split("-");
    const language = ours.find((one) => one === (otherCodes[primary] ?? primary));
    const q = qualityOf(parameters);
    if (language !== undefined && q > (best?.q ?? 0)) best = { language, q };
  }
  return best?.language ?? null;
}

/** The `q` parameter of a media type or language. The default is 1; an invalid quality counts as 1. */
function qualityOf(parameters: readonly string[]): number {
  const [, q = "1"] = parameters.map((each) => quality.exec(each)).find((match) => match !== null) ?? [];
  return Number(q);
}

/**
 * True if a caller wants problem details (RFC 9457). The caller's `Accept` header must name the type of problem
 * details. The type's quality must be above 0, and at least as high as the quality of plain JSON.
 */
export function wantsProblem(accept: string | undefined): boolean {
  const problem = namedQuality(accept, "application/problem+json") ?? 0;
  return problem > 0 && problem >= (namedQuality(accept, "application/json") ?? 0);
}

/**
 * True if a caller prefers a page to JSON. Its `Accept` header must name text/html, as browsers do, with a higher
 * quality than JSON (RFC 9110, section 12.5.1). If the header doesn't name JSON, the quality of a wildcard that
 * includes JSON is compared instead.
 */
export function prefersPage(accept: string | undefined): boolean {
  const json = ["application/json", "application/*", "*/*"].map((range) => namedQuality(accept, range));
  return (namedQuality(accept, "text/html") ?? 0) > (json.find((quality) => quality !== null) ?? 0);
}
