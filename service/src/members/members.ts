export { operatorSessionSeconds, sessionSeconds, signOut } from "./sessions/sessions.ts";
export { clearCookie, cookieNames, cookieOf, newToken, setCookie } from "./sessions/tokens.ts";
export {
  askForLink,
  linkSeconds,
  lookAtLink,
  makeOperatorLink,
  returnPath,
  type SignInDeps,
  useLink,
} from "./sign-in/sign-in.ts";
