import { type ArrowFunctionExpression, type Function as NamedFunction, Visitor } from "oxc-parser";
import { lineAt, parsed } from "./parse.ts";

export interface LongFunction {
  file: string;
  /** The line on which the function begins, counted from 1. */
  line: number;
  /** Empty for a function without a name. */
  name: string;
  lines: number;
}

const maxLines = 80;

type FunctionNode = NamedFunction | ArrowFunctionExpression;

const linesOf = (text: string): number => text.split("\n").length;

/** The functions of a file in source order, each with the name under which the file uses it. */
function functionsIn(file: string, text: string): { node: FunctionNode; name: string }[] {
  const { program } = parsed(file, text);
  const found: { node: FunctionNode; name: string }[] = [];
  /**
   * Names for functions without a name of their own: that of the constant, member or property that holds the function.
   */
  const names = new Map<unknown, string>();
  const add = (node: FunctionNode) => {
    const own = node.type === "ArrowFunctionExpression" ? undefined : node.id?.name;
    found.push({ node, name: own ?? names.get(node) ?? "" });
  };
  const nameOf = (key: { type: string; name?: unknown }): string => (typeof key.name === "string" ? key.name : "");
  new Visitor({
    VariableDeclarator: ({ id, init }) => void names.set(init, nameOf(id)),
    Property: ({ key, value }) => void names.set(value, nameOf(key)),
    MethodDefinition: ({ key, value }) => void names.set(value, nameOf(key)),
    PropertyDefinition: ({ key, value }) => void names.set(value, nameOf(key)),
    FunctionDeclaration: add,
    FunctionExpression: add,
    ArrowFunctionExpression: add,
  }).visit(program);
  return found;
}

/**
 * Finds the functions with more than 80 lines. Counts every line from the first to the last: also those of templates,
 * comments and inner functions.
 */
export const longFunctionsIn = (files: ReadonlyMap<string, string>): LongFunction[] =>
  [...files].flatMap(([file, text]) =>
    functionsIn(file, text)
      .map(({ node: { start, end }, name }) => ({
        file,
        name,
        line: lineAt(text, start),
        lines: linesOf(text.slice(start, end)),
      }))
      .filter(({ lines }) => lines > maxLines),
  );
