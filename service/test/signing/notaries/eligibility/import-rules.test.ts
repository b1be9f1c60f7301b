import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "@signsealship/testing/temporary-folder";
import type { ActMode } from "../../../../src/signing/notaries/commissions/expiry.ts";
import { ruleFaults } from "../../../../src/signing/notaries/desk/act-checks.ts";
import { importRules } from "../../../../src/signing/notaries/eligibility/import/import-rules.ts";
import { loadNotaryRules, parseNotaryRules } from "../../../../src/signing/notaries/eligibility/rules.ts";

const rules = fileURLToPath(new URL("../../../../data/notarization-rules.yaml", import.meta.url));
const attribution = { title: "RON laws", license: "CC BY 4.0", url: "https://example.com/ron-laws" };

function imported(table: string, asOf = "2026-11-22") {
  const { yaml, ...answer } = importRules(table, { table: "laws", rules }, { attribution, asOf });
  return { ...answer, rules: parseNotaryRules(yaml, "imported.yaml") };
}

const csv = `Jurisdiction,Effective Date,Effective Date Statute,Notary Fee Cap,Fee Statute,Document Exclusions,Signer Location,Updated by
Texas,2018-07-01,"Tex. Gov't Code 406.101",$25,,,"Anywhere, with limits",x
"South Carolina",Not authorized,,,,,,
New York,"January 31, 2023",N.Y. Exec. Law 135-c,"$2 on paper, $25 online",,"Wills and some estate documents",,
Ohio,2019-09-20,R.C. 147.60,$30,,,,
California,2030-01-01,SB 696,,,,,
`;

test("a published table states where remote acts are authorized, with its sources; other values of the rules stay", () => {
  const { rules: read, remote, states, unread } = imported(csv);
  assert.deepEqual(states, ["CA", "NY", "OH", "SC", "TX"]);
  assert.deepEqual(remote, ["NY", "OH", "TX"]);
  assert.deepEqual(unread, ["fee_statute", "updated_by"]);
  assert.deepEqual(read.attribution, attribution);
  assert.deepEqual(read.of("TX").modes, {
    value: ["ron", "ink"],
    asOf: "2026-11-22",
    source: "Tex. Gov't Code 406.101; RON laws",
  });
  assert.deepEqual(read.of("SC").modes.value, ["ipen", "ink"]);
  assert.deepEqual(read.of("OH").modes.value, ["ron", "ipen", "ink"]);
  assert.match(read.of("OH").sentences.ron?.value[0] ?? "", /audio-video/);
  assert.deepEqual(read.of("NY").excluded?.value, ["will"]);
  assert.equal(read.of("TX").terms.signerLocation?.value, "Anywhere, with limits");
  assert.equal(read.of("NY").terms.feeCap?.value, "$2 on paper, $25 online");
  assert.deepEqual(read.of("WY").modes.value, ["ink"]);
});

test("laws that are not in force yet, and unclear ones, are not offered; texts that were not understood are named", () => {
  assert.deepEqual(imported(csv, "2030-01-01").remote, ["CA", "NY", "OH", "TX"]);
  const read = (cells: Record<string, string>, asOf = "2026-01-31") =>
    imported(JSON.stringify([{ state: "TX", ...cells }]), asOf);
  for (const [status, isOffered, isDoubtful] of [
    ["Yes", true, false],
    ["Fully authorized", true, false],
    ["Authorized (effective July 1, 2020)", true, false],
    ["Authorized effective July 1, 2026", false, false],
    ["No", false, false],
    ["Not authorized", false, false],
    ["Pending", false, false],
    ["", false, true],
    ["unknown", false, true],
    ["Yes (limited)", false, true],
    ["Permitted in person only", false, true],
    ["Authorized for in-person electronic notarization (IPEN) only", false, true],
    ["RON cannot be performed; RIN is permitted", false, true],
    ["Authorized, suspended", false, true],
    ["No; in-person only", false, true],
  ] as const) {
    const { remote, doubtful } = read({ status });
    assert.deepEqual([remote.length > 0, doubtful.length > 0], [isOffered, isDoubtful], status);
  }
  for (const [effective_date, isOffered] of [
    ["2021-01-01", true],
    ["since January 31, 2023", true],
    ["Not until 2027", false],
    ["until June 30, 2023", false],
    ["Sunset 2024-12-31", false],
    ["Emergency order ended June 30, 2021", false],
    ["July 1, 2020; amended JULY 1 2027", false],
    ["2021-02-31", false],
    ["2026-02-01", false],
  ] as const) {
    assert.equal(read({ effective_date }).remote.length > 0, isOffered, effective_date);
    assert.equal(read({ effective_date, status: "Authorized" }).remote.length > 0, isOffered, effective_date);
    assert.equal(read({ effective_date, status: "unknown" }).remote.length, 0, effective_date);
  }
  assert.throws(() => read({ status: "Active", ron_authorized: "No" }), /ron_authorized and status may both say/);
});

