// Makes forms with `data-passkey` ask the browser for a passkey before they are sent. With `data-passkey="add"`, the
// browser creates a passkey; with `show`, it uses an existing one. The options for the browser come from the URL in
// `data-options`. The browser's answer is written to the input with `data-passkey-answer`.
type Options = { problem: string } | { options: unknown } | { ask: true };

const problems: Readonly<Record<string, string>> = {
  NotAllowedError: "No passkey came from your browser or device. Try again.",
  InvalidStateError: "This device has a passkey for you already.",
  SecurityError: "Passkeys do not work at this address. Open the page by the link in our emails.",
};
const unknownProblem = "Your browser cannot do this with a passkey.";

for (const form of document.querySelectorAll<HTMLFormElement>("form[data-passkey]"))
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void sendWith(form);
  });

async function sendWith(form: HTMLFormElement): Promise<void> {
  const field = form.querySelector<HTMLInputElement>("input[data-passkey-answer]");
  const button = form.querySelector("button");
  if (!field || !button) return;
  say(form, "");
  button.disabled = true;
  try {
    const found = await optionsOf(form);
    // With `ask`, the service first requires a recent proof of identity. The response to the submitted form is the page
    // that asks for it.
    if ("ask" in found) return form.submit();
    if ("problem" in found) return say(form, found.problem);
    field.value = JSON.stringify(await answerTo(form, found.options));
    form.submit();
  } catch (error) {
    say(form, (error instanceof Error && problems[error.name]) || unknownProblem);
  } finally {
    button.disabled = false;
  }
}

async function optionsOf(form: HTMLFormElement): Promise<Options> {
  const answer = await fetch(form.dataset["options"] ?? "", {
    method: "POST",
    headers: { Accept: "application/json" },
  });
  if (answer.ok) return { options: await answer.json() };
  if (answer.status === 401 || answer.status === 403) return { ask: true };
  return { problem: ((await answer.json()) as { error?: string }).error ?? unknownProblem };
}

async function answerTo(form: HTMLFormElement, options: unknown): Promise<unknown> {
  const credential =
    form.dataset["passkey"] === "add"
      ? await navigator.credentials.create({
          publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(
            options as PublicKeyCredentialCreationOptionsJSON,
          ),
        })
      : await navigator.credentials.get({
          publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options as PublicKeyCredentialRequestOptionsJSON),
        });
  return (credential as PublicKeyCredential).toJSON();
}

function say(form: HTMLFormElement, text: string): void {
  const place = form.querySelector<HTMLElement>("[data-passkey-problem]");
  if (!place) return;
  place.textContent = text;
  place.hidden = text === "";
}
