import { type ChainReport, checkAuditChain } from "../audit/audit.ts";
import type { Resources } from "../resources.ts";

const shown = 5;

/** The chain of the audit log from its first line to its last. @throws Error with what is wrong */
export async function auditLogWhole(resources: Pick<Resources, "db" | "rowMac">): Promise<string> {
  const { lines, waiting, faults }: ChainReport = await checkAuditChain(resources);
  if (faults.length > 0) {
    const more = faults.length > shown ? ` and ${faults.length - shown} faults more` : "";
    throw new Error(`${faults.slice(0, shown).join("; ")}${more}`);
  }
  return `${lines} lines in one chain${waiting > 0 ? `, ${waiting} wait for a running service to add them` : ""}`;
}
