import { rotateSecrets, underKeyText } from "../../upkeep/secrets-rotation/secrets-rotation.ts";
import { defineVerb, type Verb } from "../verb.ts";
import { withResources } from "../with-resources.ts";

export const secretsVerbs: Verb[] = [
  defineVerb({
    name: "secrets rotate",
    args: [],
    options: {},
    summary:
      "Puts rows, secrets and documents under the key of SECRETS_KEY that are under one of SECRETS_KEYS_OLD, beside a running service; cut off, it is run again.",
    run: () =>
      withResources(async (resources) => {
        const done = await rotateSecrets(resources, resources.clock);
        const { rows, values, blobs } = done.rotated;
        const text = [
          `Put under key ${done.keyId}: ${rows} rows, ${values} secrets, ${blobs} documents.`,
          ...done.left.map((one) => `Left ${underKeyText(one)}`),
          ...done.mayGo.map((keyId) => `Key ${keyId} may go: nothing is under it.`),
        ];
        return { json: done, text: text.join("\n"), exitCode: done.left.length === 0 ? 0 : 1 };
      }),
  }),
];
