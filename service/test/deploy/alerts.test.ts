import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { startService, temporaryFolder } from "@signsealship/testing/service";
import { needs } from "@signsealship/testing/tools/tools";
import { parse, stringify } from "yaml";

const deploy = fileURLToPath(new URL("../../../deploy", import.meta.url));
const read = (name: string) => readFileSync(join(deploy, name), "utf8");
const folder = temporaryFolder();
after(() => folder.remove());

type Rule = { alert: string; expr: string; annotations: Record<string, string> };
const { rules } = (parse(read("alerts.yaml")) as { groups: [{ rules: Rule[] }] }).groups[0];

type Series = readonly [name: string, values: string];
/**
 * For each alert, series that raise it, and series that just don't. Each series has one value a minute, and is
 * evaluated after two hours.
 */
const cases: Readonly<Record<string, { raises: readonly Series[][]; isQuietAt: readonly Series[][] }>> = {
  SignSealShipDown: {
    raises: [[['up{job="signsealship"}', "0x120"]], [['dependency_up{name="database"}', "0x120"]]],
    isQuietAt: [[['up{job="signsealship"}', "1x119 0"]], [['up{job="other"}', "0x120"]]],
  },
  SignSealShipDependencyDown: {
    raises: [[['dependency_up{name="blobs"}', "0x120"]]],
    isQuietAt: [
      [['dependency_up{name="blobs"}', "1x117 0x3"]],
      [['dependency_up{name="database"}', "0x120"]],
      [['dependency_up{name="log"}', "0x120"]],
    ],
  },
  SignSealShipErrors: {
    raises: [
      [
        ['http_request_duration_seconds_count{status="500"}', "0+2x120"],
        ['http_request_duration_seconds_count{status="200"}', "0+98x120"],
      ],
    ],
    isQuietAt: [
      [
        ['http_request_duration_seconds_count{status="500"}', "0+1x120"],
        ['http_request_duration_seconds_count{status="200"}', "0+199x120"],
      ],
      [
        ['http_request_duration_seconds_count{status="404"}', "0+50x120"],
        ['http_request_duration_seconds_count{status="200"}', "0+50x120"],
      ],
    ],
  },
  SignSealShipDeliveriesLate: {
    raises: [[["webhook_deliveries_oldest_seconds", "301x120"]]],
    isQuietAt: [[["webhook_deliveries_oldest_seconds", "300x120"]]],
  },
  SignSealShipJobsLate: {
    raises: [[['jobs_overdue_seconds{queue="mails"}', "601x120"]]],
    isQuietAt: [[['jobs_overdue_seconds{queue="mails"}', "600x120"]]],
  },
  SignSealShipJobsRetrying: {
    raises: [[['jobs_retrying{queue="mails"}', "1x120"]]],
    isQuietAt: [[['jobs_retrying{queue="mails"}', "0x90 1x30"]]],
  },
  SignSealShipJobsFailed: {
    raises: [[['jobs_failed{queue="mails"}', "0x119 1"]]],
    isQuietAt: [[['jobs_failed{queue="mails"}', "0x120"]]],
  },
  SignSealShipPoolExhausted: {
    raises: [[['database_connections{state="waiting"}', "1x120"]]],
    isQuietAt: [[['database_connections{state="in_use"}', "20x120"]]],
  },
  SignSealShipTimeStampsMissing: {
    raises: [[["seals_without_time_stamp_total", "0x90 1x30"]]],
    isQuietAt: [[["seals_without_time_stamp_total", "0x30 7x90"]]],
  },
  SignSealShipAnchorsMissing: {
    raises: [[["seals_without_anchor_total", "0x90 1x30"]], [["anchors_oldest_pending_seconds", "259201x120"]]],
    isQuietAt: [[["seals_without_anchor_total", "7x120"]], [["anchors_oldest_pending_seconds", "86400x120"]]],
  },
  SignSealShipCertificateEnds: {
    raises: [[['certificate_expires_days{certificate="seal"}', "29.9x120"]]],
    isQuietAt: [[['certificate_expires_days{certificate="seal"}', "30x120"]]],
  },
  SignSealShipNotaryEnds: {
    raises: [[['notary_expires_days{what="commission"}', "-1x120"]]],
    isQuietAt: [[['notary_expires_days{what="commission"}', "31x120"]]],
  },
  SignSealShipBackupLate: {
    // The alert fires above an age of 26 hours. The series is evaluated two hours after its start. So the alert fires
    // if the backup was made 24 hours and one second before the start. It does not fire at exactly 24 hours.
    raises: [[['backup_last_success_time_seconds{kind="made"}', "-86401x120"]]],
    isQuietAt: [
      [['backup_last_success_time_seconds{kind="made"}', "-86400x120"]],
      [
        ['backup_last_success_time_seconds{kind="made"}', "-186400x120"],
        ['backup_last_success_time_seconds{kind="recorded"}', "-86400x120"],
      ],
    ],
  },
  SignSealShipBackupNeverMade: {
    raises: [[['signsealship_build_info{version="1",schema="70"}', "1x120"]]],
    isQuietAt: [
      [['signsealship_build_info{version="1",schema="70"}', "_x90 1x30"]],
      [
        ['signsealship_build_info{version="1",schema="70"}', "1x120"],
        ['backup_last_success_time_seconds{kind="recorded"}', "1x120"],
      ],
    ],
  },
  SignSealShipRowsNotVouchedFor: {
    raises: [[['rows_not_vouched_for_total{table="orders"}', "0x90 1x30"]]],
    isQuietAt: [[['rows_not_vouched_for_total{table="orders"}', "1x120"]]],
  },
  SignSealShipLogHalted: {
    raises: [[['log_halted{log="live"}', "1x120"]]],
    isQuietAt: [[['log_halted{log="live"}', "0x120"]], [['log_halted{log="live"}', "0x117 1x2"]]],
  },
  SignSealShipLogContradicted: {
    raises: [[['log_witness_alarm{witness="w.example.com/witness+01234567"}', "0x100 1x20"]]],
    isQuietAt: [[['log_witness_alarm{witness="w.example.com/witness+01234567"}', "0x120"]]],
  },
  SignSealShipLogRootsLate: {
    raises: [[['log_roots_oldest_waiting_seconds{source="opentimestamps"}', "21601x120"]]],
    isQuietAt: [[['log_roots_oldest_waiting_seconds{source="opentimestamps"}', "21600x120"]]],
  },
  SignSealShipMixedReleases: {
    raises: [
      [
        ['signsealship_build_info{version="1",schema="70"}', "1x120"],
        ['signsealship_build_info{version="1",schema="71"}', "1x120"],
      ],
    ],
    isQuietAt: [
      [
        ['signsealship_build_info{version="1",schema="70",instance="a"}', "1x120"],
        ['signsealship_build_info{version="1",schema="70",instance="b"}', "1x120"],
      ],
    ],
  },
  SignSealShipRecordingBroke: {
    raises: [[["recording_breaks_total", "0x110 1x10"]], [["media_engine_deaths_total", "0x110 1x10"]]],
    isQuietAt: [[["recording_breaks_total", "0x30 7x90"]]],
  },
  SignSealShipRecordingNotStored: {
    raises: [[["recording_part_oldest_seconds", "601x120"]], [["recording_chunk_late_seconds", "6x120"]]],
    isQuietAt: [[["recording_part_oldest_seconds", "600x120"]], [["recording_chunk_late_seconds", "5x120"]]],
  },
};

