import { randomBytes } from "node:crypto";
import { instantOf } from "@signsealship/verifier";
import {
  configuredChain,
  configuredChains,
  describeRoot,
  recordChain,
  retireCertificate,
  rotateFileKey,
  type SealCertificate,
  sealCertificates,
} from "../../evidence/seals/seals.ts";
import { defineVerb, lines, UsageError, type Verb } from "../verb.ts";
import { withResources } from "../with-resources.ts";

function stateOf({ inUse, retiredAt, reason }: SealCertificate): string {
  if (inUse) return "in use";
  return retiredAt === null ? "no longer in use" : `retired ${retiredAt} (${reason})`;
}

function askedInstant(text: string | undefined): number | undefined {
  try {
    return text === undefined ? undefined : instantOf("--at", text);
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

export const sealVerbs: Verb[] = [
  defineVerb({
    name: "seal list",
    args: [],
    options: {},
    summary:
      "Lists the certificates that this service seals or ever sealed with, which are retired, and the root above them.",
    run: () =>
      withResources(async (resources) => {
        const certificates = await sealCertificates(resources, await configuredChains(resources.config));
        const root = await describeRoot(resources.config);
        const text = certificates.map((one) => `${one.sha256}  ${one.subject}  ${stateOf(one)}`);
        if (root) text.push(`${root.sha256}  ${root.subject}  root until ${root.notAfter.slice(0, 10)}, ${root.file}`);
        return { json: { certificates, root }, text: text.join("\n") };
      }),
  }),
  defineVerb({
    name: "seal rotate",
    args: [],
    options: { test: { type: "boolean", help: "The seal of tests in place of the live one." } },
    summary: "Makes a new seal key with its certificate, for a key in a file; every node seals with it once restarted.",
    run: (_args, { test }) =>
      withResources(async (resources) => {
        const { config, clock } = resources;
        const environment = test === true ? "test" : "live";
        const before = await configuredChain(config, environment);
        await recordChain(resources, before);
        const { chainPem, ...rotated } = await rotateFileKey(config, clock(), () => randomBytes(16), environment);
        await recordChain(resources, chainPem);
        const next = `Restart every node. Then, to retire the old certificate: bin/signsealship seal retire ${rotated.previousSha256} --reason superseded`;
        return { json: rotated, text: `${lines(rotated)}\n\n${next}` };
      }),
  }),
  defineVerb({
    name: "seal retire",
    args: ["FINGERPRINT"],
    options: {
      reason: { type: "string", required: true, help: "As superseded or key-compromise." },
      at: { type: "string", value: "INSTANT", help: "From when on (ISO 8601); now without it." },
    },
    summary:
      "Retires a seal certificate by its SHA-256: verifiers that read /seal/trust.json refuse its seals by the reason, such as superseded or key-compromise.",
    async run([fingerprint = ""], values) {
      const reason = values.reason;
      if (reason === undefined) throw new UsageError("seal retire needs --reason");
      const asked = askedInstant(values.at);
      return withResources(async (resources) => {
        const at = resources.clock();
        const retiredAt = asked === undefined ? at : new Date(asked);
        const inUse = await configuredChains(resources.config);
        const retired = await retireCertificate(resources, inUse, { fingerprint, retiredAt, reason, at });
        return { json: retired, text: lines(retired) };
      });
    },
  }),
];
