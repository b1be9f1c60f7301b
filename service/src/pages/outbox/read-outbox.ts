import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";

/** A mail of the outbox; `name` is its file's, without the ending. */
export type KeptMail = { name: string; at: Date; to: string; subject: string; text: string; html: string };

const fileName = /^(\d{4}-\d\d-\d\d-[0-9a-f]{16})\.eml$/;
const mostListed = 50;

/** The newest mails, the newest first. */
export async function listOutbox(folder: string): Promise<KeptMail[]> {
  const names = (await readdir(folder).catch(noFolder)).flatMap((file) => fileName.exec(file)?.[1] ?? []);
  const dated = await Promise.all(
    names.map(async (name) => ({ name, at: (await stat(join(folder, `${name}.eml`))).mtimeMs })),
  );
  const newest = dated.sort((a, b) => b.at - a.at).slice(0, mostListed);
  const mails = await Promise.all(newest.map(({ name }) => readOutbox(folder, name)));
  return mails.filter((mail) => mail !== null);
}

/** One mail; null for a name that no mail has. */
export async function readOutbox(folder: string, name: string): Promise<KeptMail | null> {
  if (!fileName.test(`${name}.eml`)) return null;
  const path = join(folder, `${name}.eml`);
  const source = await readFile(path).catch(noFile);
  if (source === null) return null;
  const { default: PostalMime } = await import("postal-mime");
  const { to, subject = "", text = "", html = "" } = await PostalMime.parse(source);
  return { name, at: (await stat(path)).mtime, to: to?.[0]?.address ?? "", subject, text, html };
}

function noFolder(error: NodeJS.ErrnoException): [] {
  if (error.code === "ENOENT") return [];
  throw error;
}

function noFile(error: NodeJS.ErrnoException): null {
  if (error.code === "ENOENT") return null;
  throw error;
}
