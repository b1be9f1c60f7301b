import { threadId } from "node:worker_threads";

export type OddInput =
  | { do: "echo" }
  | { do: "wait"; ms: number }
  | { do: "loop" }
  | { do: "hoard" }
  | { do: "hoard outside the heap" }
  | { do: "exit" }
  | { do: "exit later" }
  | { do: "throw" };
export type OddOutput = { thread: number; text: string };

/** A task with permitted and forbidden actions. */
export async function run(bytes: Buffer, input: OddInput): Promise<OddOutput> {
  if (input.do === "wait") await new Promise((resolve) => setTimeout(resolve, input.ms));
  if (input.do === "exit") process.exit(3);
  if (input.do === "exit later") setTimeout(() => process.exit(3), 1);
  if (input.do === "throw") throw new RangeError("as the task says");
  const hoard: unknown[] = [];
  while (input.do === "hoard outside the heap") {
    hoard.push(Buffer.alloc(1024 * 1024, 1));
    await new Promise(setImmediate);
  }
  while (input.do === "loop" || input.do === "hoard")
    if (input.do === "hoard") hoard.push({ hoard, with: [hoard.length] });
  return { thread: threadId, text: bytes.toString() };
}
