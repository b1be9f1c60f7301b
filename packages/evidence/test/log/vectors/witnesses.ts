import { formatNoteKey } from "../../../src/log/log.ts";
import type { LogVector } from "../log-vectors.ts";
import { sampleLog, sampleWitness } from "../sample-tree.ts";
import { entry, key, live, note, proof, root } from "./sample.ts";

/** Test vectors of policies, and of cosignatures below the checkpoint of a log proof. */
export const witnessVectors: LogVector[] = [];

const at = 1_800_000_000n;
const witnesses = [1, 2, 3].map((n) => sampleWitness(`w${n}.example.com/witness`, 20 + n));
const [one, two, three] = witnesses.map(({ cosigned }) => cosigned(note, at));
const witnessLines = witnesses.map((witness, i) => `witness W${i + 1} ${witness.key}\n`).join("");
const twoOfThree = `${witnessLines}group most 2 W1 W2 W3\nquorum most\n`;

// Adds a vector for a policy.
const policyCase = (name: string, text: string, expect: LogVector["expect"], again?: LogVector["again"]) =>
  witnessVectors.push({ name: `policy: ${name}`, kind: "policy", text, ...(again && { again }), expect });
const [w1 = "", w2 = ""] = witnesses.map((witness) => witness.key);
policyCase("of two of three", twoOfThree, "accepted");
policyCase("with a log and addresses", `log ${key} https://example.com/log/live\nwitness W1 ${w1} https://w.example\nquorum W1\n`, "accepted");
policyCase("without witnesses", "quorum none\n", "accepted");
policyCase("with comments, tabs and empty lines", `# who\n\n \t# else\nwitness\tW1  ${w1} \n\tquorum W1\n`, "accepted");
policyCase("whose groups hold groups", `${witnessLines}group a any W1 W2\ngroup b all a W3\nquorum b\n`, "accepted");
policyCase("whose quorum stands above a log", `quorum none\nlog ${key}\n`, "accepted");
policyCase("without a quorum", witnessLines, "refused");
policyCase("with two quorums", `${twoOfThree}quorum W1\n`, "refused");
policyCase("whose quorum is two names", `${witnessLines}quorum W1 W2\n`, "refused");
policyCase("whose quorum stands above its witness", `quorum W1\nwitness W1 ${w1}\n`, "refused");
policyCase("whose quorum is nobody", `${witnessLines}quorum W4\n`, "refused");
policyCase("with an unknown word", `${twoOfThree}require W1\n`, "refused");
policyCase("with the word of every object", `${twoOfThree}constructor W1\n`, "refused");
policyCase("without its last line feed", twoOfThree.slice(0, -1), "refused");
policyCase("with a letter for its last line feed", `${twoOfThree.slice(0, -1)}x`, "refused");
policyCase("with carriage returns", twoOfThree.replaceAll("\n", "\r\n"), "refused");
policyCase("with a control character", `# \u0001\n${twoOfThree}`, "refused");
policyCase("with a log's key that cannot be read", `log ${w1}\nquorum none\n`, "refused");
policyCase("with one log twice", `log ${key}\nlog ${key} https://example.com\nquorum none\n`, "refused");
policyCase("with a log of three words", `log ${key} https://example.com more\nquorum none\n`, "refused");
policyCase("with a witness's key of another kind", `witness W1 ${key}\nquorum W1\n`, "refused");
policyCase("with one witness twice", `witness W1 ${w1}\nwitness W2 ${w1}\nquorum W1\n`, "refused");
policyCase("with one name for two witnesses", `witness W1 ${w1}\nwitness W1 ${w2}\nquorum W1\n`, "refused");
policyCase("with a witness of four words", `witness W1 ${w1} https://w.example more\nquorum W1\n`, "refused");
policyCase("with a witness that is called none", `witness none ${w1}\nquorum none\n`, "refused");
policyCase("with a group that is called none", `${witnessLines}group none any W1\nquorum none\n`, "refused");
policyCase("with a group's name for a witness", `witness W1 ${w1}\ngroup W2 any W1\nwitness W2 ${w2}\nquorum W2\n`, "refused");
policyCase("with a witness without a name", "witness\nquorum none\n", "refused");
policyCase("with a group without members", `${witnessLines}group g any\nquorum g\n`, "refused");
policyCase("with a group of itself", `${witnessLines}group g any g\nquorum g\n`, "refused");
policyCase("with a group of a name below", `${witnessLines}group a any b\ngroup b any W1\nquorum a\n`, "refused");
policyCase("with a witness in two groups", `${witnessLines}group a any W1\ngroup b any W1\nquorum a\n`, "refused");
policyCase("with a witness twice in a group", `${witnessLines}group a 2 W1 W1\nquorum a\n`, "refused");
for (const threshold of ["0", "4", "01", "-1", "1.5", "some", "100"])
  policyCase(`with a group that wants ${threshold} of three`, `${witnessLines}group g ${threshold} W1 W2 W3\nquorum g\n`, "refused");
