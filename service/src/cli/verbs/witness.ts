import { logOrigins } from "../../evidence/transparency-log/transparency-log.ts";
import { openWitness, type WitnessStatus, witnessStatus } from "../../evidence/witness/witness.ts";
import { StartupError } from "../../kernel/platform/errors.ts";
import { defineVerb } from "../verb.ts";
import { withResources } from "../with-resources.ts";

const statusText = ({ key, logs }: WitnessStatus, baseUrl: string): string =>
  [
    `witness ${key.slice(0, key.indexOf("+"))} ${key} ${baseUrl}/witness`,
    ...logs.map(({ origin, size, maxADay, restoredAt }) => {
      const state =
        restoredAt === null ? `${size} entries` : "HALTS: the database was restored, so give the witness a new key";
      return `  ${origin}: ${state}, at most ${maxADay} questions a day`;
    }),
  ].join("\n");

export const witnessVerb = defineVerb({
  name: "witness status",
  args: [],
  options: {},
  summary: "Prints the line for other operators' policies, and how far this witness is with each log of WITNESS_LOGS.",
  run: () =>
    withResources(async (resources) => {
      const { db, config } = resources;
      const witness = await openWitness(config, await logOrigins(db));
      if (!witness) throw new StartupError("this installation is not a witness: set WITNESS_LOGS");
      const status = await witnessStatus(db, witness);
      const isHalted = status.logs.some(({ restoredAt }) => restoredAt !== null);
      return { json: status, text: statusText(status, config.baseUrl), exitCode: isHalted ? 1 : 0 };
    }),
});
