import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { endWithTests } from "@signsealship/testing/reaper";
import { python } from "@signsealship/testing/tools/python";

/** Notaries who sign with their own certificates and with pyHanko, which shares no code with ours. */
export type NotarySoftware = {
  /** The certificates in PEM, by name. */
  certificates: Readonly<Record<string, string>>;
  /** Signs the document in a new visible field; `notes` is written next to it. */
  sign: (pdf: Uint8Array, as: string, notes?: string, place?: NotaryPlace) => Promise<Buffer>;
  close: () => void;
};

/** The places of a notary's additions, in user space of the first page, or the name of the reserved field to sign. */
export type NotaryPlace = { box?: readonly number[]; notesBox?: readonly number[]; field?: string };

/** @param people the first and the last valid day of each person's certificate, such as `2026-01-31` */
export async function openNotarySoftware(
  people: Readonly<Record<string, readonly [string, string]>>,
): Promise<NotarySoftware> {
  const script = fileURLToPath(new URL("notary_software.py", import.meta.url));
  const child = spawn(python, [script], { stdio: ["pipe", "pipe", "inherit"] });
  endWithTests(child);
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  async function ask<T>(request: object): Promise<T> {
    child.stdin.write(`${JSON.stringify(request)}\n`);
    const { value, done } = await answers.next();
    if (done) throw new Error("the notary's software ended");
    return JSON.parse(value) as T;
  }
  const certificates = await ask<Record<string, string>>({ people });
  return {
    certificates,
    async sign(pdf, as, notes, place = {}) {
      const request = { pdf: Buffer.from(pdf).toString("base64"), as, notes, ...place };
      return Buffer.from(await ask<string>(request), "base64");
    },
    close: () => void child.kill(),
  };
}
