import { fileURLToPath } from "node:url";
import type { LogProofInput, verifyLogProof } from "@signsealship/evidence/log";
import { startBrowser } from "@signsealship/testing/browser";
import { build } from "esbuild";

const source = fileURLToPath(new URL("../../packages/evidence/src/log/log.ts", import.meta.url));

/**
 * Checks log proofs in Chromium, with the code that `/verify` and the single-file verifier bundle.
 * @param baseUrl the URL of a running service, because Web Crypto needs a secure origin
 * @returns the milliseconds of each check
 */
export async function checksInBrowser(baseUrl: string, inputs: readonly LogProofInput[]): Promise<number[]> {
  const { outputFiles } = await build({
    entryPoints: [source],
    bundle: true,
    write: false,
    format: "iife",
    globalName: "evidenceLog",
  });
  const browser = await startBrowser();
  try {
    const { page } = await browser.open(`${baseUrl}/log/test/checkpoint`, { width: 1280 });
    await page.evaluate(`${outputFiles[0]?.text ?? ""}; globalThis.evidenceLog = evidenceLog;`);
    return await page.evaluate(
      async (given) => {
        const { evidenceLog } = globalThis as unknown as { evidenceLog: { verifyLogProof: typeof verifyLogProof } };
        const spent: number[] = [];
        for (const { proof, ...input } of given) {
          const from = performance.now();
          const claims = await evidenceLog.verifyLogProof({ ...input, proof: Uint8Array.from(proof) });
          spent.push(performance.now() - from);
          if (claims.some(({ state }) => state !== "holds")) throw new Error("a proof does not hold in the browser");
        }
        return spent;
      },
      inputs.map(({ proof, ...input }) => ({ ...input, proof: [...proof] })),
    );
  } finally {
    await browser.close();
  }
}
