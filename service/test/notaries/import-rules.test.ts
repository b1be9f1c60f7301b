import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { importRules } from "../../src/notaries/eligibility/import/import-rules.ts";
import { parseNotaryRules } from "../../src/notaries/eligibility/rules.ts";

const rules = fileURLToPath(new URL("../../data/notarization-rules.yaml", import.meta.url));
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

test("a published table says where remote acts are authorized, with its sources; what the rules know beside it stays", () => {
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

test("what is not in force yet, and what can't be read as authorized, is not offered", () => {
  assert.deepEqual(imported(csv, "2030-01-01").remote, ["CA", "NY", "OH", "TX"]);
  const statuses = ["Full", "Pending", "Limited", "Not authorized", "maybe", "Yes"];
  const codes = ["AL", "AK", "AZ", "AR", "CO", "DE"];
  const table = `state,status\n${codes.map((code, index) => `${code},${statuses[index]}`).join("\n")}\n`;
  assert.deepEqual(imported(table).remote, ["AL", "DE"]);
});

test("the same is read of JSON, with values beside their sources", () => {
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

test("a table that can't be read is refused by the row and the rule", () => {
  const refused = (table: string, why: RegExp) => assert.throws(() => imported(table), why);
  refused("", /has no rows/);
  refused("state,status\n", /has no rows/);
  refused('[{"state":"TX","status":"Full"', /JSON/);
  refused('{"a":1}', /array of objects/);
  refused('state,status\nTX,"Full\n', /laws: /);
  refused("state,status\nTX,Full,more\n", /laws: /);
  refused("where,status\nTX,Full\n", /needs a column with the state/);
  refused("state,fee_cap\nTX,$25\n", /whether remote acts are authorized/);
  refused("state,status\nTX,Full\nAtlantis,Full\n", /row 2: 'Atlantis' is no US state/);
  refused("state,status\nTX,Full\nTexas,Full\n", /row 2: TX is there already/);
});
