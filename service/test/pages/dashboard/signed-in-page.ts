import type { Browser, Look, OpenPage } from "@signsealship/testing/browser";
import type { Service } from "@signsealship/testing/service";
import { newMember, signIn } from "../../firms/members/signed-in-member.ts";

/**
 * Signs in with a browser and, if a key is given, links to the key's firm. @returns the page to which signing in
 * redirects
 */
export async function signedIn(
  service: Service,
  browser: Browser,
  { key, email = "dana@harbor-title.com", ...look }: Look & { key?: string; email?: string },
): Promise<OpenPage> {
  const { answer, cookie } = await (key === undefined ? signIn(service, email) : newMember(service, email, key));
  return browser.open(service.baseUrl + answer.headers.get("location"), { ...look, cookie });
}
