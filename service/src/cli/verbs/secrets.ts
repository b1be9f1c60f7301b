import { rotateSecrets, underKeyText } from "../../upkeep/secrets-rotation/secrets-rotation.ts";
import { defineVerb, type Verb } from "../verb.ts";
import { withResources } from "../with-resources.ts";

export const secretsVerbs: Verb[] = [
  defineVerb({
    name: "secrets rotate",
    args: [],
    options: {},
    summary:
      "Moves rows, secrets and documents from the keys of SECRETS_KEYS_OLD to the key of SECRETS_KEY. The service may run meanwhile. If the command is interrupted, run it again.",
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
