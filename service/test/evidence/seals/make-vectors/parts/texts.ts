import { readFileSync } from "node:fs";
import { pem, seal, sealPem, trustFiles } from "../signers.ts";
import type { Part, PartKind } from "./part.ts";

type Value = Record<string, unknown>;
type Row = readonly [name: string, text: string];

const rows = (kind: PartKind, expect: Part["expect"], teaches: string, list: readonly Row[]): Part[] =>
  list.map(([name, text]) => ({ name: `${kind}: ${name}`, kind, text, expect, teaches }));

const entry = { pem: sealPem };
const retired = { ...entry, retiredAt: "2026-03-01T00:00:00Z", reason: "key-compromise" };
const list = (value: unknown): string => JSON.stringify(value);
const listOf = (...sealCertificates: readonly unknown[]): string => list({ format: 1, sealCertificates });

/** Vectors of trust lists (docs/evidence-format.md, section 4.3). */
function trustLists(): Part[] {
  const teaches =
    "A list that breaks a rule is refused whole: a certificate must not pass because the word on it was not understood.";
  const good = rows("trust-list", "accepted", "What this format does not ask for is not looked at.", [
    ["one certificate", listOf(entry)],
    ["a certificate that was retired", listOf(retired)],
    ["retired within a second", listOf({ ...retired, retiredAt: "2026-03-01T00:00:00.123Z" })],
    ["retired for a reason that nobody knows", listOf({ ...retired, reason: "because" })],
    ["retired without a reason", listOf({ ...entry, retiredAt: retired.retiredAt, reason: null })],
    ["not retired, in so many words", listOf({ ...entry, retiredAt: null, reason: null })],
    ["a member more", list({ format: 1, sealCertificates: [{ ...entry, sha256: 7 }], more: [] })],
    ["an authority", list({ format: 1, sealCertificates: [], timeStampCertificates: [trustFiles["trust/tsa.pem"]] })],
    ["a certificate with its environment", listOf({ ...entry, environment: "live" })],
    ["a reason of 100 characters", listOf({ ...retired, reason: "x".repeat(100) })],
  ]);
  const bad = rows("trust-list", "refused", teaches, [
    ["without a format", list({ sealCertificates: [entry] })],
    ["format 2", list({ format: 2, sealCertificates: [entry] })],
    ["a format that is a text", list({ format: "1", sealCertificates: [entry] })],
    ["without sealCertificates", list({ format: 1 })],
    ["sealCertificates that are an object", list({ format: 1, sealCertificates: { 0: entry } })],
    ["timeStampCertificates that are null", list({ format: 1, sealCertificates: [], timeStampCertificates: null })],
    [
      "timeStampCertificates that are a text",
      list({ format: 1, sealCertificates: [], timeStampCertificates: sealPem }),
    ],
    ["an authority that is an object", list({ format: 1, sealCertificates: [], timeStampCertificates: [entry] })],
    ["an entry that is a text", listOf(sealPem)],
    ["an entry that is null", listOf(null)],
    ["an entry without pem", listOf({ certificate: sealPem })],
    ["a pem that is an object", listOf({ pem: entry })],
    ["a pem without a certificate", listOf({ pem: "" })],
    ["a pem of two certificates", listOf({ pem: sealPem + trustFiles["trust/other-seal.pem"] })],
    ["a pem that is none", listOf({ pem: "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n" })],
    ["retiredAt that is a number", listOf({ ...entry, retiredAt: 1 })],
    ["retiredAt that is a day", listOf({ ...entry, retiredAt: "2026-03-01" })],
    ["retiredAt without a zone", listOf({ ...entry, retiredAt: "2026-03-01T00:00:00" })],
    ["retiredAt with an offset", listOf({ ...entry, retiredAt: "2026-03-01T00:00:00+00:00" })],
    ["retiredAt of 13 months", listOf({ ...entry, retiredAt: "2026-13-01T00:00:00Z" })],
    ["a seal's certificate that is said to be of tests", listOf({ ...entry, environment: "test" })],
    ["an environment that is not known", listOf({ ...entry, environment: "trial" })],
    ["retiredAt that is a list", listOf({ ...entry, retiredAt: [retired.retiredAt] })],
    [
      "signerCertificates that are an object",
      list({ format: 1, sealCertificates: [], signerCertificates: { 0: entry } }),
    ],
    ["a reason that is a list", listOf({ ...retired, reason: [] })],
    ["a reason that is a number", listOf({ ...retired, reason: 1 })],
    ["a reason of 101 characters", listOf({ ...retired, reason: "x".repeat(101) })],
    ["a reason and no instant", listOf({ ...entry, reason: "superseded" })],
    ["a member twice", `{"format":1,"format":1,"sealCertificates":[]}`],
    ["no JSON", `{"format":1,`],
    ["more than 1 MiB", list({ format: 1, sealCertificates: [], more: "x".repeat(1_048_576) })],
  ]);
  return [...good, ...bad];
}

