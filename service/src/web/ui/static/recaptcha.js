// Adds a token of reCAPTCHA to the form that asks for one; without a token in time the form is sent as it is.
const waitMs = 3000;
const api = document.querySelector("script[data-recaptcha-api]");
const form = document.querySelector("form[data-recaptcha-key]");

const loaded = new Promise((resolve, reject) => {
  api.addEventListener("load", resolve);
  api.addEventListener("error", reject);
});
loaded.catch(() => {});

async function token({ recaptchaKey, recaptchaAction }) {
  await loaded;
  await new Promise((resolve) => grecaptcha.ready(resolve));
  return grecaptcha.execute(recaptchaKey, { action: recaptchaAction });
}

const tooLate = () => new Promise((_resolve, reject) => setTimeout(reject, waitMs));

let waiting = false;
form.addEventListener("submit", async (event) => {
  event.preventDefault();
  if (waiting) return;
  waiting = true;
  const button = form.querySelector("[type=submit]");
  button.setAttribute("aria-busy", "true");
  try {
    form.elements.recaptchaToken.value = String(await Promise.race([token(form.dataset), tooLate()]));
  } catch {
    form.elements.recaptchaToken.value = "";
  }
  waiting = false;
  button.removeAttribute("aria-busy");
  form.submit();
});
