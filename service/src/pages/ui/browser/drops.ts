/** Files may be dropped anywhere on the page: outside the zone the browser would leave the page for them. */
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