/** Vectors of PEM texts (docs/evidence-format.md, section 9.2). */
function pems(): Part[] {
  const crlf = sealPem.replaceAll("\n", "\r\n");
  const good = rows("pem", "accepted", "Text around PEM blocks is not looked at.", [
    ["two certificates", sealPem + pem(seal.certificate.der)],
    ["text around it", `Subject: seal\n${sealPem}# the end\n`],
    ["lines that end in CR LF", crlf],
    ["white space behind the lines", sealPem.replaceAll("\n", " \t\n")],
    ["no line end behind it", sealPem.slice(0, -1)],
    ["another label", `-----BEGIN PUBLIC KEY-----\nMAA=\n-----END PUBLIC KEY-----\n${sealPem}`],
  ]);
  const bad = rows("pem", "refused", "Some programs take a certificate there, and others the next one.", [
    ["no certificate", "nothing\n"],
    ["a byte order mark", `\ufeff${sealPem}`],
    ["text before the boundary", `x${sealPem}`],
    ["text behind the boundary", sealPem.replace("-----\n", "----- x\n")],
    ["text behind the end", sealPem.replace(/\n$/, "x\n")],
    ["lines that end in CR", sealPem.replaceAll("\n", "\r")],
    ["an older label", sealPem.replaceAll(" CERT", " X509 CERT")],
    ["a trusted label", sealPem.replaceAll(" CERT", " TRUSTED CERT")],
    ["a label in lower case", sealPem.replace("BEGIN CERTIFICATE", "BEGIN certificate") + sealPem],
    ["a header", sealPem.replace("\n", "\nX-A: b\n\n")],
    ["no end", sealPem.replace("-----END CERTIFICATE-----\n", "")],
    ["a block within a block", sealPem.replace("\n", `\n-----BEGIN CERTIFICATE-----\n`)],
    ["digits that are no base64", sealPem.replace(/\n\w{4}/, "\n=A=A")],
    ["white space before the dashes", sealPem.replace("CERTIFICATE-----", "CERTIFICATE -----")],
    [
      "a certificate that is none, behind a good one",
      `${sealPem}-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n`,
    ],
  ]);
  return [...good, ...bad];
}

const manifestFile = (version: number): Value =>
  JSON.parse(
    readFileSync(
      new URL(`../../../../../../packages/evidence/vectors/manifest/chain/v${version}.json`, import.meta.url),
      "utf8",
    ),
  );

/**
 * Manifests with another value in one place (docs/evidence-format.md, section 10.1). These vectors are not in canonical
 * form; other vectors test the form.
 */
