import { examine } from "../../doctor/doctor.ts";
import type { Verb } from "../verb.ts";

export const doctor: Verb = {
  name: "doctor",
  args: [],
  flags: "",
  options: {},
  summary: "Checks every dependency, setting and key, one line each; exits with 1 if one fails.",
  async run() {
    const checks = await examine(process.env, process.cwd());
    const text = checks.map(({ name, result, detail }) => `${result.padEnd(8)} ${name}: ${detail}`).join("\n");
    const failed = checks.some(({ result }) => result === "failed");
    return { text, json: { ok: !failed, checks }, exitCode: failed ? 1 : 0 };
  },
};
