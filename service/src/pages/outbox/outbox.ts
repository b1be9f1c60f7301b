import { timingSafeEqual } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { isFromOwnMachine } from "../../kernel/http/own-machine.ts";
import type { RateLimits } from "../../kernel/http/rate-limits.ts";
import { ServiceError } from "../../kernel/platform/errors.ts";
import type { Outbox } from "../../kernel/platform/mail/mail.ts";
import type { Assets } from "../ui/assets/assets.ts";
import { emptyState, facts, pageHead } from "../ui/components.ts";
import { time } from "../ui/format.ts";
import { layout } from "../ui/layout.ts";
import { credentialHeaders } from "../ui/page/headers.ts";
import { pageRoute } from "../ui/page/route.ts";
import { type Html, html } from "../ui/render.ts";

type AssetUrls = Pick<Assets, "url">;

const maxListed = 50;

const lead = `This service sends no mail, because no mail server is set (SMTP_URL). The mails that it would send are here instead, among them the links for clients and signers: the newest ${maxListed}. Only a browser on this machine can open this page, by the address that the service prints when it starts.`;

const outboxPage = (assets: AssetUrls, mails: readonly StoredMail[]): string =>
  layout(assets, {
    title: "Outbox",
    credential: true,
    body: html`${pageHead("Outbox", lead)}
${
  mails.length === 0
    ? emptyState("No mails yet", "Sign in, or place an order, and its mails are listed here.")
    : html`<ul class="mails">${mails.map(({ name, to, subject, at }) => html`<li><a href="${name}">${subject}</a> <span class="quiet">to ${to}, ${time(at)}</span></li>`)}</ul>`
}`,
  });

const links = /(https?:\/\/[^\s<>"]+)/;

/** Turns the URLs in a mail's text into links. */
const linked = (text: string): Html[] =>
  text.split(links).map((part, index) => (index % 2 === 1 ? html`<a href="${part}">${part}</a>` : html`${part}`));

const mailPage = (assets: AssetUrls, { name, to, subject, at, text }: StoredMail): string =>
  layout(assets, {
    title: subject,
    credential: true,
    body: html`<p><a href="./">Outbox</a></p>
<h1>${subject}</h1>
${facts([
  ["To", to],
  ["Written", time(at)],
])}
<div class="mail-text">${linked(text)}</div>
<p><a href="${name}/html">As a mail program shows it</a></p>`,
  });

/** The HTML of a mail is untrusted, so the browser may run no script in it and load nothing for it. */
const mailHeaders = {
  ...credentialHeaders,
  "Content-Security-Policy": "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:",
};

/**
 * Adds the pages that show the mails of an installation without a mail server. The mails contain sign-in links, so only
 * a request from the same machine, with the owner's token in its URL, may read them.
 */
export function outboxRoutes(app: FastifyInstance, deps: { limits: RateLimits; assets: Assets; outbox: Outbox }): void {
  const { assets, outbox } = deps;
  const common = { policy: "page", onRequest: requireOwner(outbox.token), headers: credentialHeaders } as const;

  pageRoute(app, deps, {
    ...common,
    url: "/outbox/:token/",
    handle: async () => outboxPage(assets, await listOutbox(outbox.folder)),
  });
  pageRoute(app, deps, {
    ...common,
    url: "/outbox/:token/:name",
    handle: async ({ params }) => mailPage(assets, await mailOf(outbox, params.name)),
  });
  pageRoute(app, deps, {
    ...common,
    headers: mailHeaders,
    url: "/outbox/:token/:name/html",
    handle: async ({ params }) => (await mailOf(outbox, params.name)).html,
  });
}

const notFound = () => new ServiceError("not_found", "Not found.");

const requireOwner = (token: string) => async (request: FastifyRequest) => {
  const received = Buffer.from((request.params as { token: string }).token);
  const expected = Buffer.from(token);
  const matches = received.length === expected.length && timingSafeEqual(received, expected);
  if (!matches || !isFromOwnMachine(request)) throw notFound();
};

async function mailOf({ folder }: Outbox, name: string) {
  const mail = await readOutbox(folder, name);
  if (mail === null) throw notFound();
  return mail;
}

/** A mail in the outbox; `name` is its file name without the extension. */
type StoredMail = { name: string; at: Date; to: string; subject: string; text: string; html: string };

const fileName = /^(\d{4}-\d\d-\d\d-[0-9a-f]{16})\.eml$/;

/** The newest mails, the newest first. */
async function listOutbox(folder: string): Promise<StoredMail[]> {
  const names = (await readdir(folder).catch(noFolder)).flatMap((file) => fileName.exec(file)?.[1] ?? []);
  const dated = await Promise.all(
    names.map(async (name) => ({ name, at: (await stat(join(folder, `${name}.eml`))).mtimeMs })),
  );
  const newest = dated.sort((a, b) => b.at - a.at).slice(0, maxListed);
  const mails = await Promise.all(newest.map(({ name }) => readOutbox(folder, name)));
  return mails.filter((mail) => mail !== null);
}

/** One mail; null for an unknown name. */
async function readOutbox(folder: string, name: string): Promise<StoredMail | null> {
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
