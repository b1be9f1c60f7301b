export { clearCookie, cookieNames, cookieOf, newToken, setCookie } from "./session-tokens.ts";
export { operatorSessionSeconds, sessionSeconds, signOut } from "./sessions.ts";
export {
  askForLink,
  linkSeconds,
  lookAtLink,
  makeOperatorLink,
  returnPath,
  type SignInDeps,
  useLink,
} from "./sign-in.ts";
