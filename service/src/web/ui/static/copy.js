// Copy buttons beside hashes and codes. Without a secure context there is no clipboard: then the text is selected.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const text = button.parentElement.querySelector("code");
  const label = button.textContent;
  try {
    await navigator.clipboard.writeText(text.textContent);
    button.textContent = "Copied";
    setTimeout(() => {
      button.textContent = label;
    }, 2000);
  } catch {
    getSelection().selectAllChildren(text);
  }
});
