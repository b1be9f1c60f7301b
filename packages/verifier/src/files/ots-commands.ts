import { quoted } from "./shell.ts";

/**
 * Commands of the OpenTimestamps client. Lines that begin with `#` state the requirements of a command.
 *
 * @param about the file or digest that the proof covers, as `ots verify` accepts it
 */
export function otsCommands(proof: string, about: string): { info: string; bitcoin: string; pending: string } {
  const path = quoted(proof);
  return {
    info: `ots info ${path}`,
    bitcoin: [
      "# shows the merkle root of the block that it claims, to compare with the block's header",
      `ots info ${path}`,
      "# needs a Bitcoin Core node of your own, or one named by --bitcoin-node URL before `verify`",
      `ots verify ${about} ${path}`,
    ].join("\n"),
    pending: [
      "# on a copy, because it replaces the file it is given (and keeps the old one as .bak);",
      "# a calendar that is not a public one must be allowed: ots -l URL upgrade",
      `cp ${path} upgraded.ots`,
      "ots upgrade upgraded.ots",
    ].join("\n"),
  };
}
