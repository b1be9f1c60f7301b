/**
 * Accepts files that are dropped anywhere on the page. Otherwise, the browser would leave the page and open a file that
 * missed the zone.
 */
export function listenForDrops(zone: HTMLElement, onFiles: (files: FileList | undefined) => void): void {
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
    onFiles(event.dataTransfer?.files);
  });
}
