import { colourOperands } from "./canvas.ts";

/** The service's mark in a square of 64 units, as path operators; the same drawing as on the pages. */
export const markOperators = `${colourOperands("#1f3d6d")} rg
15 0 m 49 0 l 57.3 0 64 6.7 64 15 c 64 49 l 64 57.3 57.3 64 49 64 c 15 64 l 6.7 64 0 57.3 0 49 c 0 15 l 0 6.7 6.7 0 15 0 c f
${colourOperands("#ffffff")} RG 3.2 w 54 32 m 54 44.15 44.15 54 32 54 c 19.85 54 10 44.15 10 32 c 10 19.85 19.85 10 32 10 c 44.15 10 54 19.85 54 32 c s
${colourOperands("#f2c464")} RG 5 w 1 J 1 j 22.5 31.5 m 29.3 24.5 l 42 38.5 l S`;
