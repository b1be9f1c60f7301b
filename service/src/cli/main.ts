import { failureOf, runVerb } from "./run-verb.ts";

async function main(argv: string[]): Promise<number> {
  const asJson = argv.includes("--json");
  try {
    const { text, json, exitCode = 0 } = await runVerb(argv);
    if (asJson && json !== undefined) console.log(JSON.stringify(json));
    else if (text) console.log(text);
    return exitCode;
  } catch (error) {
    const { message, isExpected, exitCode } = failureOf(error);
    console.error(`signsealship: ${message}`);
    if (asJson) console.log(JSON.stringify({ error: isExpected ? message : "internal error" }));
    return exitCode;
  }
}

process.exitCode = await main(process.argv.slice(2));
