import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  type Expression,
  type ObjectExpression,
  parseSync,
  type TsType,
  type TsTypeElement,
  type TsTypeLiteral,
} from "@swc/core";

/** The type of a function's dependencies: its file, its name, and the names of its members. */
export type DepsType = { file: string; name: string; members: string[] };

type Bag = { name: string; type: TsType };

/** The types of one file, and the files from which it imports names. */
type Module = {
  file: string;
  types: Map<string, TsType>;
  /**
   * Object types that list dependencies. Such a type has a member of a `...Deps` type (or of a `Pick` or `Omit` of
   * one), or it is inside the declaration of a `...Deps` type.
   */
  bags: Bag[];
  elsewhere: Map<string, { source: string; name: string }>;
};

type Read = (file: string) => string;

const syntax = { syntax: "typescript" } as const;

/**
 * Lists the members of each `...Deps` type, through intersections, `Pick`, `Omit` and imported types. Also lists the
 * `bags` of each file. A member whose type is a `...Deps` type is an opened feature.
 * @param files paths below `root`
 */
export function depsTypesOf(root: string, files: readonly string[], read: Read = fromDisk): DepsType[] {
  const modules = new Map<string, Module>();
  return files.flatMap((file) => {
    const { types, bags } = moduleOf(join(root, file));
    const named = [...types].filter(([name]) => isDeps(name)).map(([name, type]) => ({ name, type }));
    const others = bags.filter(({ type }) => !named.some((each) => each.type === type));
    return [...others, ...named].map(({ name, type }) => ({
      file,
      name,
      members: [...new Set(membersOf(join(root, file), type))],
    }));
  });

  function moduleOf(file: string): Module {
    const module = modules.get(file) ?? parseModule(file, read(file));
    modules.set(file, module);
    return module;
  }

  function find(file: string, name: string): { file: string; type: TsType } | null {
    const { types, elsewhere } = moduleOf(file);
    const type = types.get(name);
    if (type) return { file, type };
    const from = elsewhere.get(name);
    return from?.source.startsWith(".") ? find(join(dirname(file), from.source), from.name) : null;
  }

  function membersOf(file: string, type: TsType): string[] {
    if (type.type === "TsParenthesizedType") return membersOf(file, type.typeAnnotation);
    if (type.type === "TsTypeLiteral") return type.members.map(keyOf);
    if (type.type === "TsIntersectionType") return type.types.flatMap((each) => membersOf(file, each));
    if (type.type !== "TsTypeReference" || type.typeName.type !== "Identifier") return [type.type];
    const name = type.typeName.value;
    const [first, second] = type.typeParams?.params ?? [];
    if (name === "Pick" && second) return literalsOf(second);
    if (name === "Omit" && first && second) {
      const left = new Set(literalsOf(second));
      return membersOf(file, first).filter((each) => !left.has(each));
    }
    const found = find(file, name);
    return found ? membersOf(found.file, found.type) : [name];
  }
}

const fromDisk: Read = (file) => readFileSync(file, "utf8");

function parseModule(file: string, source: string): Module {
  const module: Module = { file, types: new Map(), bags: [], elsewhere: new Map() };
  const { body } = parseSync(source, syntax);
  findBags(body, "", module.bags);
  for (const statement of body) {
    const declared = statement.type === "ExportDeclaration" ? statement.declaration : statement;
    if (declared.type === "TsTypeAliasDeclaration") module.types.set(declared.id.value, declared.typeAnnotation);
    if (statement.type === "ImportDeclaration")
      for (const each of statement.specifiers)
        if (each.type === "ImportSpecifier") {
          const name = each.imported?.value ?? each.local.value;
          module.elsewhere.set(each.local.value, { source: statement.source.value, name });
        }
    if (statement.type === "ExportNamedDeclaration" && statement.source)
      for (const each of statement.specifiers)
        if (each.type === "ExportSpecifier") {
          const name = each.orig.value;
          module.elsewhere.set((each.exported ?? each.orig).value, { source: statement.source.value, name });
        }
  }
  return module;
}

const isDeps = (name: string): boolean => name.endsWith("Deps");

/**
 * Finds the object types below a syntax node that list dependencies, and adds them to `bags`.
 * @param path the names of the declarations and members around the node
 */
