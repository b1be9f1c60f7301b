import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { nextSegment, type Transition, transitionTable } from "../service/src/orders/order/order.ts";

const file = fileURLToPath(new URL("../docs/lifecycle.md", import.meta.url));

// The causes of transitions that the diagram leaves out for clarity, because such transitions begin or end at many
// statuses. The table lists them.
const unpictured = new Set(["cancelled", "held", "released", "refund_requested"]);

const yesNo = [true, false];
const allServices = yesNo.flatMap((sign) =>
  yesNo.flatMap((notarize) => yesNo.flatMap((ship) => yesNo.map((fax) => ({ sign, notarize, ship, fax })))),
);

function targets({ to }: Transition, from: string): string[] {
  if (to === "before") return [];
  if (to !== "next segment") return [to];
  return [...new Set(allServices.map((services) => nextSegment(from, services)))];
}

function edges(): string[] {
  const rows = transitionTable.filter(({ on }) => !unpictured.has(on));
  return rows.flatMap((row) =>
    row.from.flatMap((from) =>
      targets(row, from).map((to) => `    ${from} --> ${to}${row.to === "next segment" ? "" : ` : ${row.words}`}`),
    ),
  );
}

const names: Readonly<Record<string, string>> = {
  "next segment": "the next service's pending status, or `Completed`",
  before: "the status before the hold",
};
const rowText = ({ from, words, to }: Transition): string =>
  `| ${from.map((status) => `\`${status}\``).join(", ")} | ${words} | ${names[to] ?? `\`${to}\``} |`;

/** Generates docs/lifecycle.md from the service's transition table. */
export const lifecyclePage = (): string => `# The life of an order

<!-- Made by \`npm run lifecycle\` from service/src/orders/order/transitions/table.ts; changes here are lost. -->

Every change of status uses one function and this table. Any other change is refused with a 409 and logged. In one transaction, a change
writes the status and its audit line and, at a milestone, the workflow event, the event for the partner's webhooks and the mail to
the client.

\`\`\`mermaid
stateDiagram-v2
    [*] --> Created
${edges().join("\n")}
    Completed --> [*]
\`\`\`

Arrows without words are the start of the next service. Services run in the order sign, notarize, ship, fax; those that were not
bought are skipped. From \`Paid\` the first one begins at once; after that a service begins when a person (or the sandbox) begins it,
so that \`EsignComplete\`, \`NotarizationComplete\` and \`Delivered\` are seen by those who look.

| from | when | to |
|---|---|---|
${transitionTable.map(rowText).join("\n")}

- Only signed events of the payment processor lead to \`AwaitingPayment\`, \`PaymentFailed\`, \`Paid\` and \`Refunded\`, and to \`OnHold\` for
  a wrong sum. Test orders cross the same code by the sandbox.
- \`EsignComplete\` needs the sealed document on record, \`NotarizationComplete\` the notarized one, \`Shipped\` carrier and tracking
  number; holds, cancellations, refunds and failures need a reason.
- A refund that was given at the processor passes \`RefundPending\` on its way to \`Refunded\`.
`;

if (import.meta.main) writeFileSync(file, lifecyclePage());
