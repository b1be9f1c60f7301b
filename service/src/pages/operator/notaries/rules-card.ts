import { usStates } from "../../../orders/pricing/pricing.ts";
import { modeWords, type NotaryRules } from "../../../signing/notaries/notaries.ts";
import { card, statusBadge } from "../../ui/components.ts";
import { records } from "../../ui/records.ts";
import { type Html, html } from "../../ui/render.ts";
import { originBadge, originWords } from "../notary/rule-words.ts";

export const rulesPath = (state: string, rest = ""): string => `/operator/notaries/rules/${state}${rest}`;

export type StatesView = {
  rules: NotaryRules;
  /** The U.S. states with a change of the rules that a second operator must still confirm. */
  waiting: ReadonlySet<string>;
};

const nameOf = (state: string): string => usStates.get(state)?.name ?? state;

/** Lists the U.S. states that have rules or an unconfirmed change, and links to the pages of all other states. */
export function rulesCard({ rules, waiting }: StatesView): Html {
  const listed = new Set([...rules.states, ...waiting]);
  const byName = (some: Iterable<string>) =>
    [...some].toSorted((one, other) => nameOf(one).localeCompare(nameOf(other)));
  const others = byName([...usStates.keys()].filter((state) => !listed.has(state)));
  const table = records(
    "Rules of states",
    ["State", "Modes", "Standing", "From"].map((label) => ({ label })),
    byName(listed).map((state) => {
      const own = rules.of(state);
      return [
        html`<a href="${rulesPath(state)}">${nameOf(state)}</a>`,
        own.modes.value.map((mode) => modeWords[mode]).join("; "),
        html`${originBadge(own)}${waiting.has(state) && statusBadge("attention", "A change waits")}`,
        html`<span class="breakable">${originWords(own)}</span>`,
      ];
    }),
  );
  return card(
    "rules",
    "Rules of states",
    html`<p>How notaries of a state may act, by the state of their commission. What is not known is not offered. A change counts once a second operator has confirmed it; no file and no restart is needed.</p>
${table}
<p>In person, in ink alone, because nothing else is known: ${others.map((state, index) => html`${index > 0 && ", "}<a href="${rulesPath(state)}">${nameOf(state)}</a>`)}.</p>`,
  );
}
