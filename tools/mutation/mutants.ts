import {
  type ConditionalExpression,
  type Expression,
  type IfStatement,
  type Node,
  parseSync,
  type Span,
  type Statement,
} from "@swc/core";

/**
 * A mutant: the verifier with one rule dropped. With `as: "false"`, an operand of a condition for a refusal becomes
 * false. With `"true"`, an operand of a demand (`a && b`) becomes true. With `"skipped"`, an asserting call is removed.
 */
export type Mutant = {
  readonly file: string;
  readonly line: number;
  readonly start: number;
  readonly end: number;
  readonly as: "false" | "true" | "skipped";
  /** The operand's text, which identifies the mutant together with its file. */
  readonly text: string;
};

export const nameOf = ({ file, line, as, text }: Mutant): string => `${file}:${line} ${as}: ${text}`;

type Spanned = { readonly span: Span };

/**
 * True if a returned value may state a refusal: nothing, null, false, a text, a new object, or the result of a call. A
 * condition that returns such a value counts as a refusal.
 */
const isRefusal = (value: Expression | null | undefined): boolean => {
  if (value === undefined || value === null) return true;
  switch (value.type) {
    case "BooleanLiteral":
      return !value.value;
    case "NullLiteral":
    case "StringLiteral":
    case "TemplateLiteral":
    case "CallExpression":
    case "NewExpression":
    case "ObjectExpression":
    case "ArrayExpression":
      return true;
    case "AwaitExpression":
      return isRefusal(value.argument);
    case "Identifier":
      return value.value === "undefined";
    default:
      return false;
  }
};

function exits(statement: Statement | undefined): boolean {
  switch (statement?.type) {
    case "ThrowStatement":
      return true;
    case "ReturnStatement":
      return isRefusal(statement.argument);
    case "BlockStatement":
      return exits(statement.stmts.at(-1));
    default:
      return false;
  }
}

const inside = (expression: Expression): Expression =>
  expression.type === "ParenthesisExpression" ? inside(expression.expression) : expression;

/** The operands of `a || b || c`, or of `a && b && c`. Any other expression is its own single operand. */
function operandsOf(expression: Expression, operator: "||" | "&&"): Expression[] {
  const bare = inside(expression);
  if (bare.type !== "BinaryExpression" || bare.operator !== operator) return [bare];
  return [...operandsOf(bare.left, operator), ...operandsOf(bare.right, operator)];
}

/** True if an expression is a chain of demands (`a && b`): dropping one of the demands drops a rule. */
const isDemand = (expression: Expression): boolean => {
  const bare = inside(expression);
  return bare.type === "BinaryExpression" && bare.operator === "&&";
};

/** Kinds of expressions that are never falsy: replacing one by `true` would change nothing. */
const ALWAYS_MET = new Set(["ObjectExpression", "ArrayExpression", "ArrowFunctionExpression", "NewExpression"]);
const demandsOf = (expression: Expression): Expression[] =>
  operandsOf(expression, "&&").filter(({ type }) => !ALWAYS_MET.has(type));

const literal = (expression: Expression): string | null => {
  const bare = inside(expression);
  if (bare.type === "StringLiteral") return bare.value;
  if (bare.type === "NullLiteral") return "null";
  if (bare.type !== "ObjectExpression") return null;
  for (const property of bare.properties) {
    if (property.type !== "KeyValueProperty" || property.key.type !== "Identifier") continue;
    if (property.key.value === "state" && property.value.type === "StringLiteral") return property.value.value;
  }
  return null;
};

/** The functions whose only effect is to throw if a demand isn't met. `end` is `fields.end()`. */
const ASSERTIONS = new Set(["expect", "unambiguous", "end"]);

function isAssertion(expression: Expression): boolean {
  if (expression.type !== "CallExpression") return false;
  const { callee } = expression;
  if (callee.type === "Identifier")
    return ASSERTIONS.has(callee.value) || /^(refuse|require|assert|check)/.test(callee.value);
  return callee.type === "MemberExpression" && callee.property.type === "Identifier" && callee.property.value === "end";
}

type Found = readonly [expression: Spanned, as: Mutant["as"]];

function ofIf({ test, consequent }: IfStatement): Found[] {
  return exits(consequent) ? operandsOf(test, "||").map((one): Found => [inner(one), "false"]) : [];
}

const inner = (expression: Expression): Spanned => expression as Spanned;

