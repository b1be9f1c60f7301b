import { UsageError, type Verb } from "./verb.ts";

type Words = Pick<Verb, "name" | "options" | "values">;

/**
 * Maps the words typed so far to the words that may follow. In an incomplete verb, these are the verb's next words.
 * After a complete verb, they are the values of its first argument, and its flags.
 */
function candidates(verbs: readonly Words[]): ReadonlyMap<string, readonly string[]> {
  const after = new Map<string, Set<string>>();
  const add = (typed: string, next: string) => after.set(typed, (after.get(typed) ?? new Set()).add(next));
  for (const { name, options, values = [] } of verbs) {
    const words = name.split(" ");
    for (const [index, word] of words.entries()) add(words.slice(0, index).join(" "), word);
    for (const value of values) add(name, value);
    for (const flag of [...Object.keys(options), "json", "help"]) add(name, `--${flag}`);
  }
  return new Map([...after].map(([typed, next]) => [typed, [...next]]));
}

/** Pairs of a verb with a flag (`VERB --FLAG`) and the possible values of that flag, separated by spaces. */
const valuesOfFlags = (verbs: readonly Words[]): [string, string][] =>
  verbs.flatMap(({ name, options }) =>
    Object.entries(options).flatMap(([flag, { values }]): [string, string][] =>
      values ? [[`${name} --${flag}`, values.join(" ")]] : [],
    ),
  );

/**
 * The bash script drops typed words from the end until the rest is a verb or the beginning of one. When no verb
 * matches, it completes file names.
 */
const bash = (verbs: readonly Words[]): string => `_signsealship() {
  local typed="\${COMP_WORDS[*]:1:COMP_CWORD-1}" before="\${COMP_WORDS[COMP_CWORD-1]}" next=""
  while :; do
    case "$typed" in
${[...candidates(verbs)].map(([typed, next]) => `      "${typed}") next="${next.join(" ")}"; break ;;`).join("\n")}
    esac
    [[ "$typed" == *" "* ]] || break
    typed="\${typed% *}"
  done
  case "$typed $before" in
${valuesOfFlags(verbs)
  .map(([flag, values]) => `    "${flag}") next="${values}" ;;`)
  .join("\n")}
  esac
  COMPREPLY=($(compgen -W "$next" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _signsealship signsealship bin/signsealship
`;

const zsh = (verbs: readonly Words[]): string => `autoload -U +X bashcompinit && bashcompinit\n${bash(verbs)}`;

/**
 * The fish script defines a function that prints the words that may follow. It uses the same look-up as the bash
 * script.
 */
const fish = (verbs: readonly Words[]): string => `function __signsealship_next
  set -l before (commandline -opc) ""
  set -e before[1]
  set -l typed (string trim -- (string join " " -- $before))
  set -l last (string split " " -- $typed)[-1]
  set -l known
  while true
    switch $typed
${[...candidates(verbs)].map(([typed, next]) => `      case "${typed}"\n        set known ${next.join(" ")}\n        break`).join("\n")}
    end
    string match -q "* *" -- $typed; or break
    set typed (string replace -r ' [^ ]*$' '' -- $typed)
  end
  switch "$typed $last"
${valuesOfFlags(verbs)
  .map(([flag, values]) => `    case "${flag}"\n      set known ${values}`)
  .join("\n")}
  end
  string join \\n -- $known
end
complete -c signsealship -a "(__signsealship_next)"
`;

const shells = { bash, zsh, fish } as const;
const isShell = (name: string): name is keyof typeof shells => Object.hasOwn(shells, name);

/** The script that makes a shell complete verbs and flags. @throws UsageError for an unsupported shell */
export function completionScript(shell: string, verbs: readonly Words[]): string {
  if (!isShell(shell)) throw new UsageError("SHELL must be bash, zsh or fish");
  return shells[shell](verbs).trimEnd();
}
