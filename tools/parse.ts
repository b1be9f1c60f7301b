import { type ParseResult, type ParserOptions, parseSync } from "oxc-parser";

/**
 * Parses a TypeScript file.
 * @throws Error naming the file and its first syntax error
 */
export function parsed(file: string, text: string, options?: ParserOptions): ParseResult {
  const result = parseSync(file, text, options);
  if (result.errors[0]) throw new Error(`${file}: ${result.errors[0].message}`);
  return result;
}

/** The line of a position in a text, counted from 1. */
export const lineAt = (text: string, position: number): number => text.slice(0, position).split("\n").length;
