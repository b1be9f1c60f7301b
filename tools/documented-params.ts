import { type ParamPattern, Visitor } from "oxc-parser";
import type { Finding } from "./english.ts";
import { lineAt, parsed } from "./parse.ts";

/** The parameters of a function that starts at `start`. */
type Params = { start: number; text: string };

/**
 * Finds the `@param` tags that name neither a parameter of the documented function nor a member of a parameter. The
 * name `link.token` is accepted if `link` is a parameter, or `token` a member of one.
 */
export function unknownParamsIn(file: string, text: string): Finding[] {
  // Parsing is slow, and few files have such a tag.
  if (!text.includes("@param")) return [];
  const { program, comments } = parsed(file, text);
  const functions: Params[] = [];
  const add = ({ start, params }: { start: number; params: ParamPattern[] }): void => {
    functions.push({ start, text: params.map((param) => text.slice(param.start, param.end)).join() });
  };
  new Visitor({
    FunctionDeclaration: add,
    FunctionExpression: add,
    ArrowFunctionExpression: add,
    TSFunctionType: add,
    TSMethodSignature: add,
  }).visit(program);
  return comments.flatMap((comment) => {
    // The documented function is the first one after the comment, because a function starts before those inside it.
    const after = functions.filter(({ start }) => start >= comment.end);
    const first = after.reduce((a, b) => (b.start < a.start ? b : a), after[0] ?? { start: 0, text: "" });
    const words = new Set(first.text.match(/[\w$]+/g));
    return [...comment.value.matchAll(/@param\s+([\w$.]+)/g)]
      .filter(([, name = ""]) => !name.split(".").some((part) => words.has(part)))
      .map(({ index, 0: found }) => ({
        line: lineAt(text, comment.start + index),
        found,
        better: "the name of a parameter",
      }));
  });
}
