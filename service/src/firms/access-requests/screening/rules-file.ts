import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { type Static, Type } from "typebox";
import { Value } from "typebox/value";
import { parse } from "yaml";
import { StartupError } from "../../../kernel/platform/errors.ts";

const percent = Type.Integer({ minimum: 0, maximum: 100 });
const words = Type.Array(Type.String({ pattern: "^[a-z][a-z -]*\\*?$" }), { minItems: 1 });
const domains = Type.Array(Type.String({ pattern: "^[a-z0-9-]+(\\.[a-z0-9-]+)+$" }), { minItems: 1 });

const Rules = Type.Object(
  {
    useCase: Type.Object(
      {
        minWords: Type.Integer({ minimum: 1 }),
        minDistinctWords: Type.Integer({ minimum: 1 }),
        minTopics: Type.Integer({ minimum: 1 }),
        minCommonPercent: percent,
        maxCommonPercent: percent,
        maxUnreadablePercent: percent,
        maxSameWordPercent: percent,
        maxLinks: Type.Integer({ minimum: 0 }),
      },
      { additionalProperties: false },
    ),
    topics: words,
    coreTopics: words,
    unwelcome: words,
    commonWords: words,
    providerNames: words,
    freeDomains: domains,
    disposableDomains: domains,
    exemptDomains: domains,
    botScore: Type.Object({ minScore: Type.Number({ minimum: 0, maximum: 1 }) }, { additionalProperties: false }),
  },
  { additionalProperties: false },
);

/** The parsed rules of `service/data/screening.yaml`. */
export type ScreeningRules = Static<typeof Rules>["useCase"] & {
  /** One pattern per entry; each matches whole words or phrases in lowercase text. */
  topics: readonly RegExp[];
  coreTopics: readonly RegExp[];
  unwelcome: readonly RegExp[];
  commonWords: ReadonlySet<string>;
  providerNames: ReadonlySet<string>;
  freeDomains: ReadonlySet<string>;
  disposableDomains: ReadonlySet<string>;
  exemptDomains: ReadonlySet<string>;
  minScore: number;
};

const escaped = (entry: string): string => entry.replaceAll(" ", "\\s+").replace("*", "[a-z]*");
const pattern = (entry: string): RegExp => new RegExp(`(?<![\\p{L}\\d])${escaped(entry)}(?![\\p{L}\\d])`, "u");

/**
 * Parses a rules file.
 * @param file its name, for error messages
 * @throws StartupError naming the first entry that breaks a rule
 */
export function parseScreeningRules(text: string, file: string): ScreeningRules {
  let content: unknown;
  try {
    content = parse(text);
  } catch (error) {
    throw new StartupError(`${file}: ${(error as Error).message.split("\n")[0]}`);
  }
  if (!Value.Check(Rules, content)) {
    const [first] = Value.Errors(Rules, content);
    throw new StartupError(
      `${file}: ${first?.instancePath.slice(1).replaceAll("/", ".") || "the file"} ${first?.message}`,
    );
  }
  return {
    ...content.useCase,
    topics: content.topics.map(pattern),
    coreTopics: content.coreTopics.map(pattern),
    unwelcome: content.unwelcome.map(pattern),
    commonWords: new Set(content.commonWords),
    providerNames: new Set(content.providerNames),
    freeDomains: new Set(content.freeDomains),
    disposableDomains: new Set(content.disposableDomains),
    exemptDomains: new Set(content.exemptDomains),
    minScore: content.botScore.minScore,
  };
}

/**
 * Reads the screening rules for access requests from a YAML file.
 * @throws StartupError when the file cannot be read or breaks a rule
 */
export function readScreeningRules(path: string): ScreeningRules {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw new StartupError(`${path}: cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
  return parseScreeningRules(text, basename(path));
}
