import { runCommand } from "./run-verb.ts";
import { command } from "./verbs.ts";

const { code, stdout, stderr } = await runCommand(command, process.argv.slice(2));
process.stdout.write(stdout);
process.stderr.write(stderr);
process.exitCode = code;
