import type { Browser, Look, OpenPage } from "@signsealship/testing/browser";
import type { Service } from "@signsealship/testing/service";
import { newMember, signIn } from "../../firms/members/signed-in-member.ts";

/** A browser that is signed in and, with a key, linked to its firm; it is where signing in leads. */
export async function signedIn(
  service: Service,
  browser: Browser,
  { key, email = "dana@harbor-title.com", ...look }: Look & { key?: string; email?: string },
): Promise<OpenPage> {
  const { answer, cookie } = await (key === undefined ? signIn(service, email) : newMember(service, email, key));
  return browser.open(service.baseUrl + answer.headers.get("location"), { ...look, cookie });
}
