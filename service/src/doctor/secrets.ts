import { keysThatMayGo, secretsStatus, underKeyText } from "../secrets-rotation/secrets-rotation.ts";
import { type Examined, type Finding, runCheck } from "./finding.ts";

/** What is under which key. Counting reads the start of every document: it is done only while there are old keys. */
export function secretsFinding(resources: Examined): Promise<Finding> {
  return runCheck("secrets key", async () => {
    const { secrets, clock } = resources;
    if (secrets.others.length === 0) return "one key; SECRETS_KEYS_OLD is not set";
    const status = await secretsStatus(resources, clock());
    const used = status.filter(({ rows, values, blobs }) => rows + values + blobs > 0);
    const detail = used.map(underKeyText).join("; ");
    const missing = used.find(({ state }) => state === "missing");
    if (missing) throw new Error(`${detail}: key ${missing.keyId} is in neither SECRETS_KEY nor SECRETS_KEYS_OLD`);
    if (used.some(({ state }) => state !== "current")) {
      return { warning: `${detail}: an old key may go after bin/signsealship secrets rotate` };
    }
    const mayGo = keysThatMayGo(status).map(
      (keyId) => `nothing is under key ${keyId}: it may go from SECRETS_KEYS_OLD`,
    );
    return [detail, ...mayGo].filter(Boolean).join("; ");
  });
}
