import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { runCli, temporaryFolder } from "@signsealship/testing/service";
import { needs } from "@signsealship/testing/tools/tools";
import { nearest } from "../../src/kernel/platform/nearest-name.ts";

const cliPath = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));

test("the command line prints its version, the verbs of a group, and suggests the intended verb", async () => {
  assert.match((await runCli({}, "--version")).stdout, /^\d+\.\d+\.\d+\n$/);
  const group = await runCli({}, "partner");
  assert.equal(group.code, 2);
  assert.match(group.stderr, /partner what\? One of\n.*partner create NAME/s);
  const meant = await runCli({}, "partner", "creat");
  assert.match(meant.stderr, /^signsealship: no such verb: partner creat; did you mean partner create\?\n/);
  assert.match((await runCli({}, "verfy", "x.pdf")).stderr, /no such verb: verfy x\.pdf; did you mean verify\?/);
  assert.match((await runCli({}, "xyz")).stderr, /no such verb: xyz; see bin\/signsealship --help\n$/);
});

test("a wrong flag is named, and a command in a folder without an installation creates none there", async () => {
  assert.match((await runCli({}, "--hlp")).stderr, /^signsealship: no such flag: --hlp; see/);
  const elsewhere = temporaryFolder();
  const ended = spawnSync(process.execPath, [cliPath, "partner", "list"], {
    cwd: elsewhere.path,
    env: { PATH: process.env["PATH"], HOME: elsewhere.path },
    encoding: "utf8",
  });
  assert.equal(ended.status, 1);
  assert.match(ended.stderr, /no installation in .*\/var: name its data folder as DATA_DIR/);
  assert.deepEqual(readdirSync(elsewhere.path), []);
  elsewhere.remove();
});

test("a name is close when few of its characters differ", () => {
  const names = ["order list", "order move", "key issue"];
  assert.equal(nearest("ordr list", names), "order list");
  assert.equal(nearest("order mvoe", names), "order move");
  assert.equal(nearest("", names), null);
  assert.equal(nearest("something else", names), null);
});

test("bash completes words, flags of a verb after its arguments, and nothing that is not a verb", async () => {
  const { stdout: script } = await runCli({}, "completion", "bash");
  const completed = (line: string): string[] => {
    const words = ["bin/signsealship", ...line.split(" ")].map((word) => `'${word}'`);
    const ask = `COMP_WORDS=(${words.join(" ")}); COMP_CWORD=${words.length - 1}; _signsealship; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return execFileSync("bash", ["-c", `${script}\n${ask}`], { encoding: "utf8" })
      .split("\n")
      .filter(Boolean);
  };
  assert.deepEqual(completed("par"), ["partner"]);
  assert.deepEqual(completed("partner s"), ["set"]);
  assert.deepEqual(completed("notary rules i"), ["import"]);
  assert.deepEqual(completed("key rotate 1234 --o"), ["--overlap"]);
  assert.deepEqual(completed("nonsense --o"), []);
  assert.deepEqual(completed("key rotate 1234 --overlap 7"), ["72"]);
  assert.deepEqual(completed("order list --test --status Quote"), ["QuoteReady"]);
  assert.deepEqual(completed("trigger pay"), ["payment.cleared"]);
  assert.deepEqual(completed("order find --status Quote"), []);
  const zsh = await runCli({}, "completion", "zsh");
  assert.ok(zsh.stdout.startsWith("autoload -U +X bashcompinit && bashcompinit\n_signsealship() {"));
  const refused = await runCli({}, "completion", "tcsh");
  assert.deepEqual([refused.code, refused.stderr], [2, "signsealship: SHELL must be bash, zsh or fish\n"]);
});

test(
  "fish completes words, flags of a verb after its arguments, and nothing that is not a verb",
  needs("fish"),
  async () => {
    const { stdout: script } = await runCli({}, "completion", "fish");
    // The folder is empty, so the completion offers no file names.
    const { path: cwd, remove } = temporaryFolder();
    const completed = (line: string): string[] =>
      execFileSync("fish", ["--no-config", "-c", `${script}\ncomplete -C 'signsealship ${line}'`], {
        encoding: "utf8",
        cwd,
      })
        .split("\n")
        .filter(Boolean);
    assert.deepEqual(completed("par"), ["partner"]);
    assert.deepEqual(completed("partner s"), ["set"]);
    assert.deepEqual(completed("notary rules i"), ["import"]);
    assert.deepEqual(completed("key rotate 1234 --o"), ["--overlap"]);
    assert.deepEqual(completed("nonsense --o"), []);
    assert.deepEqual(completed("key rotate 1234 --overlap 7"), ["72"]);
    assert.deepEqual(completed("order list --test --status Quote"), ["QuoteReady"]);
    remove();
  },
);

test("the help of a verb describes each of its flags", async () => {
  const { stdout } = await runCli({}, "order", "move", "--help");
  for (const flag of ["release", "document", "carrier", "tracking", "reason", "amount-cents", "label"])
    assert.match(stdout, new RegExp(`^ {2}--${flag} +\\S.*\\.$`, "m"));
});

test("the usage line has each flag: required ones first, a value's word or its few possible values", async () => {
  const usageOf = async (...verb: string[]): Promise<string | undefined> =>
    (await runCli({}, ...verb, "--help")).stdout.split("\n")[1]?.trim();
  assert.equal(await usageOf("key", "rotate"), "bin/signsealship key rotate KEY_ID [--overlap 0|1|24|72]");
  assert.equal(await usageOf("log", "retract"), "bin/signsealship log retract FILE_OR_SHA256 --reason REASON [--test]");
  assert.match(
    (await usageOf("monitor")) ?? "",
    /^bin\/signsealship monitor LOG \[--key KEY\] .*\[--with FILE\]\.\.\. /,
  );
  const { stderr } = await runCli({}, "task", "done");
  assert.equal(stderr, "signsealship: usage: bin/signsealship task done TASK_ID --outcome TEXT\n");
});
