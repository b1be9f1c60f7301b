import type { PDFPageProxy, PdfJs } from "../pdf-js.ts";
import { type Matrix, matrixOf, times } from "./matrix.ts";

export type Ops = PdfJs["OPS"];
export type Operators = Awaited<ReturnType<PDFPageProxy["getOperatorList"]>>;

/**
 * Follows the graphics state through the operators of a page (ISO 32000-2 section 8.4). Calls `step` for every operator
 * that is not handled here; `step` returns the state after that operator.
 */
export function walk<State extends { readonly matrix: Matrix }>(
  { fnArray, argsArray }: Operators,
  OPS: Ops,
  first: State,
  step: (state: State, operator: number, args: readonly unknown[]) => State,
): void {
  const stack: State[] = [];
  let state = first;
  const transform = (by: ArrayLike<number>) => {
    state = { ...state, matrix: times(state.matrix, matrixOf(by)) };
  };
  for (const [index, operator] of fnArray.entries()) {
    const args: readonly unknown[] = argsArray[index] ?? [];
    if (operator === OPS.save || operator === OPS.paintFormXObjectBegin) stack.push(state);
    if (operator === OPS.restore || operator === OPS.paintFormXObjectEnd) state = stack.pop() ?? state;
    else if (operator === OPS.transform) transform(args as number[]);
    else if (operator === OPS.paintFormXObjectBegin && args[0]) transform(args[0] as ArrayLike<number>);
    else state = step(state, operator, args);
  }
}
