/** The registry's security advisories about the shipped packages, or the reason why the registry did not answer. */
export type AuditResult = { reached: true; findings: string[] } | { reached: false; reason: string };

type Report = {
  message?: string;
  error?: { summary?: string; detail?: string };
  vulnerabilities?: Record<string, { severity?: string; range?: string }>;
};

/**
 * Parses `npm audit --json`. An answer without a list of vulnerabilities counts as no answer, whatever its exit code.
 */
export function readAudit(text: string): AuditResult {
  const report = JSON.parse(text) as Report;
  if (!report.vulnerabilities)
    return { reached: false, reason: report.message || report.error?.summary || report.error?.detail || "no report" };
  const findings = Object.entries(report.vulnerabilities).map(
    ([name, { severity = "unknown", range = "" }]) => `${name} ${range} (${severity})`,
  );
  return { reached: true, findings };
}