test("a second table adds to the excluded and known values, and is named in place of the first", () => {
  const first = importRules(
    "state,status,exclusions,fee_cap\nOH,Yes,Wills and codicils,$30\n",
    { table: "a", rules },
    { attribution, asOf: "2026-11-22" },
  );
  const folder = temporaryFolder();
  const path = join(folder.path, "rules.yaml");
  writeFileSync(path, first.yaml);
  const second = importRules(
    "state,status\nOH,No\n",
    { table: "b", rules: path },
    { attribution: { ...attribution, title: "B" }, asOf: "2026-11-23" },
  );
  const read = parseNotaryRules(second.yaml, path);
  assert.deepEqual(read.of("OH").excluded?.value, ["deposition", "will"]);
  assert.equal(read.of("OH").terms.feeCap?.value, "$30");
  assert.equal(read.attribution?.title, "B");
  assert.deepEqual(read.of("OH").modes.value, ["ipen", "ink"]);
  folder.remove();
});

test("by the shipped rules, fees of acts online are taken up to the caps of Florida and of Texas", () => {
  const shipped = loadNotaryRules(rules);
  for (const [state, cents] of [
    ["FL", 2500],
    ["TX", 3500],
  ] as const) {
    const faults = (feeCents: number) => ruleFaults({ mode: "ron", feeCents, principals: [] }, shipped.of(state));
    assert.deepEqual(faults(cents), {}, state);
    assert.match(faults(cents + 1)["fee"] ?? "", /must not be above/, state);
  }
});

test("refuses a fee above the known cap of an act online, and any fee where no cap is known", () => {
  const csv = "state,status,fee_cap,fee_cap_cents\nOH,Yes,$5 on paper,2500\nNY,Yes,$25,\n";
  const { rules: read } = imported(csv);
  const faults = (state: string, mode: ActMode, feeCents: number) =>
    ruleFaults({ mode, feeCents, principals: [] }, read.of(state));
  assert.deepEqual(faults("OH", "ron", 2500), {});
  assert.match(faults("OH", "ron", 2501)["fee"] ?? "", /^must not be above \$25\.00, .*RON laws, 2026-11-22/);
  assert.match(faults("OH", "rin", 9000)["fee"] ?? "", /must not be above/);
  assert.deepEqual(faults("OH", "ipen", 9000), {});
  // A text such as “$25” is shown to the notary, but not parsed as a number.
  assert.match(faults("NY", "ron", 1)["fee"] ?? "", /^must be 0, because .* is missing for your state/);
  assert.deepEqual(faults("NY", "ron", 0), {});
  assert.throws(() => imported(csv.replace("2500", "$25")), /row 1: fee_cap_cents must be a whole number/);
});

test("JSON with values next to their sources gives the same", () => {
  const { rules: read, remote } = imported(
    JSON.stringify({
      generated: "2026-11-01",
      jurisdictions: [
        {
          code: "KS",
          effectiveDate: { value: "2022-01-01", citation: "K.S.A. 53-5a15" },
          recordRetention: { value: "10 years" },
        },
        { code: "DC", effectiveDate: { value: "2022-12-13" } },
      ],
    }),
  );
  assert.deepEqual(remote, ["DC", "KS"]);
  assert.equal(read.of("KS").modes.source, "K.S.A. 53-5a15; RON laws");
  assert.equal(read.of("KS").terms.retention?.value, "10 years");
});

test("an unreadable table is refused by the row and the rule", () => {
  const refused = (table: string, why: RegExp) => assert.throws(() => imported(table), why);
  refused("", /has no rows/);
  refused("state,status\n", /has no rows/);
  refused('[{"state":"TX","status":"Full"', /JSON/);
  refused('{"a":1}', /array of objects/);
  refused('state,status\nTX,"Full\n', /laws: /);
  refused("state,status\nTX,Full,more\n", /laws: /);
  refused("where,status\nTX,Full\n", /needs a column with the state/);
  refused("state,fee_cap\nTX,$25\n", /whether remote acts are authorized/);
  refused("state,status\nTX,Full\nAtlantis,Full\n", /row 2: 'Atlantis' is not a US state/);
  refused("state,status\nTX,Full\nTexas,Full\n", /row 2: TX is there already/);
});