function findBags(node: unknown, path: string, bags: Bag[]): void {
  if (typeof node !== "object" || node === null) return;
  const each = node as Partial<TsTypeLiteral> & { [name in "id" | "identifier" | "key"]?: { value?: string } };
  const name = (each.id ?? each.identifier ?? each.key)?.value;
  const inner = name === undefined ? path : path === "" ? name : `${path}.${name}`;
  if (each.type === "TsTypeLiteral" && each.members) {
    const { members } = each as TsTypeLiteral;
    if (isDeps(path.split(".")[0] ?? "") || members.some(isFeature))
      bags.push({ name: path, type: each as TsTypeLiteral });
  }
  // A function's parameters and result are not dependencies of the type around the function. So the path below a
  // function omits the names around it.
  const isFunction = each.type === ("TsFunctionType" as string) || each.type === ("TsMethodSignature" as string);
  for (const value of Object.values(node)) findBags(value, isFunction ? "" : inner, bags);
}

/** True if a member's type is a `...Deps` type, or a `Pick` or `Omit` of one. */
function isFeature(element: TsTypeElement): boolean {
  if (element.type !== "TsPropertySignature") return false;
  const type = element.typeAnnotation?.typeAnnotation;
  if (type?.type !== "TsTypeReference" || type.typeName.type !== "Identifier") return false;
  const [first] = type.typeParams?.params ?? [];
  const whole = first?.type === "TsTypeReference" && first.typeName.type === "Identifier" ? first.typeName.value : "";
  return isDeps(/^(?:Pick|Omit)$/.test(type.typeName.value) ? whole : type.typeName.value);
}

const keyOf = (element: TsTypeElement): string =>
  "key" in element && element.key.type === "Identifier" ? element.key.value : element.type;

function literalsOf(type: TsType): string[] {
  if (type.type === "TsUnionType") return type.types.flatMap(literalsOf);
  return type.type === "TsLiteralType" && type.literal.type === "StringLiteral" ? [type.literal.value] : [];
}

/** Finds object literals that spread two or more objects. Objects whose names are in `shared` are not counted. */
export function mixedObjectsIn(source: string, shared: readonly string[]): string[] {
  const found: string[] = [];
  visit(parseSync(source, syntax));
  return found;

  function visit(node: unknown): void {
    if (typeof node !== "object" || node === null) return;
    if ("type" in node && node.type === "ObjectExpression") {
      const spread = spreadIn(node as ObjectExpression).filter((name) => !shared.includes(name));
      if (spread.length > 1) found.push(spread.join(" and "));
    }
    for (const each of Object.values(node)) visit(each);
  }
}

const spreadIn = ({ properties }: ObjectExpression): string[] =>
  properties.flatMap((each) => (each.type === "SpreadElement" ? [nameOf(each.arguments)] : []));

function nameOf(expression: Expression): string {
  if (expression.type === "Identifier") return expression.value;
  if (expression.type === "MemberExpression")
    return `${nameOf(expression.object)}.${expression.property.type === "Identifier" ? expression.property.value : ""}`;
  return expression.type === "CallExpression" &&
    expression.callee.type !== "Import" &&
    expression.callee.type !== "Super"
    ? nameOf(expression.callee)
    : expression.type;
}

/**
 * Finds the functions `open...` that declare no result type and return an object literal, and lists the members of that
 * object. A spread name or call counts as one member; a spread literal counts by its own members.
 */
export function openedIn(source: string): { name: string; members: string[] }[] {
  return parseSync(source, syntax).body.flatMap((statement) => {
    const declared = statement.type === "ExportDeclaration" ? statement.declaration : statement;
    if (declared.type !== "FunctionDeclaration" || declared.returnType) return [];
    const { value: name } = declared.identifier;
    const returned = declared.body?.stmts.findLast((each) => each.type === "ReturnStatement")?.argument;
    if (!/^open[A-Z]/.test(name) || returned?.type !== "ObjectExpression") return [];
    return [{ name, members: memberNames(returned) }];
  });
}

const memberNames = ({ properties }: ObjectExpression): string[] =>
  properties.flatMap((each) => {
    if (each.type === "SpreadElement")
      return each.arguments.type === "ObjectExpression" ? memberNames(each.arguments) : [nameOf(each.arguments)];
    if (each.type === "Identifier") return [each.value];
    return "key" in each && each.key.type === "Identifier" ? [each.key.value] : [each.type];
  });
