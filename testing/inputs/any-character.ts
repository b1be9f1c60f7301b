import fc from "fast-check";

const surrogates = { first: 0xd800, count: 0x800 };

/** Any code point that can occur in a text. Creating fast-check's own arbitrary for this takes a second. */
export const anyCharacter = fc
  .integer({ min: 0, max: 0x10ffff - surrogates.count })
  .map((n) => String.fromCodePoint(n < surrogates.first ? n : n + surrogates.count));
