import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseCheckpoint, verifyConsistency } from "@signsealship/evidence/log";
import type { NamedCheckpoint } from "./compared-files.ts";
import { type Fork, formatFork, isSignedBy } from "./fork-proof.ts";
import { LogBroken, type PublishedTree } from "./published-log.ts";

/**
 * Collects the findings of a monitor about a log. `sentences` describe dishonest behavior, such as a changed history.
 */
export class Findings {
  readonly sentences: string[] = [];
  /** Sentences about promises that the log did not keep in time. They do not prove that the log changed its history. */
  readonly missing: string[] = [];
  /** Sentences about facts that the reader should see but that are not faults. */
  readonly notes: string[] = [];
  /**
   * Sentences about checkpoints, mostly of given files, that the log's key did not sign. They are not findings about
   * the log.
   */
  readonly ofFiles: string[] = [];
  private readonly forks: { readonly fork: Fork; readonly size: number }[] = [];

  get isWrong(): boolean {
    return this.sentences.length > 0;
  }

  /** Runs one step of a check. If the step throws `LogBroken`, adds its sentence to the findings and returns null. */
  async during<Result>(work: () => Promise<Result>): Promise<Result | null> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof LogBroken)) throw error;
      this.sentences.push(error.message);
      return null;
    }
  }

  /**
   * Requires that the published tree begins with the tree of a given checkpoint. If it does not, adds a finding. Unless
   * the checkpoint is larger than the tree, also adds a fork. If the key did not sign the checkpoint, adds only a
   * sentence to `ofFiles`.
   * @returns whether the key signed the checkpoint
   * @throws LogBroken for missing or contradicting tiles; EvidenceError for a text that is not a checkpoint or a key
   */
  async compareCheckpoint(tree: PublishedTree, { name, note }: NamedCheckpoint, key: string): Promise<boolean> {
    const { signed, size: newSize, root } = tree.checkpoint;
    const other = parseCheckpoint(note);
    const { size, root: oldRoot } = other;
    if (!(await isSignedBy(other, key))) {
      this.ofFiles.push(`The key did not sign the checkpoint of ${name}: it proves nothing about the log.`);
      return false;
    }
    if (size > newSize) {
      this.sentences.push(`The log shows ${newSize} entries, and ${name} is signed for ${size}.`);
      return true;
    }
    const proof = size === newSize ? [] : await tree.consistencyFrom(size);
    const states = { oldSize: size, size: newSize, root, proof };
    if (await verifyConsistency({ ...states, oldRoot })) return true;
    const rootInNewer = size === newSize ? root : await tree.rootAt(size);
    if (!(await verifyConsistency({ ...states, oldRoot: rootInNewer })))
      throw new LogBroken("The tiles do not lead to the root that the log signed.");
    this.sentences.push(`The log does not begin with the ${size} entries of ${name}: it has two histories.`);
    this.forks.push({ fork: { older: note, newer: signed, rootInNewer, proof }, size });
    return true;
  }

  /**
   * Writes the proof of the first fork that was found to `fork-SIZE.txt`.
   * @returns the file's path; null without a fork
   */
  async writeFork(folder: string): Promise<string | null> {
    const [first] = this.forks;
    if (!first) return null;
    const path = join(folder, `fork-${first.size}.txt`);
    await mkdir(folder, { recursive: true });
    await writeFile(path, formatFork(first.fork));
    return path;
  }
}
