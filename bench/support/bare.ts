import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { freePort } from "@signsealship/testing/free-port";

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

const hexBytes = (values: readonly unknown[]) =>
  values.map((value) => (Buffer.isBuffer(value) ? `\\x${value.toString("hex")}` : value));

/** A statement that can be handed to the bare server as JSON. */
export const portable = ({ text, values }: { text: string; values: readonly unknown[] }) => ({
  text,
  values: hexBytes(values),
});
