import { collection, type Expectation, type Made, notVerified, type State, verified } from "./case.ts";
import { asJson, evidenceOf, hexOf, verifyCode } from "./evidence.ts";

const evidence = await evidenceOf();
const { environment: _, status: __, format: ___, ...shared } = evidence.record;
/** The service's public response about a proof passport. */
const answer = (changes: Readonly<Record<string, unknown>> = {}): Uint8Array =>
  asJson({ verdict: "verified", ...shared, ...changes });

const RECORD = {
  time_stamp_valid: "holds",
  record_verify_code: "holds",
  record_sealed_hash: "holds",
  record_document_hash: "holds",
} as const;
type Changes = Readonly<Record<string, State | null>>;
const good = (changes: Changes = {}): Expectation => verified({ ...RECORD, ...changes });
const bad = (changes: Changes): Expectation => notVerified({ ...RECORD, ...changes });
const unreadable: Expectation = { verdict: "not_verified", claims: { record_readable: "fails" } };

/** A service's responses about a proof passport, with the sealed PDF that it serves. */
export function proofRecords(): Made {
  const { add, put, made, slug } = collection("proof-records");
  const sealed = put("sealed.pdf", evidence.pdf);
  const one = (name: string, record: Uint8Array, expect: Expectation, teaches: string, document = sealed) =>
    add({
      name,
      kind: "proof_record",
      code: verifyCode,
      files: { record: put(`${slug(name)}.json`, record), sealed: document },
      expect,
      teaches,
    });
  one("the service's answer", answer(), good(), "The bytes' word counts; the record is only compared.");
  one(
    "verdict verified_test",
    answer({ verdict: "verified_test" }),
    { ...good(), verdict: "verified_test" },
    "A record can lower.",
  );
  one("environment test", answer({ environment: "test" }), { ...good(), verdict: "verified_test" }, "Likewise.");
  one("a member more", answer({ more: {} }), good(), "Unknown members are not looked at.");
  one(
    "another code",
    answer({ verifyCode: "z".repeat(26) }),
    bad({ record_verify_code: "fails" }),
    "It is the answer to another question.",
  );
  one(
    "another sealedSha256",
    answer({ sealedSha256: hexOf(evidence.original) }),
    bad({ record_sealed_hash: "fails" }),
    "The record names another file.",
  );
  one(
    "another docSha256",
    answer({ docSha256: hexOf(evidence.pdf) }),
    bad({ record_document_hash: "fails" }),
    "The record names another document.",
  );
  const changed = Buffer.from(evidence.pdf);
  changed.write("K", changed.indexOf("(Contract") + 1, "latin1");
  const differs = bad({
    document_unchanged_since_seal: "fails",
    seal_signature_valid: "fails",
    record_sealed_hash: "fails",
    record_document_hash: "fails",
  });
  one(
    "the service's word against the bytes",
    answer({ more: "x" }),
    differs,
    "The service says verified; the file does not hold.",
    put("changed.pdf", changed),
  );
  const wrong: readonly (readonly [string, Readonly<Record<string, unknown>>])[] = [
    ["no sealedSha256", { sealedSha256: undefined }],
    ["null for docSha256", { docSha256: null }],
    ["a hash in upper case", { docSha256: shared.docSha256.toUpperCase() }],
    ["no verifyCode", { verifyCode: undefined }],
    ["another verdict", { verdict: "intact" }],
    ["no verdict", { verdict: undefined }],
    ["format 2", { format: 2 }],
  ];
  for (const [name, changes] of wrong)
    one(name, answer(changes), unreadable, "A record that can't be read is no record to rest on.");
  const twice = Buffer.from(Buffer.from(answer()).toString().replace("{", '{\n  "verdict": "verified_test",'));
  one("a member twice", twice, unreadable, "One reader takes the first, another the last.");
  const refused: Expectation = { verdict: "not_verified", claims: {} };
  one("a list", Buffer.from("[]\n"), refused, "No JSON object.");
  one("no JSON", Buffer.from("verified\n"), refused, "No JSON object.");
  return made();
}