policyCase("with a group that wants all of three", `${witnessLines}group g 3 W1 W2 W3\nquorum g\n`, "accepted");
const many = (count: number): string =>
  Array.from({ length: count }, (_, i) => `witness W${i} ${sampleWitness("w", 100 + i).key}\n`).join("");
policyCase("with 32 witnesses", `${many(32)}quorum W0\n`, "accepted");
policyCase("with 33 witnesses", `${many(33)}quorum W0\n`, "refused");
policyCase("of more than 64 KiB", `# \n${twoOfThree}`, "refused", { at: 2, times: 70_000, of: "x" });

// Vectors for the cosignatures of witnesses.
const elsewhere = await sampleLog("example.org/log/live", 7);
const signed = { log_inclusion: "holds", log_checkpoint_signed: "holds" } as const;
const trusted = [{ environment: "live", key }] as const;
const cosignedCase = (name: string, lines: string, state: "holds" | "fails", policy = twoOfThree) =>
  witnessVectors.push({
    name: `witnessed: ${name}`,
    kind: "proof",
    text: proof + lines,
    entry,
    environment: "live",
    logs: trusted,
    policy,
    claims: { ...signed, log_witnessed: state },
    expect: state === "holds" ? "accepted" : "refused",
  });
const other = live.signed(12, root);
const [, , , stranger] = [1, 2, 3, 4].map((n) => sampleWitness(`w${n}.example.com/witness`, 40 + n));
cosignedCase("by two of two that are wanted", `${one}${two}`, "holds");
cosignedCase("by all", `${three}${two}${one}`, "holds");
cosignedCase("by one of two that are wanted", `${one}`, "fails");
cosignedCase("by nobody", "", "fails");
cosignedCase("by nobody, where nobody is wanted", "", "holds", `${witnessLines}quorum none\n`);
cosignedCase("by the one that is wanted", `${two}`, "holds", `${witnessLines}quorum W2\n`);
cosignedCase("by another than the one that is wanted", `${one}`, "fails", `${witnessLines}quorum W2\n`);
const groups = `${witnessLines}group a any W1 W2\ngroup b all a W3\nquorum b\n`;
cosignedCase("by a group of groups", `${two}${three}`, "holds", groups);
cosignedCase("by one half of a group of groups", `${one}${two}`, "fails", groups);
cosignedCase("by one and a stranger", `${one}${stranger?.cosigned(note, at)}`, "fails");
cosignedCase("by two and a stranger", `${one}${two}${stranger?.cosigned(note, at)}`, "holds");
cosignedCase("by two, and wrongly by the third", `${one}${two}${witnesses[2]?.cosigned(other, at)}`, "fails");
const [dash = "", name = "", bytes = ""] = (two ?? "").trimEnd().split(" ");
const altered = (change: (signature: Buffer) => Buffer): string =>
  `${dash} ${name} ${change(Buffer.from(bytes, "base64")).toString("base64")}\n`;
const laterTime = altered((signature) => Buffer.from(signature.map((byte, i) => (i === 11 ? byte ^ 1 : byte))));
cosignedCase("at another second than the one signed", `${one}${laterTime}${three}`, "fails");
cosignedCase("by a line that is a byte short", `${one}${altered((signature) => signature.subarray(0, -1))}${three}`, "fails");
cosignedCase("by a line that is a byte long", `${one}${altered((signature) => Buffer.concat([signature, Buffer.of(0)]))}${three}`, "fails");
cosignedCase("by a line of four bytes", `${one}${altered((signature) => signature.subarray(0, 8))}${three}`, "fails");
cosignedCase("in the last second of the year 9999", `${one}${witnesses[1]?.cosigned(note, 253_402_300_799n)}`, "holds");
cosignedCase("in the year 10000", `${one}${witnesses[1]?.cosigned(note, 253_402_300_800n)}${three}`, "fails");
cosignedCase("by a line without a signature", `${one}${altered((signature) => signature.subarray(0, 12))}`, "fails");
cosignedCase("by a signature over the text alone", `${one}${witnesses[1]?.signedText(note, at)}`, "fails");
witnessVectors.push({
  name: "witnessed: of a log that the policy does not name",
  kind: "proof",
  text: `${proof}${one}${two}`,
  entry,
  environment: "live",
  logs: [{ environment: "live", key: formatNoteKey(elsewhere.key) }],
  policy: twoOfThree,
  claims: { log_inclusion: "holds", log_checkpoint_signed: "fails", log_witnessed: "fails" },
  expect: "refused",
});
