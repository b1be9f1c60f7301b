// Writes the vectors of the transparency log: bin/run packages/evidence/test/log/make-vectors.ts
import { writeFileSync } from "node:fs";
import { carriedVectors } from "./vectors/carried.ts";
import { fileVectors } from "./vectors/files.ts";
import { retractionVectors } from "./vectors/retractions.ts";
import { signedVectors } from "./vectors/signed.ts";
import { treeVectors } from "./vectors/trees.ts";
import { witnessVectors } from "./vectors/witnesses.ts";

const lines = [
  ...signedVectors,
  ...retractionVectors,
  ...witnessVectors,
  ...treeVectors,
  ...fileVectors,
  ...carriedVectors,
].map((one) => ` ${JSON.stringify(one)}`);
writeFileSync(new URL("../../vectors/log/index.json", import.meta.url), `[\n${lines.join(",\n")}\n]\n`);