function manifests(): Part[] {
  const base = (): { passport: Value; documents: Value[]; coverage: Value } & Value => manifestFile(3) as never;
  const document = { label: null, orderCode: "0".repeat(40), statusAtSnapshot: statusOf() };
  const passport = (changes: Value) => JSON.stringify({ ...base(), passport: { ...base().passport, ...changes } });
  const documents = (value: unknown) => JSON.stringify({ ...base(), documents: value });
  const one = (changes: Value) => documents([{ ...document, ...changes }]);
  const coverage = (changes: Value) => JSON.stringify({ ...base(), coverage: { ...base().coverage, ...changes } });
  const status = (changes: Value) => one({ statusAtSnapshot: { ...statusOf(), ...changes } });
  const code = (index: number) => index.toString(16).padStart(40, "0");
  const many = (count: number) =>
    documents(Array.from({ length: count }, (_, index) => ({ ...document, orderCode: code(index) })));
  const without = (member: string) => {
    const { [member]: _, ...rest } = base().passport;
    return JSON.stringify({ ...base(), passport: rest });
  };
  const covers = base().coverage["covers"] as unknown[];
  const verifyCode = "abcdefghijklmnopqrstuvwxyz";
  const good = rows("manifest", "accepted", "Section 10.1.", [
    ["one document", one({})],
    ["50 documents", many(50)],
    [
      "a document with all hashes",
      one({
        originalSha256: "a".repeat(64),
        sealedSha256: "b".repeat(64),
        custodyCertSha256: "c".repeat(64),
        envelopeVerifyCode: verifyCode,
      }),
    ],
    [
      "a document that was notarized",
      one({ originalSha256: "a".repeat(64), sealedSha256: "b".repeat(64), notarizedSha256: "d".repeat(64) }),
    ],
    ["a document that was notarized on paper", one({ notarizedSha256: "d".repeat(64) })],
    ["a room's name of 200 characters beyond U+FFFF", passport({ roomName: "\u{1f600}".repeat(200) })],
    ["an empty reference", passport({ reference: "" })],
    ["a status of 64 letters", status({ value: "x".repeat(64) })],
    ["a version of 1.0", JSON.stringify(base()).replace('"version":3', '"version":3.0')],
  ]);
  const bad = rows("manifest", "refused", "A manifest has exactly these members, of these types (10.1).", [
    ["a list", "[]"],
    ["null", "null"],
    ["a text", '"manifest"'],
    ["a number", "7"],
    ["a passport that is a list", JSON.stringify({ ...base(), passport: [] })],
    ["a passport that is null", JSON.stringify({ ...base(), passport: null })],
    ["a passport that is a text", JSON.stringify({ ...base(), passport: "x" })],
    ...["roomCode", "roomName", "reference", "version", "prevManifestSha256", "generatedAtUtc"].map(
      (member): Row => [`no ${member}`, without(member)],
    ),
    ["a room's code that is a number", passport({ roomCode: 7 })],
    ["a room's code of 39 digits", passport({ roomCode: "0".repeat(39) })],
    ["a room's code of 41 digits", passport({ roomCode: "0".repeat(41) })],
    ["a room's code in upper case", passport({ roomCode: "A".repeat(40) })],
    ["a room's code that is a list", passport({ roomCode: ["0".repeat(40)] })],
    ["a room's name that is a list", passport({ roomName: ["x"] })],
    ["an instant that is a list", passport({ generatedAtUtc: ["2026-01-01T10:00:00Z"] })],
    ["documents that are an object with a length", documents({ length: 0 })],
    ["a status that is a list", status({ value: ["Signed"] })],
    ["covers that are an object", coverage({ covers: { ...covers, length: covers.length } })],
    ["nothing that it does not cover", coverage({ doesNotCover: [] })],
    ["a room's name that is empty", passport({ roomName: "" })],
    ["a room's name that is null", passport({ roomName: null })],
    ["a room's name of 201 characters", passport({ roomName: "x".repeat(201) })],
    ["a room's name of 401 code units", passport({ roomName: "x".repeat(401) })],
    ["a room's name with a lone surrogate", passport({ roomName: "\ud800" })],
    ["a reference of 201 characters", passport({ reference: "x".repeat(201) })],
    ["a reference that is a number", passport({ reference: 7 })],
    ["version 0", passport({ version: 0, prevManifestSha256: "a".repeat(64) })],
    ["version -1", passport({ version: -1 })],
    ["version 2.5", passport({ version: 2.5 })],
    ["version 21", passport({ version: 21 })],
    ["a version that is a text", passport({ version: "3" })],
    ["a hash before that is a number", passport({ prevManifestSha256: 7 })],
    ["a hash before of 63 digits", passport({ prevManifestSha256: "a".repeat(63) })],
    ["an instant that is a number", passport({ generatedAtUtc: 7 })],
    ["an instant without Z", passport({ generatedAtUtc: "2026-01-01T10:00:00" })],
    ["an instant of 24 hours", passport({ generatedAtUtc: "2026-01-01T24:00:00Z" })],
    ["an instant on 30 February", passport({ generatedAtUtc: "2026-02-30T10:00:00Z" })],
    ["an instant in month 13", passport({ generatedAtUtc: "2026-13-01T10:00:00Z" })],
    ["documents that are an object", documents({})],
    ["documents that are a text", documents("")],
    ["51 documents", many(51)],
    ["a document that is null", documents([null])],
    ["a document that is a list", documents([[]])],
    ["a document with a member more", one({ more: 1 })],
    ["an order's code that is a number", one({ orderCode: 7 })],
    ["an order's code of 41 digits", one({ orderCode: "0".repeat(41) })],
    ["a label that is a number", one({ label: 7 })],
    ["a label of 201 characters", one({ label: "x".repeat(201) })],
    ["a status that is a text", one({ statusAtSnapshot: "Signed" })],
    ["another basis", status({ basis: "evidence" })],
    ["another note", status({ note: "evidence" })],
    ["a status that is a number", status({ value: 7 })],
    ["an empty status", status({ value: "" })],
    ["a status of 65 letters", status({ value: "x".repeat(65) })],
    ["a status with a digit", status({ value: "Signed1" })],
    ["a status with a member more", status({ more: 1 })],
    ...["originalSha256", "sealedSha256", "custodyCertSha256", "notarizedSha256"].flatMap((member): Row[] => [
      [`${member} of 63 digits`, one({ [member]: "a".repeat(63) })],
      [`${member} that is a number`, one({ [member]: 7 })],
    ]),
    ["a verify code of 25 characters", one({ envelopeVerifyCode: verifyCode.slice(1) })],
    ["a verify code with a 1", one({ envelopeVerifyCode: `1${verifyCode.slice(1)}` })],
    ["covers that are a text", coverage({ covers: "all" })],
    ["covers without the last", coverage({ covers: (base().coverage["covers"] as unknown[]).slice(0, -1) })],
    ["covers with one more", coverage({ covers: [...(base().coverage["covers"] as unknown[]), "more"] })],
    ["covers in another order", coverage({ covers: (base().coverage["covers"] as unknown[]).toReversed() })],
    ["more than 256 KiB", passport({ roomName: "x".repeat(262_145) })],
    ["more than 256 KiB, of white space", `${JSON.stringify(base())}${" ".repeat(262_144)}`],
    [
      "a name of a member with an escape, twice",
      JSON.stringify(base()).replace('"version":3', '"version":3,"versio\\u006e":3'),
    ],
  ]);
  return [...good, ...bad];
}

