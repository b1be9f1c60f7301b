// The reader's choice of a programming language applies to all samples of all guides, so the browser stores it under
// this name.
const remembered = "signsealship-language";
const choices = () => [...document.querySelectorAll<HTMLInputElement>(".tabs input")];

function choose(language: string): void {
  for (const choice of choices()) if (choice.value === language) choice.checked = true;
}

document.addEventListener("change", ({ target }) => {
  if (!(target instanceof HTMLInputElement) || !target.closest(".tabs")) return;
  const before = target.getBoundingClientRect().top;
  choose(target.value);
  // Keeps the clicked choice at the same place in the window, because samples above it may have become longer or
  // shorter.
  scrollBy(0, target.getBoundingClientRect().top - before);
  try {
    localStorage.setItem(remembered, target.value);
  } catch {
    // Browsers may forbid storage; then the choice applies to this page only.
  }
});

try {
  const language = localStorage.getItem(remembered);
  if (language !== null) choose(language);
} catch {
  // Browsers may forbid storage.
}

// Earlier releases served the API reference at this URL, so old bookmarks of its sections are redirected.
if (location.pathname === "/docs" && /^#(tag|description|model|webhook)/.test(location.hash))
  location.replace(`/docs/reference${location.hash}`);
