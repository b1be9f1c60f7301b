import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Expression, type ObjectExpression, parseSync, type TsType, type TsTypeElement } from "@swc/core";

/** A type that lists the dependencies of a function, and the names of its members. The type's name ends in `Deps`. */
export type DepsType = { file: string; name: string; members: string[] };

/** The types of one file, and the files from which it imports names. */
type Module = { file: string; types: Map<string, TsType>; elsewhere: Map<string, { source: string; name: string }> };

type Read = (file: string) => string;

const syntax = { syntax: "typescript" } as const;

/**
 * Lists the members of each `...Deps` type, through intersections, `Pick`, `Omit` and imported types.
 * @param files paths below `root`
 */
export function depsTypesOf(root: string, files: readonly string[], read: Read = fromDisk): DepsType[] {
  const modules = new Map<string, Module>();
  return files.flatMap((file) =>
    [...moduleOf(join(root, file)).types]
      .filter(([name]) => name.endsWith("Deps"))
      .map(([name, type]) => ({ file, name, members: [...new Set(membersOf(join(root, file), type))] })),
  );

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
  const module: Module = { file, types: new Map(), elsewhere: new Map() };
  for (const statement of parseSync(source, syntax).body) {
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

const keyOf = (element: TsTypeElement): string =>
  "key" in element && element.key.type === "Identifier" ? element.key.value : element.type;

function literalsOf(type: TsType): string[] {
  if (type.type === "TsUnionType") return type.types.flatMap(literalsOf);
  return type.type === "TsLiteralType" && type.literal.type === "StringLiteral" ? [type.literal.value] : [];
}

/** Finds object literals that spread several objects into one. Objects whose names are in `shared` do not count. */
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
