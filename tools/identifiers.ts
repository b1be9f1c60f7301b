import { basename } from "node:path";
import { type BindingPattern, type Function as NamedFunction, type ParamPattern, Visitor } from "oxc-parser";
import type { Finding } from "./english.ts";
import { lineAt, parsed } from "./parse.ts";

/** Words that don't describe a thing, each with examples of words that do. */
const words: Readonly<Record<string, string>> = {
  anew: "again, rebuilt, reissued",
  begun: "started, attempt, emptyTree",
  beside: "detached, companions, nextTo",
  given: "input, requested, sent, original",
  kept: "stored, cached, inserted, previous",
  known: "existing, cached, recorded, allowed",
  made: "created, result, draft",
  news: "changes, reports, event, notification",
  placed: "located, inserted, positioned",
  said: "result, reported, facts",
  standing: "state, status",
  take: "claim, accept, consume, apply, read",
  taken: "claimed, used, consumed, booked",
  takes: "accepts, claims, consumes",
  told: "notified, recipient, report",
  twin: "copy, counterpart",
  whose: "owner",
};

/** A name that is allowed in the files under a path, because there the word has its plain meaning. */
interface Allowed {
  name: RegExp;
  under: string;
  reason: string;
}

const recorded = "A take is one continuous recording of a person, as in film.";
const allowed: readonly Allowed[] = [
  { name: /take/i, under: "service/src/providers/media/", reason: recorded },
  { name: /take/i, under: "service/src/signing/notaries/recordings/", reason: recorded },
  { name: /take/i, under: "service/src/pages/operator/browser/recording.ts", reason: recorded },
  { name: /takenIn/i, under: "service/src/closing/", reason: "The API has the field takenIn." },
];

const column = "A column has this name, and a result's property is named like its column.";
const journal =
  "The notary's journal, an export or a published record has this field: changing it would break its readers.";
const payload = "Mails that wait in the queue have this field: a newer version has to read them.";
const api = "The API has this field.";
/**
 * Properties that keep a refused word, because a column, a file format or the API fixes their name. Each has the
 * reason.
 */
const fixedProperties: Readonly<Record<string, string>> = {
  begunAt: column,
  givenAt: column,
  isBeside: column,
  isTakenIn: column,
  kept: column,
  takenAt: column,
  givenSha256: journal,
  keptAt: journal,
  keptUntil: journal,
  take: recorded,
  takes: recorded,
  isNews: payload,
  placedBy: payload,
  placedAt: "The MAC of a line of the audit log covers the names of its members.",
  documentKept: api,
  placed: api,
  takenIn: api,
  takesEvents: "The output of `provider check --json` has this field.",
};

/** The words of a camel-case name or of a file's name, in lower case. */
const wordsOf = (name: string): string[] =>
  name
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1 $2")
    .toLowerCase()
    .split(/[ _$\d.-]+/);

/**
 * The names that a pattern declares. In an object's pattern, a name without a colon repeats a property's name. Such a
 * name is left out: it is checked where the property is declared.
 */
function namesIn(pattern: BindingPattern | ParamPattern): { name: string; start: number }[] {
  switch (pattern.type) {
    case "Identifier":
      return [pattern];
    case "AssignmentPattern":
      return namesIn(pattern.left);
    case "RestElement":
      return namesIn(pattern.argument);
    case "TSParameterProperty":
      return namesIn(pattern.parameter);
    case "ArrayPattern":
      return pattern.elements.flatMap((each) => (each === null ? [] : namesIn(each)));
    case "ObjectPattern":
      return pattern.properties.flatMap((each) => {
        if (each.type === "RestElement") return namesIn(each);
        return each.shorthand ? [] : namesIn(each.value);
      });
  }
}

type Declared = { name: string; start: number; isProperty?: boolean };

/**
 * The variables, parameters, functions, classes and types that a file declares, and the properties and methods of its
 * types and classes.
 */
function declaredIn(file: string, text: string): Declared[] {
  const { program } = parsed(file, text);
  const found: Declared[] = [];
  const addMember = ({ key }: { key: { type: string; name?: unknown; start: number } }) => {
    if ((key.type === "Identifier" || key.type === "PrivateIdentifier") && typeof key.name === "string")
      found.push({ name: key.name, start: key.start, isProperty: true });
  };
  const add = ({ id }: { id: { name: string; start: number } | null }) => void (id && found.push(id));
  const addParams = ({ params }: { params: ParamPattern[] }) => void found.push(...params.flatMap(namesIn));
  const addFunction = (node: NamedFunction) => {
    add(node);
    addParams(node);
  };
  new Visitor({
    VariableDeclarator: ({ id }) => void found.push(...namesIn(id)),
    CatchClause: ({ param }) => void (param && found.push(...namesIn(param))),
    ClassDeclaration: add,
    TSTypeAliasDeclaration: add,
    TSInterfaceDeclaration: add,
    TSTypeParameter: ({ name }) => void found.push(name),
    TSFunctionType: addParams,
    TSPropertySignature: addMember,
    TSMethodSignature: addMember,
    PropertyDefinition: addMember,
    MethodDefinition: addMember,
    ArrowFunctionExpression: addParams,
    FunctionDeclaration: addFunction,
    FunctionExpression: addFunction,
  }).visit(program);
  return found;
}

const listed = Object.keys(words);
const capitalized = listed.map((word) => word.replace(/^./, (first) => first.toUpperCase()));
const upperCase = listed.map((word) => word.toUpperCase());
const inName = new RegExp(
  `(?<![A-Za-z])(?:${listed.join("|")})(?![a-z])|(?:${[...capitalized, ...upperCase].join("|")})(?![a-z])`,
);

/**
 * Finds the names that contain a word of the table: the names that the file declares, and the file's own name. Leaves
 * out fixed properties, and names that are allowed in the file.
 */
export function refusedIdentifiers(file: string, text: string): Finding[] {
  // Parsing is slow, and most files have the words only in comments.
  const isParsed = inName.test(text.replace(/^\s*(?:\/\/|\/?\*).*$/gm, ""));
  const names: Declared[] = [{ name: basename(file), start: 0 }, ...(isParsed ? declaredIn(file, text) : [])];
  return names.flatMap(({ name, start, isProperty = false }) => {
    const word = wordsOf(name).find((each) => Object.hasOwn(words, each));
    if (word === undefined) return [];
    if (isProperty && Object.hasOwn(fixedProperties, name)) return [];
    if (allowed.some(({ name: pattern, under }) => pattern.test(name) && file.startsWith(under))) return [];
    const better = `a name that says what it is, such as ${words[word]}`;
    return [{ line: lineAt(text, start), found: name, better }];
  });
}
