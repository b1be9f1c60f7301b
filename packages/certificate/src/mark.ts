import { colorOperands } from "./canvas.ts";

/**
 * The service’s mark in a square of 64 units, as path operators; the same drawing as on the pages
 * (service/src/pages/ui/mark.svg).
 */
export const markOperators = `${colorOperands("#1f3d6d")} rg
15 0 m 49 0 l 57.3 0 64 6.7 64 15 c 64 49 l 64 57.3 57.3 64 49 64 c 15 64 l 6.7 64 0 57.3 0 49 c 0 15 l 0 6.7 6.7 0 15 0 c f
${colorOperands("#ffffff")} RG 3.2 w 1 j 32 53.5 m 35.4 57.5 41.8 55.7 42.8 50.6 c 47.7 52.2 52.3 47.5 50.6 42.7 c 55.6 41.7 57.3 35.4 53.5 32 c 57.5 28.6 55.7 22.2 50.6 21.2 c
52.1 16.4 47.6 11.9 42.8 13.4 c 41.8 8.3 35.4 6.5 32 10.5 c 28.6 6.7 22.3 8.4 21.3 13.4 c 16.5 11.7 11.8 16.3 13.4 21.2 c
8.3 22.2 6.5 28.6 10.5 32 c 6.7 35.4 8.4 41.7 13.4 42.7 c 11.7 47.6 16.4 52.3 21.3 50.6 c 22.3 55.6 28.6 57.3 32 53.5 c s
${colorOperands("#f2c464")} RG 5 w 1 J 1 j 22.5 31.5 m 29.3 24.5 l 42 38.5 l S`;
