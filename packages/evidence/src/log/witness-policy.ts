import { EvidenceError } from "../errors.ts";
import { type NoteKey, parseNoteKey, parseWitnessKey } from "./note.ts";

/** A witness in a policy. `url` is where logs request its cosignatures; null when the policy states none. */
export type Witness = { readonly name: string; readonly key: NoteKey; readonly url: string | null };

/** A group of witnesses and other groups. A group has cosigned if at least `threshold` of its members have cosigned. */
type Group = { readonly threshold: number; readonly members: readonly string[] };

/** The logs and witnesses that a reader trusts, and how many witnesses are required: C2SP tlog-policy. */
export type WitnessPolicy = {
  /** Keys of logs, as `NAME+ID+BASE64`. */
  readonly logs: readonly string[];
  readonly witnesses: readonly Witness[];
  readonly groups: ReadonlyMap<string, Group>;
  /** The name of the witness or group that must have cosigned; `none` when no witness is required. */
  readonly quorum: string;
};

const max = 32;
const maxPolicyBytes = 64 * 1024;

/**
 * Parses a policy. A line may name only members that earlier lines define, so groups can't contain each other.
 * @throws EvidenceError `log` or `limit`, with the broken rule and, for most rules, the number of the faulty line
 */
export async function parseWitnessPolicy(text: string): Promise<WitnessPolicy> {
  if (text.length > maxPolicyBytes) throw new EvidenceError("limit", `a policy is at most ${maxPolicyBytes} bytes`);
  const logs = new Map<string, string>();
  const witnesses = new Map<string, Witness>();
  const groups = new Map<string, Group>();
  const members = new Set<string>();
  let quorum: string | null = null;
  const isNamed = (name: string) => witnesses.has(name) || groups.has(name);

  const define = (name = ""): string => {
    if (name === "none" || isNamed(name)) throw refusal(`the name ${name} is taken`);
    return name;
  };
  const member = (name: string): string => {
    if (!isNamed(name)) throw refusal(`${name} is not the name of a witness or group above`);
    if (members.has(name)) throw refusal(`${name} is a member of a group already`);
    members.add(name);
    return name;
  };
  const readers: Readonly<Record<string, (words: string[]) => Promise<void> | void>> = {
    async log([key = "", ...more]) {
      if (more.length > 1) throw refusal("a log has a key, and may have an address");
      addKey(logs, await parseNoteKey(key), key);
    },
    async witness([name, key = "", url = null, ...more]) {
      if (more.length > 0) throw refusal("a witness has a name and a key, and may have an address");
      const witness = { name: define(name), key: await parseWitnessKey(key), url };
      if ([...witnesses.values()].some((other) => String(other.key.publicKey) === String(witness.key.publicKey)))
        throw refusal("two witnesses have one key");
      witnesses.set(witness.name, witness);
    },
    group([name, threshold = "", ...names]) {
      if (names.length === 0) throw refusal("a group has a name, a number and members");
      const group = { threshold: thresholdOf(threshold, names.length), members: names.map(member) };
      groups.set(define(name), group);
    },
    quorum([name = "", ...more]) {
      if (quorum !== null || more.length > 0) throw refusal("a policy has one quorum, which is one name");
      if (name !== "none" && !isNamed(name)) throw refusal(`${name} is not the name of a witness or group above`);
      quorum = name;
    },
  };

  for (const [i, line] of linesOf(text).entries()) {
    const [word, ...words] = line.split(/[ \t]+/).filter((part) => part !== "");
    if (word === undefined || word.startsWith("#")) continue;
    const read = Object.hasOwn(readers, word) ? readers[word] : undefined;
    try {
      if (!read) throw refusal("a line begins with log, witness, group or quorum");
      await read(words);
    } catch (error) {
      if (!(error instanceof EvidenceError)) throw error;
      throw new EvidenceError(error.code, `line ${i + 1} of the policy: ${error.message}`);
    }
    if (Math.max(logs.size, witnesses.size, groups.size) > max)
      throw new EvidenceError("limit", `a policy has at most ${max} logs, witnesses and groups each`);
  }
  if (quorum === null) throw refusal("the policy has no quorum");
  return { logs: [...logs.values()], witnesses: [...witnesses.values()], groups, quorum };
}

const refusal = (why: string): EvidenceError => new EvidenceError("log", why);

function linesOf(text: string): string[] {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the format forbids them
  if (/[\x00-\x08\x0b-\x1f\x7f]/.test(text))
    throw refusal("a policy has no control characters but tabs and line feeds");
  if (!text.endsWith("\n")) throw refusal("the last line of a policy ends with a line feed");
  return text.slice(0, -1).split("\n");
}

function addKey(keys: Map<string, string>, { publicKey }: NoteKey, text: string): void {
  if (keys.has(String(publicKey))) throw refusal("two logs have one key");
  keys.set(String(publicKey), text);
}

function thresholdOf(text: string, count: number): number {
  if (text === "any") return 1;
  if (text === "all") return count;
  const threshold = /^[1-9]\d?$/.test(text) ? Number(text) : 0;
  if (threshold < 1 || threshold > count) throw refusal(`a group of ${count} wants any, all or 1 to ${count} of them`);
  return threshold;
}

/**
 * True if enough witnesses cosigned.
 * @param cosigned names of the policy's witnesses
 */
export function hasQuorum({ groups, quorum }: WitnessPolicy, cosigned: ReadonlySet<string>): boolean {
  const isWitnessed = (name: string): boolean => {
    const group = groups.get(name);
    return group ? group.members.filter(isWitnessed).length >= group.threshold : cosigned.has(name);
  };
  return quorum === "none" || isWitnessed(quorum);
}
