import { type ChainReport, checkAuditChain } from "../audit/audit.ts";
import type { Resources } from "../resources.ts";
import type { Found } from "./finding.ts";

const shown = 5;

/**
 * The chain of the audit log from its first line to its last. Lines that were placed late are a warning: the command line may have
 * written them while no service ran. @throws Error with what is wrong
 */
export async function auditLogWhole(resources: Pick<Resources, "db" | "rowMac">): Promise<Found> {
  const { lines, waiting, faults, late }: ChainReport = await checkAuditChain(resources);
  if (faults.length > 0) {
    const more = faults.length > shown ? ` and ${faults.length - shown} faults more` : "";
    throw new Error(`${faults.slice(0, shown).join("; ")}${more}`);
  }
  if (late.length > 0) {
    const more = late.length > shown ? ` and ${late.length - shown} more` : "";
    const which = `line${late.length > 1 ? "s" : ""} ${late.slice(-shown).join(", ")}${more}`;
    return {
      warning: `${which} got a place more than a minute after the time of the line: backdated, or no service ran`,
    };
  }
  return `${lines} lines in one chain${waiting > 0 ? `, ${waiting} wait for a running service to add them` : ""}`;
}
