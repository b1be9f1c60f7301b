import type { Resources } from "../../kernel/resources.ts";
import {
  type OrderEnvelope,
  readOrderEnvelope,
  reissueEnvelope,
  type SigningLinks,
  signingLinks,
  voidEnvelope,
} from "../../signing/envelopes/envelopes.ts";
import { defineVerb, lines, UsageError, type Verb } from "../verb.ts";
import { withResources } from "../with-resources.ts";

type Envelopes = Resources & { reach: { links: SigningLinks } };

const inEnvelopes = <T>(work: (deps: Envelopes) => Promise<T>): Promise<T> =>
  withResources((resources) => {
    const { secrets, config } = resources;
    return work({ ...resources, reach: { links: signingLinks(secrets, config.baseUrl) } });
  });

function envelopeText({ envelope, signers, trail }: OrderEnvelope): string {
  const { id: _, ...facts } = envelope ?? { id: null, outcome: "not opened yet" };
  return [
    lines(facts),
    ...signers.map(
      ({ n, name, email, routing, auth, status, signedAt }) =>
        `signer ${n}: ${name} <${email}>  routing ${routing}  ${auth}  ${status}${signedAt ? `  ${signedAt.toISOString()}` : ""}`,
    ),
    ...trail.map(({ at, event, signer }) => `${at}  ${event}${signer === undefined ? "" : `  signer ${signer}`}`),
  ].join("\n");
}

export const envelopeVerbs: Verb[] = [
  defineVerb({
    name: "envelope show",
    args: ["CODE"],
    options: {},
    summary: "Shows who signs an order, where each of them stands, and what happened to its latest envelope.",
    run: ([code = ""]) =>
      inEnvelopes(async (deps) => {
        const shown = await readOrderEnvelope(deps, code);
        return { json: shown, text: envelopeText(shown) };
      }),
  }),
  defineVerb({
    name: "envelope reissue",
    args: ["CODE"],
    options: {},
    summary: "Sends new signing links, or opens a new envelope where the last one was declined or expired.",
    run: ([code = ""]) =>
      inEnvelopes(async (deps) => {
        const done = await reissueEnvelope(deps, code);
        const text = done.newLinks === null ? "The service opens a new envelope." : `New links: ${done.newLinks}`;
        return { json: done, text };
      }),
  }),
  defineVerb({
    name: "envelope void",
    args: ["CODE"],
    options: { reason: { type: "string", value: "TEXT", required: true, help: "Why, as the signers will read it." } },
    summary: "Takes an open envelope back: nobody can sign it any more, and the order becomes EsignDeclined.",
    run: ([code = ""], values) => {
      const reason = values.reason?.trim();
      if (!reason) throw new UsageError("envelope void needs --reason");
      return inEnvelopes(async (deps) => {
        await voidEnvelope(deps, code, reason);
        return { json: { voided: code }, text: `voided: ${code}` };
      });
    },
  }),
];