/**
 * The mutants of `demand ? "holds" : "fails"` and of `fault ? "fails" : "holds"`. In place of "holds", some code
 * returns null, which means no fault.
 */
function ofChoice({ test, consequent, alternate }: ConditionalExpression): Found[] {
  const [met, unmet] = [literal(consequent), literal(alternate)];
  if (met === "holds" || (met === "null" && unmet !== "null" && unmet !== null)) {
    return demandsOf(test).map((one): Found => [inner(one), "true"]);
  }
  if (unmet === "holds" || (unmet === "null" && met !== null)) {
    return operandsOf(test, "||").map((one): Found => [inner(one), "false"]);
  }
  return [];
}

function foundAt(node: Node): Found[] {
  switch (node.type) {
    case "IfStatement":
      return ofIf(node as IfStatement);
    case "ConditionalExpression":
      return ofChoice(node as ConditionalExpression);
    case "BinaryExpression": {
      // A nested chain of demands is also found as a part of the outer chain. The list contains it only once.
      const expression = node as Expression;
      return isDemand(expression) ? demandsOf(expression).map((one): Found => [inner(one), "true"]) : [];
    }
    case "ExpressionStatement": {
      const { expression } = node as Node & { expression: Expression };
      return isAssertion(expression) ? [[inner(expression), "skipped"]] : [];
    }
    default:
      return [];
  }
}

function walk(value: unknown, visit: (node: Node) => void): void {
  if (Array.isArray(value)) for (const item of value) walk(item, visit);
  else if (typeof value === "object" && value !== null) {
    if ("type" in value && typeof value.type === "string") visit(value as Node);
    for (const [key, child] of Object.entries(value)) if (key !== "span") walk(child, visit);
  }
}

/** The mutants of a source, in source order. */
export function mutantsOf(file: string, source: string): Mutant[] {
  // The parser counts offsets in bytes, from an arbitrary base. So each character of more than one byte is replaced by
  // one byte. The offset of the empty statement at the start shows the base.
  const plain = `;${source.replace(/[^\n\x20-\x7e]/g, "?")}`;
  const module = parseSync(plain, { syntax: "typescript", target: "es2022" });
  const base = module.span.start + 1;
  const found = new Map<string, Mutant>();
  const faults = new Set<Node>();
  walk(module.body, (node) => {
    // `if (a && b) throw`: dropping `a` would make the rule stricter, so it is not a mutant.
    if (node.type === "IfStatement" && exits((node as IfStatement).consequent)) {
      walk((node as IfStatement).test, (child) => faults.add(child));
    }
    if (faults.has(node) && node.type === "BinaryExpression") return;
    for (const [{ span }, as] of foundAt(node)) {
      const [start, end] = [span.start - base, span.end - base];
      const line = source.slice(0, start).split("\n").length;
      const text = source.slice(start, end).replace(/\s+/g, " ");
      found.set(`${start} ${end}`, found.get(`${start} ${end}`) ?? { file, line, start, end, as, text });
    }
  });
  return [...found.values()].toSorted((one, other) => one.start - other.start || other.end - one.end);
}

/**
 * The source with a switch at each mutant: `$false(id, value)`, `$true(id, value)` or `$skip(id) || (call)`. One bundle
 * then contains every mutant; a number selects the active one.
 */
export function switchable(source: string, mutants: readonly Mutant[], firstId: number): string {
  const inserts: { readonly at: number; readonly text: string; readonly order: number }[] = [];
  mutants.forEach(({ start, end, as }, index) => {
    const id = firstId + index;
    const length = end - start;
    if (as === "skipped") {
      inserts.push({ at: start, text: `$skip(${id}) || (`, order: -length });
      inserts.push({ at: end, text: ")", order: length });
    } else {
      inserts.push({ at: start, text: `$${as}(${id}, `, order: -length });
      inserts.push({ at: end, text: ")", order: length });
    }
  });
  // Orders the insertions at one offset: ends before beginnings. Among ends, the shorter node comes first; among
  // beginnings, the longer one.
  const isEnd = (text: string) => text === ")";
  inserts.sort(
    (one, other) => one.at - other.at || Number(isEnd(other.text)) - Number(isEnd(one.text)) || one.order - other.order,
  );
  let [result, at] = ["", 0];
  for (const insert of inserts) {
    result += source.slice(at, insert.at) + insert.text;
    at = insert.at;
  }
  return result + source.slice(at);
}
