// Adds a row for a signer without a new page, so that the chosen file stays. Whatever goes wrong, the button does it by itself.
const rowsId = "signer-rows";

document.addEventListener("click", async (event) => {
  const button = event.target instanceof Element ? event.target.closest<HTMLButtonElement>("#add-signer") : null;
  if (!button?.form) return;
  event.preventDefault();
  const { form, formAction } = button;
  const typed = new URLSearchParams();
  for (const [name, value] of new FormData(form)) if (typeof value === "string") typed.append(name, value);
  try {
    const response = await fetch(formAction, { method: "POST", body: typed, headers: { Accept: "text/html" } });
    if (!response.ok) throw new Error(`status ${response.status}`);
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const rows = page.getElementById(rowsId);
    if (!rows) throw new Error("a page without rows");
    document.getElementById(rowsId)?.replaceWith(rows);
    rows.querySelector<HTMLInputElement>("fieldset:last-of-type input")?.focus();
  } catch {
    button.id = "";
    button.click();
  }
});
