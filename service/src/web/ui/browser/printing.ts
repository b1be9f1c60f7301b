/** Buttons that print, and the date on paper. */
export function startPrinting(): void {
  document.addEventListener("click", ({ target }) => {
    if (target instanceof Element && target.closest("[data-print]")) print();
  });
  addEventListener("beforeprint", sayDate);
  // For readers who are shown the page as it prints.
  addEventListener("DOMContentLoaded", sayDate);
}

function sayDate(): void {
  const printed = document.querySelector<HTMLElement>(".printed-at");
  if (!printed) return;
  const at = new Date().toLocaleString(document.documentElement.lang, { dateStyle: "long", timeStyle: "long" });
  printed.textContent = `${printed.dataset["said"]} ${at}`;
}
