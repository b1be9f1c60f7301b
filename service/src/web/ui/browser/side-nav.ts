/** On a phone the sections are one line that scrolls: the present one is brought into view, before it is shown. */
export function startSideNav(): void {
  addEventListener("DOMContentLoaded", () => {
    const current = document.querySelector<HTMLElement>(".side-nav [aria-current]");
    const line = current?.closest("ul");
    if (!current || !line) return;
    const [shown, all] = [current.getBoundingClientRect(), line.getBoundingClientRect()];
    line.scrollLeft += shown.left + shown.width / 2 - (all.left + all.width / 2);
  });
}
