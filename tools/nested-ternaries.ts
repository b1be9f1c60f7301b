import { Visitor } from "oxc-parser";
import type { Finding } from "./english.ts";
import { lineAt, parsed } from "./parse.ts";

/** A ternary may contain another one, but that inner one may not contain a third. */
const maxDepth = 2;

/**
 * Finds ternaries that are nested three deep, as in `a ? b : c ? d : e ? f : g`. If a function is inside a ternary, the
 * function's own ternaries are counted from one again.
 */
export function nestedTernariesIn(file: string, text: string): Finding[] {
  // Parsing is slow, and few files have three ternaries.
  if ((text.match(/\s\?\s/g) ?? []).length <= maxDepth) return [];
  const { program } = parsed(file, text);
  const found: Finding[] = [];
  let depth = 0;
  const outside: number[] = [];
  const enter = (): void => {
    outside.push(depth);
    depth = 0;
  };
  const leave = (): void => {
    depth = outside.pop() ?? 0;
  };
  new Visitor({
    ConditionalExpression({ start, end }) {
      depth++;
      if (depth !== maxDepth + 1) return;
      const line = lineAt(text, start);
      const [shown = ""] = text.slice(start, end).split("\n");
      found.push({ line, found: shown, better: "a function with early returns" });
    },
    "ConditionalExpression:exit"() {
      depth--;
    },
    FunctionExpression: enter,
    "FunctionExpression:exit": leave,
    ArrowFunctionExpression: enter,
    "ArrowFunctionExpression:exit": leave,
  }).visit(program);
  return found;
}
