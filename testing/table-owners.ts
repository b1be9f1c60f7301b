import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The features that may read or write a table. A feature is named by its folder below `service/src`. */
export type TableRule = {
  owner: string;
  /** Features that read the table. */
  readers?: string[];
};

export type Ownership = {
  tables: Record<string, TableRule>;
  /** For each feature that reads tables it does not own, the reason. */
  readers: Record<string, string>;
  /** Files that may write to any table, because their callers name the table; each with the reason. */
  anyTable: Record<string, string>;
};

/** One mention of a table in the SQL of a file; `table` is null when an expression names it. */
export type Mention = { file: string; table: string | null; isWrite: boolean };

/** The SQL of one file: the number of `sql` templates, the tables that they name, and statements outside them. */
export type FileSql = { file: string; templates: number; mentions: Mention[]; loose: string[] };

export type SourceFile = { file: string; source: string };

const sourcesBelow = (folder: string, suffix: string): SourceFile[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(suffix))
    .sort()
    .map((file) => ({ file, source: readFileSync(join(folder, file), "utf8") }));

export const sourcesOf = (folder: string): SourceFile[] => sourcesBelow(folder, ".ts");

/** The calls of a source that run SQL. */
export const callsOfDatabase = (source: string): string[] =>
  [...templatesOf(source).rest.matchAll(/\.(?:query|transaction|script)(?:<[^()]*>)?\((?!\))/g)].map(([call]) => call);

