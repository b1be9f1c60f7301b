import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Service } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";

/** Every mail to an email address, the newest first. */
export function mailsTo(service: Service, email: string): string[] {
  const outbox = join(service.dataDir, "outbox");
  if (!existsSync(outbox)) return [];
  return readdirSync(outbox)
    .map((name) => join(outbox, name))
    .filter((file) => file.endsWith(".eml"))
    .sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs)
    .map((file) => readFileSync(file, "utf8").replaceAll("=\r\n", ""))
    .filter((mail) => mail.includes(`\nTo: ${email}`));
}

/** The paths of every sign-in link that was mailed to an email address, the newest first. */
export const linksTo = (service: Service, email: string): string[] =>
  mailsTo(service, email).flatMap((mail) => /\/sign-in\/[0-9a-f]{40}/.exec(mail)?.[0] ?? []);

/** The paths of the invitations that were mailed to an email address, the newest first. */
export const invitationsTo = (service: Service, email: string): string[] =>
  mailsTo(service, email).flatMap((mail) => /\/invitation\/[0-9a-f]{40}/.exec(mail)?.[0] ?? []);

/** The confirmation codes that were mailed to an email address, the newest first. */
export const codesTo = (service: Service, email: string): string[] =>
  mailsTo(service, email)
    .filter((mail) => mail.includes("Subject: Your confirmation code"))
    .flatMap((mail) => /^\d{6}\r?$/m.exec(mail)?.[0].trim() ?? []);

/** Waits for a confirmation code. @returns the latest one */
export const codeTo = (service: Service, email: string): Promise<string> => until(() => codesTo(service, email)[0]);

/** `name=value` of the cookie that a response sets. */
export const cookieIn = (answer: Response, name: string): string =>
  answer.headers
    .getSetCookie()
    .find((cookie) => cookie.startsWith(`${name}=`))
    ?.split(";")[0] ?? "";

export const postForm = (url: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
  fetch(url, { method: "POST", redirect: "manual", headers, body: new URLSearchParams(fields) });

/** Requests a link as a browser does, with its cookies. @returns the browser's cookie and the path in the mail. */
export async function askForLink(service: Service, email: string, returnTo = "/dashboard", headers = {}) {
  const to = email.toLowerCase();
  const before = new Set(linksTo(service, to));
  const asked = await postForm(`${service.baseUrl}/sign-in`, { email, return_to: returnTo }, headers);
  const path = await until(() => linksTo(service, to).find((each) => !before.has(each)));
  return { asked, browser: cookieIn(asked, "__Host-sign-in"), path };
}

/** Signs in. @returns the response that begins the session, and headers with the session's cookie. */
export async function signIn(service: Service, email: string) {
  const { browser, path } = await askForLink(service, email);
  const answer = await postForm(service.baseUrl + path, {}, { Cookie: browser });
  const cookie = cookieIn(answer, "__Host-session");
  return { answer, cookie, headers: { Cookie: cookie } };
}

/** `POST /api/partner/link` */
export const link = (service: Service, cookie: string, apiKey: unknown, headers: Record<string, string> = {}) =>
  fetch(`${service.baseUrl}/api/partner/link`, {
    method: "POST",
    headers: { Cookie: cookie, "Content-Type": "application/json", ...headers },
    body: JSON.stringify({ apiKey }),
  });

/** Grants live access to all members of a firm, as the operator. */
export async function giveLiveAccess(service: Service, partnerId: string): Promise<void> {
  const { members } = await service.cli<{ members: { userId: string }[] }>("member", "list", partnerId);
  for (const { userId } of members) await service.cli("member", "set", userId, "--live", "on");
}

/** A signed-in member, linked to the key's firm. */
export async function newMember(service: Service, email: string, key: string) {
  const session = await signIn(service, email);
  const linked = await link(service, session.cookie, key);
  if (linked.status !== 200) throw new Error(`linking was answered with ${linked.status}`);
  return {
    ...session,
    linked: (await linked.json()) as { partner: { id: string; name: string; tier: string }; role: string },
  };
}