function statusOf(): Value {
  return {
    basis: "platform_attestation",
    note: "platform attestation by signsealship at snapshot time; not cryptographic evidence",
    value: "Signed",
  };
}

const MAGIC = "004f70656e54696d657374616d7073000050726f6f6600bf89e2e884e89294";
const BITCOIN = "0588960d73d71901";

/** OpenTimestamps proofs at the limits of docs/evidence-format.md, section 8. */
function proofs(): Part[] {
  const proof = (timestamp: string, version = "01", op = "08", digest = "11".repeat(32)) =>
    `${MAGIC}${version}${op}${digest}${timestamp}`;
  const block = (height = "01") => `00${BITCOIN}${(height.length / 2).toString(16).padStart(2, "0")}${height}`;
  const forks = (count: number) => `${`ff${block()}`.repeat(count - 1)}${block()}`;
  const hex = (kind: Part["expect"], teaches: string, list: readonly Row[]): Part[] =>
    list.map(([name, bytes]) => ({ name: `proof: ${name}`, kind: "proof", hex: bytes, expect: kind, teaches }));
  const append = (length: number) => `f0${varuint(length)}${"22".repeat(length)}`;
  return [
    ...hex("accepted", "Section 8.", [
      ["one block", proof(block())],
      ["a file's hash by SHA-1", proof(block(), "01", "02", "11".repeat(20))],
      ["a height of 2^53 - 1", proof(block("ffffffffffffff0f"))],
      ["4,096 branches", proof(forks(4096))],
      ["an argument of 4,064 bytes", proof(`${append(4064)}${block()}`)],
      ["255 operations", proof(`${"08".repeat(255)}${block()}`)],
    ]),
    ...hex("refused", "Past a bound, or of another form: ots.format fails.", [
      ["a height of 2^53", proof(block("8080808080808010"))],
      ["a height of 70 bits", proof(block("ffffffffffffffffff7f"))],
      ["4,097 branches", proof(forks(4097))],
      ["a result of 4,097 bytes", proof(`${append(4065)}${block()}`)],
      ["256 operations", proof(`${"08".repeat(256)}${block()}`)],
      [
        "a proof of more than 262,144 bytes",
        proof(`${`ff00${"01".repeat(8)}40${"22".repeat(64)}`.repeat(3600)}${block()}`),
      ],
      ["a magic that is cut", MAGIC.slice(0, 60)],
      ["no version", MAGIC],
      ["version 0", proof(block(), "00")],
      ["a digest that is cut", `${MAGIC}0108${"11".repeat(31)}`],
      ["no attestation behind a fork", proof("ff")],
      ["an attestation whose tag is cut", proof(`00${BITCOIN.slice(2)}`)],
      ["an attestation that is cut", proof(`00${BITCOIN}02`)],
      ["a number without an end", proof(`00${BITCOIN}0180`)],
    ]),
  ];
}

function varuint(value: number): string {
  let [text, rest] = ["", value];
  for (; rest >= 128; rest = Math.floor(rest / 128)) text += (0x80 | (rest % 128)).toString(16);
  return text + rest.toString(16).padStart(2, "0");
}

export const texts = (): Part[] => [...trustLists(), ...pems(), ...manifests(), ...proofs()];
