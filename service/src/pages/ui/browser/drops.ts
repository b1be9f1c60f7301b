/**
 * Files may be dropped anywhere on the page: without this, a file dropped outside the zone would replace the page in
 * the browser.
 */
export function takeDrops(zone: HTMLElement, take: (files: FileList | undefined) => void): void {
  document.addEventListener("dragover", (event) => {
    event.preventDefault();
    zone.classList.add("over");
  });
  document.addEventListener("dragleave", (event) => {
    if (event.relatedTarget === null) zone.classList.remove("over");
  });
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    zone.classList.remove("over");
    take(event.dataTransfer?.files);
  });
}
