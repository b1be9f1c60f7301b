// Preloaded by a service that must run without the transparency log (`node --import`): no line is queued, nothing is
// numbered or signed, and no seal contains a checkpoint. Only for measurements.
import { registerHooks } from "node:module";

/** For each source file, the code to replace, and its replacement. */
const changes: Record<string, [code: string, replacement: string][]> = {
  "/src/evidence/transparency-log/queue.ts": [
    [
      "const line = formatEntry(entry);\n  return sql`",
      "if (log !== null) return sql`SELECT`;\n  const line = formatEntry(entry);\n  return sql`",
    ],
  ],
  "/src/evidence/transparency-log/sequencer.ts": [
    ["newestSeen: (log) => (halted.has(log) ?", "newestSeen: (log) => (log !== null ?"],
    ["async turn() {", "async turn() {\n      if (deps !== null) return;"],
  ],
};

// Child processes inherit NODE_OPTIONS, which preloads this file. Some run under Node's permission model and can't read
// it, so the variable is removed.
Reflect.deleteProperty(process.env, "NODE_OPTIONS");

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    const wanted = Object.entries(changes).find(([path]) => url.endsWith(path))?.[1];
    if (!wanted) return loaded;
    let source = String(loaded.source);
    for (const [code, replacement] of wanted) {
      if (!source.includes(code)) throw new Error(`${url} does not contain ${code}`);
      source = source.replace(code, () => replacement);
    }
    return { ...loaded, source };
  },
});
