// Names of files in the zips of documents (docs/evidence-format.md, section 9.4). The pages that verify in a browser
// use this file as well.

/** True if a file in a zip of documents is only an explanation for readers. */
export const isExplanation = (path: string): boolean =>
  /(?:^|\/)(?:README\.txt|contents\.json|verify\.html)$/.test(path);

const baseName = (name: string): string => name.slice(name.lastIndexOf("/") + 1);

type Named = { readonly name: string };

/**
 * The proofs of each PDF, matched by file name: a proof is named after its PDF. If several PDFs have that name, the
 * proof applies to the PDF in the proof's own folder. If that folder has none, it applies to the PDFs that share the
 * most folders with the proof.
 */
export function proofsByPdf<Pdf extends Named, Proof extends Named>(pdfs: readonly Pdf[], proofs: readonly Proof[]) {
  const named = new Map<string, { pdf: Pdf; path: string }[]>();
  // Equal PDFs were merged and their names joined: `a.pdf = b.pdf`.
  for (const pdf of pdfs)
    for (const path of new Set([pdf.name, ...pdf.name.split(" = ")])) append(named, baseName(path), { pdf, path });
  const found = new Map<Pdf, Proof[]>();
  for (const proof of proofs) {
    const about = /^(.+)\.(?:tlog-proof|ots)$/s.exec(proof.name)?.[1];
    if (about === undefined) continue;
    const candidates = (named.get(baseName(about)) ?? []).map((one) => ({ ...one, near: nearness(one.path, about) }));
    const nearest = candidates.reduce((most, { near }) => Math.max(most, near), 0);
    const owners = new Set(candidates.filter(({ near }) => near === nearest).map(({ pdf }) => pdf));
    for (const pdf of owners) append(found, pdf, proof);
  }
  return found;
}

function append<Key, Value>(lists: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}

/** The number of leading folders that two paths share; infinite for two paths in the same folder. */
function nearness(one: string, other: string): number {
  const [folders, others] = [one, other].map((path) => path.split("/").slice(0, -1));
  if (folders?.join("/") === others?.join("/")) return Number.POSITIVE_INFINITY;
  const differing = folders?.findIndex((folder, i) => folder !== others?.[i]) ?? 0;
  return differing < 0 ? (folders?.length ?? 0) : differing;
}
