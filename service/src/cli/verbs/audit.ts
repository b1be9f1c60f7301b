import { resolve } from "node:path";
import { writeFileDurably } from "../../kernel/platform/durable-file.ts";
import { exportRecords, type RecordsReport, verifyRecords } from "../../upkeep/audit-heads/audit-heads.ts";
import { defineVerb, UsageError, type Verb } from "../verb.ts";
import { withResources } from "../with-resources.ts";

const reportText = ({ days, first, last, notLogged, rows, faults }: RecordsReport): string => {
  if (faults.length > 0) return faults.map((fault) => `WRONG: ${fault}`).join("\n");
  if (first === null) return `${rows} rows. No day has a head yet: the first one comes after midnight UTC.`;
  const agrees = `${rows} rows agree with the heads of ${days} days, from ${first} to ${last}.`;
  if (notLogged === null) return agrees;
  const { day, ageSeconds } = notLogged;
  return `${agrees}\nThe head of ${day} is not yet logged, so that nobody outside vouches for it: it was taken ${ageSeconds} s ago, and the log promises it within 24 hours.`;
};

function dayOption(day: string | undefined): string | null {
  if (day !== undefined && !/^\d{4}-\d{2}-\d{2}$/.test(day)) throw new UsageError("--day is a day such as 2026-01-31");
  return day ?? null;
}

export const auditVerbs: Verb[] = [
  defineVerb({
    name: "audit verify",
    args: [],
    options: {},
    summary:
      "Compares keys, firms, members, operators, seals, payments and the audit log with the daily heads in the transparency log. Exit 1 for a fault.",
    run: () =>
      withResources(async (resources) => {
        const report = await verifyRecords(resources);
        return { json: report, text: reportText(report), exitCode: report.faults.length > 0 ? 1 : 0 };
      }),
  }),
  defineVerb({
    name: "audit export",
    args: ["FILE"],
    options: { day: { type: "string", help: "The day, as 2026-01-31; the newest one in the log by default." } },
    summary:
      "Opens the records of a day to an auditor, who needs to trust the transparency log alone: rows, salts and proof, as JSON.",
    examples: ["audit export records.json --day 2026-01-31"],
    run([file = ""], values) {
      const day = dayOption(values.day);
      return withResources(async (resources) => {
        const exported = await exportRecords(resources, day);
        const path = resolve(process.cwd(), file);
        const detail = { day: exported.day, rows: exported.rows.length };
        await writeFileDurably(path, `${JSON.stringify(exported, null, 1)}\n`, { mode: 0o600 });
        const { rows, auditLines } = exported;
        const text = `${path}: ${rows.length} rows and ${auditLines.length} lines of the audit log, by the head of ${exported.day}. It names people: keep it safe.`;
        return { json: { ...detail, file: path, auditLines: auditLines.length, head: exported.head }, text };
      });
    },
  }),
];
