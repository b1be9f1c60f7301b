import type { Drawn } from "../drawn.ts";

const svg = "http://www.w3.org/2000/svg";
const nearest = 3;

const pathOf = (strokes: Drawn["strokes"]): string =>
  strokes.map(([first, ...rest]) => (first ? `M${first}L${rest.length > 0 ? rest.join(" ") : first}` : "")).join("");

/** A picture of a drawn signature, as large as its container. */
export function drawnPicture({ width, height, strokes }: Drawn): SVGSVGElement {
  const picture = document.createElementNS(svg, "svg");
  picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
  // Scales the drawing as the signed PDF does: as large as the space allows, aligned left.
  picture.setAttribute("preserveAspectRatio", "xMinYMid");
  picture.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(svg, "path");
  for (const [name, value] of Object.entries({
    d: pathOf(strokes),
    fill: "none",
    stroke: "#10307a",
    "stroke-width": "4",
    "stroke-linecap": "round",
    "stroke-linejoin": "round",
  }))
    path.setAttribute(name, value);
  picture.append(path);
  return picture;
}

/**
 * Creates an area in which the signer draws. Strokes are stored in units of the area, not in pixels, so the drawing
 * survives a rotation of the phone.
 */
export function drawingPad(initial: Drawn | null): {
  element: SVGSVGElement;
  drawn: () => Drawn | null;
  clear: () => void;
} {
  const { width, height } = initial ?? { width: 600, height: 200 };
  const strokes: [number, number][][] = initial?.strokes.map((stroke) => stroke.map(([x, y]) => [x, y])) ?? [];
  const element = drawnPicture({ width, height, strokes });
  element.classList.add("sheet-drawing");
  const show = () => element.querySelector("path")?.setAttribute("d", pathOf(strokes));
  const at = ({ clientX, clientY }: PointerEvent): [number, number] => {
    const { left, top, width: across, height: down } = element.getBoundingClientRect();
    const inside = (value: number, max: number) => Math.round(Math.min(Math.max(value, 0), max));
    return [inside(((clientX - left) / across) * width, width), inside(((clientY - top) / down) * height, height)];
  };
  let stroke: [number, number][] | null = null;
  element.addEventListener("pointerdown", (event) => {
    if (!event.isPrimary || event.button !== 0) return;
    event.preventDefault();
    element.setPointerCapture(event.pointerId);
    stroke = [at(event)];
    strokes.push(stroke);
    show();
  });
  element.addEventListener("pointermove", (event) => {
    if (!stroke || !event.isPrimary) return;
    for (const one of event.getCoalescedEvents?.() ?? [event]) {
      const [x, y] = at(one);
      const [lastX, lastY] = stroke.at(-1) ?? [x, y];
      if (Math.hypot(x - lastX, y - lastY) >= nearest) stroke.push([x, y]);
    }
    show();
  });
  for (const end of ["pointerup", "pointercancel"] as const)
    element.addEventListener(end, () => {
      stroke = null;
    });
  return {
    element,
    drawn: () => (strokes.length > 0 ? { width, height, strokes } : null),
    clear() {
      strokes.length = 0;
      show();
    },
  };
}
