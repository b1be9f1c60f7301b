// The choice of a language holds for all samples, on every guide.
const remembered = "signsealship-language";
const choices = () => [...document.querySelectorAll<HTMLInputElement>(".tabs input")];

function choose(language: string): void {
  for (const choice of choices()) if (choice.value === language) choice.checked = true;
}

document.addEventListener("change", ({ target }) => {
  if (!(target instanceof HTMLInputElement) || !target.closest(".tabs")) return;
  const before = target.getBoundingClientRect().top;
  choose(target.value);
  // Samples above may have become longer or shorter.
  scrollBy(0, target.getBoundingClientRect().top - before);
  try {
    localStorage.setItem(remembered, target.value);
  } catch {
    // Storage may be forbidden; then the choice holds for this page.
  }
});

try {
  const language = localStorage.getItem(remembered);
  if (language !== null) choose(language);
} catch {
  // As above.
}

// Until there were guides, the reference was here, and its places were bookmarked.
if (location.pathname === "/docs" && /^#(tag|description|model|webhook)/.test(location.hash))
  location.replace(`/docs/reference${location.hash}`);
