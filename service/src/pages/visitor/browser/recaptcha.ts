// Adds a reCAPTCHA token to a form before it is submitted. If no token arrives within 3 seconds, the form is submitted
// without one.

declare const grecaptcha: {
  ready: (then: () => void) => void;
  execute: (siteKey: string, options: { action: string }) => Promise<string>;
};

const waitMs = 3000;
const api = document.querySelector<HTMLScriptElement>("script[data-recaptcha-api]");
const form = document.querySelector<HTMLFormElement>("form[data-recaptcha-key]");
if (api && form) addTokens(form, loaded(api));

function loaded(script: HTMLScriptElement): Promise<void> {
  const promise = new Promise<void>((resolve, reject) => {
    script.addEventListener("load", () => resolve());
    script.addEventListener("error", reject);
  });
  // Only the submit handler awaits this promise: without this line, an early failure would be an unhandled rejection.
  promise.catch(() => {});
  return promise;
}

function addTokens(form: HTMLFormElement, apiLoaded: Promise<void>): void {
  const { recaptchaKey = "", recaptchaAction = "" } = form.dataset;
  const field = form.elements.namedItem("recaptchaToken") as HTMLInputElement;
  const button = form.querySelector("[type=submit]");
  let waiting = false;

  async function token(): Promise<string> {
    await apiLoaded;
    await new Promise<void>((resolve) => grecaptcha.ready(resolve));
    return grecaptcha.execute(recaptchaKey, { action: recaptchaAction });
  }

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (waiting) return;
    waiting = true;
    button?.setAttribute("aria-busy", "true");
    field.value = await Promise.race([token(), timeOut()]).catch(() => "");
    waiting = false;
    button?.removeAttribute("aria-busy");
    form.submit();
  });
}

const timeOut = () => new Promise<never>((_resolve, reject) => setTimeout(reject, waitMs));
