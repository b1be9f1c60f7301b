import { systemClock } from "../../kernel/platform/clock.ts";
import { systemRandom } from "../../kernel/platform/random.ts";
import { examine, type Finding } from "../../upkeep/doctor/doctor.ts";
import { defineVerb } from "../verb.ts";

/** An urgent warning is red on a terminal. */
function lineOf({ name, result, detail, urgent }: Finding): string {
  const line = `${result.padEnd(8)} ${name}: ${detail}`;
  return urgent && process.stdout.isTTY ? `\x1b[31m${line}\x1b[0m` : line;
}

export const doctor = defineVerb({
  name: "doctor",
  args: [],
  options: {},
  summary: "Checks every dependency, setting and key, one line each; exits with 1 if one fails.",
  async run() {
    const checks = await examine(process.env, process.cwd(), { clock: systemClock, random: systemRandom });
    const text = checks.map(lineOf).join("\n");
    const failed = checks.some(({ result }) => result === "failed");
    return { text, json: { ok: !failed, checks }, exitCode: failed ? 1 : 0 };
  },
});
