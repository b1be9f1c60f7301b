import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { freePort } from "@signsealship/testing/free-port";
import { rowMacOf } from "@signsealship/testing/row-mac";
import { type Statement, ToSeal } from "../../service/src/kernel/platform/database/sql.ts";
import { withMacs } from "../../service/src/kernel/platform/database/state-mac.ts";
import { openSealedTexts } from "../../service/src/kernel/platform/sealed-text.ts";
import { openSecretsKey } from "../../service/src/kernel/platform/secrets.ts";

export type Bare = { port: number; stop: () => Promise<void> };

/** Starts `bare-server.ts` with its settings. */
export async function startBare(settings: object): Promise<Bare> {
  const port = await freePort();
  const script = join(import.meta.dirname, "bare-server.ts");
  const child = spawn(process.execPath, [script, JSON.stringify({ port, ...settings })], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  return {
    port,
    async stop() {
      child.kill();
      await once(child, "exit");
    },
  };
}

/** Placeholder for a code: the bare server replaces it with the code in the request's path. */
export const codeOfPath = "$CODE";

export type PortableStatement = { text: string; values: unknown[] };

/**
 * Converts statements to JSON for the bare server. It has no keys, so the values are already encrypted and have their
 * MACs.
 */
export async function portableFor(dataDir: string): Promise<(statement: Statement) => PortableStatement> {
  const [rowMac, texts] = [await rowMacOf(dataDir), await sealedTextsOf(dataDir)];
  const portable = (value: unknown): unknown => {
    if (Buffer.isBuffer(value)) return `\\x${value.toString("hex")}`;
    if (!(value instanceof ToSeal)) return value;
    const { kind, text, forms } = value;
    if (text === codeOfPath) return forms === "all" ? [text] : text;
    return forms === "all" ? texts.allForms(kind, text) : texts.seal(kind, text);
  };
  return ({ text, values }) => ({ text, values: withMacs(values, rowMac).map(portable) });
}

/** Opens the cipher for codes, with the key of the service that uses this data folder. */
export const sealedTextsOf = async (dataDir: string) =>
  openSealedTexts(await openSecretsKey(`file:${join(dataDir, "keys/secrets")}`));
