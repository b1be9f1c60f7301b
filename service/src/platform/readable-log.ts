import { styleText } from "node:util";
import { toPlainText } from "./text.ts";

const levels = [
  [60, "fatal", "red"],
  [50, "error", "red"],
  [40, "warn", "yellow"],
  [30, "info", "green"],
  [20, "debug", "blue"],
] as const;

type LogLine = { level: number; time: string; msg?: string; err?: { message?: string; stack?: string } };

/**
 * A line of the log (JSON) for a person at a terminal: local time, level, message, and the rest as
 * `name=value`. No character of it can steer the terminal.
 */
export function readableLine(line: string): string {
  const { level, time, msg = "", err, ...rest } = JSON.parse(line) as LogLine;
  const [, name, color] = levels.find(([least]) => level >= least) ?? [0, "trace", "gray"];
  const clock = new Date(time).toTimeString().slice(0, 8);
  const fields = Object.entries(rest).map(([key, value]) => toPlainText(`${key}=${shown(value)}`));
  const words = toPlainText(msg || (err?.message ?? ""));
  const head = [clock, styleText(color, name.padEnd(5)), words, styleText("gray", fields.join(" "))];
  const stack = (err?.stack ?? "").split("\n").filter(Boolean);
  return [head.join(" ").trimEnd(), ...stack.map((at) => styleText("gray", `    ${toPlainText(at)}`)), ""].join("\n");
}

const shown = (value: unknown): string =>
  typeof value === "string" && !/\s/.test(value) ? value : JSON.stringify(value);
