import { ofAlgorithms } from "./algorithms.ts";
import { ofAttributes } from "./attributes.ts";
import { CONTENT, cms } from "./form.ts";
import type { Part } from "./part.ts";
import { tokens } from "./tokens.ts";

export function signatures(): Part[] {
  const list = [...ofAttributes(), ...ofAlgorithms()].map(
    ([name, form, notHolding]): Part => ({
      name: `signature: ${name}`,
      kind: "signature",
      hex: Buffer.from(cms(form)).toString("hex"),
      content: CONTENT,
      expect: notHolding.length === 0 ? "accepted" : "refused",
      notHolding,
      teaches: "The seven checks of section 3.2.",
    }),
  );
  return [...list, ...tokens()];
}
