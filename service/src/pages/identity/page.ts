import { type AskedQuiz, kindsOf, type OpenedCheck } from "../../signing/notaries/notaries.ts";
import type { Assets } from "../ui/assets/assets.ts";
import { clientFrame } from "../ui/client-frame.ts";
import { card, notice, pageHead } from "../ui/components.ts";
import { field, radios } from "../ui/forms/fields.ts";
import { layout } from "../ui/layout.ts";
import { type Html, html } from "../ui/render.ts";
import { linkFor, type Reader } from "../ui/words/reader.ts";
import { type IdentityWords, identityWords } from "./words.ts";

export type IdentityPageView = {
  token: string;
  opened: OpenedCheck;
  now: Date;
  reader: Reader;
  /**
   * The URL of the provider's page. Set only in the response to the form that begins the check of an identity document.
   */
  goTo?: string;
  quiz?: AskedQuiz;
  error?: string;
};

/** The page on which a person proves their identity: by an identity document, by questions, or by both. */
export function identityPage(assets: Pick<Assets, "url">, view: IdentityPageView): string {
  const words = identityWords[view.reader.words.language];
  const { name, notaryName, order } = view.opened;
  const body = html`<div class="stack">
${order.environment === "test" && notice("attention", words.test, "")}
${pageHead(words.title, words.lead(name, notaryName))}
${view.error && html`<div class="form-errors" role="alert" tabindex="-1" autofocus><p class="form-errors-title">${words.errors.title}</p><p>${view.error}</p></div>`}
<div class="panels">${bodyOf(view, words)}</div>
<p class="hint">${words.other(notaryName)}</p>
</div>`;
  const frame = clientFrame(view.reader.words);
  // The response to a form has no links to other languages, because following such a link would lose the form's result.
  const isAnswer = view.goTo !== undefined || view.quiz !== undefined || view.error !== undefined;
  return layout(assets, { ...frame, ...(isAnswer && { headerNav: html`` }), unlisted: true, title: words.title, body });
}

/**
 * The page to which the provider redirects people after their check. The provider must not see the person's link, so
 * this URL doesn't contain it.
 */
export function backPage(assets: Pick<Assets, "url">, { words }: Reader): string {
  const { title, back } = identityWords[words.language];
  const body = html`<div class="message"><h1>${title}</h1><p>${back}</p></div>`;
  return layout(assets, { ...clientFrame(words), unlisted: true, title, body });
}

function bodyOf(view: IdentityPageView, words: IdentityWords): Html | Html[] {
  const { check } = view.opened;
  if (view.quiz) return card("quiz", words.questions.title, quizForm(view, view.quiz, words));
  if (check.state === "passed") return notice("info", words.passed.title, words.passed.text);
  if (check.state !== "asked" || check.expiresAt <= view.now)
    return notice("stopped", words.closed.title, words.closed.text);
  return kindsOf(check).map((kind) =>
    kind === "credential"
      ? card("credential", words.credential.title, credentialPart(view, words))
      : card("questions", words.questions.title, questionsPart(view, words)),
  );
}

const statesOf = ({ opened: { proofs } }: IdentityPageView, kind: "credential" | "questions") =>
  proofs.filter((proof) => proof.kind === kind).map(({ state }) => state);

const actionOf = ({ token, reader }: IdentityPageView, verb: string): string =>
  linkFor(reader, `/identity/${token}/${verb}`);

function credentialPart(view: IdentityPageView, { credential }: IdentityWords): Html {
  const states = statesOf(view, "credential");
  if (states.includes("passed")) return html`<p role="status">${credential.passed}</p>`;
  if (view.goTo)
    return html`<p role="status">${credential.ready}</p><p><a class="button" href="${view.goTo}" rel="noreferrer">${credential.goOn}</a></p>`;
  const last = states.at(-1);
  const comparesFaces = view.opened.check.needs.includes("biometric");
  return html`${last === "begun" && html`<p role="status">${credential.looking}</p>`}
${(last === "failed" || last === "inconclusive") && notice("attention", credential.again, "")}
<p>${credential.text}</p>
${comparesFaces && html`<p>${credential.faces}</p>`}
<form method="post" action="${actionOf(view, "credential")}"><button type="submit">${credential.begin}</button></form>`;
}

function questionsPart(view: IdentityPageView, { questions }: IdentityWords): Html {
  const states = statesOf(view, "questions");
  if (states.includes("passed")) return html`<p role="status">${questions.passed}</p>`;
  const { quiz } = view.opened.check;
  return html`${states.at(-1) === "failed" && notice("attention", questions.failed, "")}
<p>${questions.text(quiz?.questions ?? 0, quiz?.seconds ?? 0)}</p>
<form class="form" method="post" action="${actionOf(view, "questions")}">
${field({ name: "address", label: questions.address, required: true, maxLength: 300, autocomplete: "street-address" })}
${field({ name: "birth", label: questions.birth, type: "date", required: true, autocomplete: "bday" })}
<div class="form-actions"><button type="submit">${questions.begin}</button></div></form>`;
}

function quizForm(view: IdentityPageView, { proofId, questions, seconds }: AskedQuiz, words: IdentityWords): Html {
  return html`<p role="status">${words.questions.running(seconds)}</p>
<form class="form" method="post" action="${actionOf(view, "answers")}"><input type="hidden" name="quiz" value="${proofId}">
${questions.map(({ text, choices }, index) =>
  radios({
    name: `answer_${index + 1}`,
    label: text,
    required: true,
    options: choices.map((label, value) => ({ value: String(value), label })),
  }),
)}
<div class="form-actions"><button type="submit">${words.questions.send}</button></div></form>`;
}