export function tablesOf(migrations: string): Set<string> {
  const created = sourcesBelow(migrations, ".sql").flatMap(({ source }) => [
    ...source.matchAll(/^\s*CREATE TABLE (?:IF NOT EXISTS )?(?:public\.)?"?([a-z_0-9]+)/gm),
  ]);
  return new Set(created.map(([, name = ""]) => name));
}

/**
 * The feature of a file: its wing and folder (`orders/order`). The feature is the wing alone for files directly in the
 * wing's folder, and for a wing with a single feature.
 */
export function featureOf(file: string): string {
  const [wing = "", folder = "", ...rest] = file.split("/");
  return wing === "providers" || rest.length === 0 ? wing : `${wing}/${folder}`;
}

export function readSql({ file, source }: SourceFile, tables: ReadonlySet<string>): FileSql {
  const { texts, rest } = templatesOf(source);
  const mentions = texts.flatMap((text) => mentionsIn(text, tables)).map((mention) => ({ file, ...mention }));
  const loose = [...rest.matchAll(/\b(?:INTO|FROM|JOIN|UPDATE|TRUNCATE|TABLE|COPY) (?:ONLY )?"?([a-z_]+)/g)]
    .filter(([, name = ""]) => tables.has(name))
    .map(([text]) => text);
  return { file, templates: texts.length, mentions, loose };
}

// A regular expression begins only where a value may begin; elsewhere `/` is a division.
const beforeRegex = /(?:[(,=:[!&|?{};>]|\breturn)\s*$/;
const regex = /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\//y;
const codeToken = /\/\/[^\n]*|\/\*[\s\S]*?\*\/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|[\s\S]/y;

/** The text of each `sql` template, with `$` for each expression, and the source without these texts and comments. */
function templatesOf(source: string): { texts: string[]; rest: string } {
  const texts: string[] = [];
  const rest: string[] = [];
  code(0, false);
  return { texts, rest: rest.join("") };

  /** Reads code up to the end of the file, or up to the brace that closes an expression of a template. */
  function code(from: number, isExpression: boolean): number {
    let at = from;
    for (let depth = 0; at < source.length; ) {
      const token = tokenAt(at);
      at += token.length;
      if (token === "`") at = template(at);
      else if (token === "}" && isExpression && depth === 0) return at;
      else if (!/^\/[/*]/.test(token)) {
        depth += Number(token === "{") - Number(token === "}");
        rest.push(token);
      }
    }
    return at;
  }

  function tokenAt(at: number): string {
    codeToken.lastIndex = at;
    const [token = ""] = codeToken.exec(source) ?? [];
    if (token !== "/" || !beforeRegex.test(source.slice(Math.max(0, at - 40), at))) return token;
    regex.lastIndex = at;
    return regex.exec(source)?.[0] ?? token;
  }

  function template(from: number): number {
    const isSql = /\bsql`$/.test(source.slice(Math.max(0, from - 9), from));
    let text = "";
    let at = from;
    while (at < source.length && source[at] !== "`") {
      if (source.startsWith("${", at)) {
        text += " $ ";
        at = code(at + 2, true);
      } else {
        const part = source.slice(at, at + (source[at] === "\\" ? 2 : 1));
        text += part;
        at += part.length;
      }
    }
    if (isSql) texts.push(text);
    else rest.push(text);
    return at + 1;
  }
}

const sqlToken = /'(?:[^']|'')*'|"[^"]*"|--[^\n]*|[A-Za-z_]\w*|[^\s]/g;
const endsOfFrom = new Set(
  "WHERE GROUP ORDER HAVING LIMIT UNION EXCEPT INTERSECT RETURNING SET SELECT VALUES WINDOW FOR ;".split(" "),
);
const beforeName = new Set(["ONLY", "LATERAL", "TABLE"]);
/**
 * Words that begin a write, depending on the word before them: `FOR UPDATE` only locks rows, and `DO UPDATE` writes to
 * the table that its INSERT names.
 */
const writes: Record<string, (before: string) => boolean> = {
  INTO: (before) => before === "INSERT" || before === "MERGE",
  FROM: (before) => before === "DELETE",
  UPDATE: (before) => !["FOR", "KEY", "DO", "ON"].includes(before),
  TRUNCATE: () => true,
  COPY: () => true,
};

/**
 * The tables that one template names. A template that begins with a table's name is a fragment that is inserted after
 * `FROM`.
 */
export function mentionsIn(text: string, tables: ReadonlySet<string>): Omit<Mention, "file">[] {
  const tokens = [...text.matchAll(sqlToken)].map(([token]) => token).filter((token) => !token.startsWith("--"));
  const mentions: Omit<Mention, "file">[] = [];
  let expected: "read" | "write" | null = beginsFrom(tokens) ? "read" : null;
  // For each open parenthesis, true if a comma inside it continues a list of tables. The first element is for the text
  // outside all parentheses.
  const lists = [expected !== null];
  tokens.forEach((token, i) => {
    const word = token.toUpperCase();
    const before = tokens[i - 1]?.toUpperCase() ?? "";
    if (beforeName.has(word) && expected) return;
    if (word === "(") {
      lists.push(expected !== null);
    } else if (word === ")") {
      lists.pop();
      expected = null;
    } else if (word === ",") expected = lists.at(-1) ? "read" : null;
    else if (writes[word]?.(before)) expected = "write";
    else if (["FROM", "JOIN", "USING"].includes(word) && before !== "DISTINCT") {
      expected = "read";
      lists[lists.length - 1] = true;
    } else if (endsOfFrom.has(word)) {
      expected = null;
      lists[lists.length - 1] = false;
    } else {
      if (expected && tables.has(token)) mentions.push({ table: token, isWrite: expected === "write" });
      if (expected === "write" && token === "$") mentions.push({ table: null, isWrite: true });
      expected = null;
    }
  });
  return mentions;

  function beginsFrom([, second = "", third = ""]: string[]): boolean {
    return /^$|^\w/.test(second) && !(second.toUpperCase() === "AS" && third.startsWith('"'));
  }
}

/** Lists breaches of the rules, and rules that are no longer needed, as sentences. */
export function breachesOf(files: readonly FileSql[], { tables, readers, anyTable }: Ownership): string[] {
  const breaches: string[] = [];
  const used = new Set<string>();
  for (const { file, templates, mentions, loose } of files) {
    const feature = featureOf(file);
    for (const text of loose) breaches.push(`${file}: "${text}" is not in an sql template`);
    if (templates > 0 && /^(?:pages|cli)\//.test(file)) breaches.push(`${file}: pages and verbs have no SQL`);
    for (const { table, isWrite } of mentions) {
      const rule = table === null ? undefined : tables[table];
      if (table === null) {
        used.add(`anyTable ${file}`);
        if (!anyTable[file]) breaches.push(`${file}: writes a table that an expression names`);
      } else if (!rule) breaches.push(`${file}: the table ${table} has no owner`);
      else if (rule.owner === feature) used.add(`owner ${table}`);
      else if (isWrite) breaches.push(`${file}: writes ${table}, which ${rule.owner} owns`);
      else if (rule.readers?.includes(feature)) used.add(`read ${table} ${feature}`);
      else breaches.push(`${file}: reads ${table}, and ${feature} is not among its readers`);
    }
  }
  return [...new Set([...breaches, ...rulesUnused()])];

  function rulesUnused(): string[] {
    const of = (entry: string, sentence: string) => (used.has(entry) ? [] : [sentence]);
    return [
      ...Object.entries(tables).flatMap(([table, rule]) => [
        ...of(`owner ${table}`, `${table}: its owner ${rule.owner} has no SQL for it`),
        ...(rule.readers ?? []).flatMap((each) => [
          ...of(`read ${table} ${each}`, `${table}: ${each} no longer reads it`),
          ...(readers[each] ? [] : [`${each}: no reason why it reads others' tables`]),
        ]),
      ]),
      ...Object.keys(readers).flatMap((each) =>
        Object.values(tables).some((rule) => rule.readers?.includes(each))
          ? []
          : [`${each}: has a reason, but reads no table of others`],
      ),
      ...Object.keys(anyTable).flatMap((file) =>
        of(`anyTable ${file}`, `${file}: writes no table that its callers name`),
      ),
    ];
  }
}
