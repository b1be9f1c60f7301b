// Handles the copy buttons next to hashes and codes. Browsers offer a clipboard only on https pages; elsewhere, the
// button selects the text instead.
document.addEventListener("click", async ({ target }) => {
  const button = target instanceof Element ? target.closest("[data-copy]") : null;
  const text = button?.parentElement?.querySelector("code");
  if (!button || !text) return;
  const label = button.textContent;
  try {
    await navigator.clipboard.writeText(text.textContent);
    button.textContent = button.getAttribute("data-copy");
    setTimeout(() => {
      button.textContent = label;
    }, 2000);
  } catch {
    getSelection()?.selectAllChildren(text);
  }
});