test("each alert is raised by its cause, and by nothing smaller", needs("prometheus"), () => {
  assert.deepEqual(Object.keys(cases), [...new Set(rules.map(({ alert }) => alert))]);
  const part = (alert: string, series: readonly Series[], value: number) => ({
    interval: "1m",
    input_series: series.map(([name, values]) => ({ series: name, values })),
    promql_expr_test: [
      {
        expr: `count(ALERTS{alertname="${alert}",alertstate="firing"}) or vector(0)`,
        eval_time: "2h",
        exp_samples: [{ value, labels: "{}" }],
      },
    ],
  });
  const tests = Object.entries(cases).flatMap(([alert, { raises, isQuietAt }]) => [
    ...raises.map((series) => part(alert, series, 1)),
    ...isQuietAt.map((series) => part(alert, series, 0)),
  ]);
  copyFileSync(join(deploy, "alerts.yaml"), join(folder.path, "alerts.yaml"));
  const file = join(folder.path, "tests.yaml");
  writeFileSync(file, stringify({ rule_files: ["alerts.yaml"], evaluation_interval: "1m", tests }));
  execFileSync("promtool", ["check", "rules", join(deploy, "alerts.yaml")]);
  execFileSync("promtool", ["test", "rules", file]);
});

/** The names of metrics in an expression: all words except functions, keywords and labels. */
const metricsIn = (expr: string): string[] =>
  [
    ...expr
      .replaceAll(/"[^"]*"|\{[^}]*\}|\[[^\]]*\]|\b(?:by|on) \([^)]*\)/g, " ")
      .matchAll(/\b[a-z_][a-z0-9_]*\b(?!\s*\()/g),
  ]
    .map(([name]) => name)
    .filter((name) => !["or", "and", "unless", "up", "sum", "max", "min", "count"].includes(name))
    .map((name) => name.replace(/^(http_request_duration_seconds)_(?:bucket|count)$/, "$1"));

test("the service has every metric that alerts and the dashboard name", async () => {
  const { panels } = JSON.parse(read("grafana-dashboard.json")) as { panels: { targets: { expr: string }[] }[] };
  const named = [...rules, ...panels.flatMap(({ targets }) => targets)].flatMap(({ expr }) => metricsIn(expr));
  const service = await startService({
    DATA_DIR: folder.path,
    TSA_URLS: "https://freetsa.org/tsr",
    OTS_CALENDARS: "http://127.0.0.1:9",
    MEDIA: "embedded",
    MEDIA_ANNOUNCE: "127.0.0.1",
  });
  const text = await (await fetch(`${service.baseUrl}/metrics`)).text();
  await service.stop();
  const known = new Set([...text.matchAll(/^# HELP (\S+)/gm)].map(([, name]) => name));
  assert.ok(named.length > 30, String(named));
  assert.deepEqual(
    named.filter((name) => !known.has(name)),
    [],
  );
  const value = (series: string) =>
    text
      .split("\n")
      .find((line) => line.startsWith(`${series} `))
      ?.split(" ")[1];
  for (const name of ["database", "blobs", "seal_key", "signer_authority", "log"])
    assert.equal(value(`dependency_up{name="${name}"}`), "1", name);
  assert.match(text, /^signsealship_build_info\{version="\d+\.\d+\.\d+",schema="\d+"\} 1$/m);
  assert.match(text, /^certificate_expires_days\{certificate="time stamp root [^"]+"\} \d/m);
  assert.ok(Number(value('certificate_expires_days{certificate="seal"}')) > 300);
  assert.equal(value("database_connections_max"), "20");
  assert.equal(value("webhook_deliveries_pending"), "0");
});
