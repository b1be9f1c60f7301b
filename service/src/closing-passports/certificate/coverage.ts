import { bullet, type Flow, heading, margin, section, textWidth } from "@signsealship/certificate";
import { type Manifest, plainCoverage } from "@signsealship/evidence/manifest";

const gap = 24;

/** What the seal covers and what it does not, side by side. */
export function coverageLists(flow: Flow, { covers, doesNotCover }: Manifest["coverage"]): void {
  const width = (textWidth - gap) / 2;
  const right = { x: margin.side + width + gap, width };
  section(flow, "What the seal covers", 150);
  const top = flow.y();
  for (const text of covers) bullet(flow, plainCoverage[text] ?? text, { x: margin.side, width });
  const lowest = flow.y();
  flow.moveTo(top + heading.size * (heading.leading ?? 1) + 2);
  flow.text("What it does not cover", heading, right);
  flow.skip(2);
  for (const text of doesNotCover) bullet(flow, plainCoverage[text] ?? text, right);
  flow.moveTo(Math.min(lowest, flow.y()) - 8);
}
