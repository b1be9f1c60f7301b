import { type Expression, Visitor } from "oxc-parser";
import type { Finding } from "./english.ts";
import { lineAt, parsed } from "./parse.ts";

/** A literal without its type annotations: `["A"] as const` is `["A"]`. */
const untyped = (node: Expression): Expression =>
  node.type === "TSAsExpression" || node.type === "TSSatisfiesExpression" ? untyped(node.expression) : node;

/**
 * Finds literals that are spread into a literal or a call, as in `{ ...{ a, b }, c }` and `f(...["A", "B"])`. The members
 * can be written without them.
 */
export function spreadLiteralsIn(file: string, text: string): Finding[] {
  // Parsing is slow, and few files have such a text.
  if (!/\.\.\.\s*\(*\s*[[{]/.test(text)) return [];
  const { program } = parsed(file, text, { preserveParens: false });
  const found: Finding[] = [];
  new Visitor({
    SpreadElement({ argument, start, end }) {
      const { type } = untyped(argument);
      if (type !== "ObjectExpression" && type !== "ArrayExpression") return;
      const line = lineAt(text, start);
      found.push({ line, found: text.slice(start, end), better: "its members without the spread" });
    },
  }).visit(program);
  return found;
}
