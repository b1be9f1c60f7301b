// Expressions that run in the page.

/** The contrast of every mark in a chart with each color next to the mark: `{ mark, ratio }`. */
export const contrastOfMarks = `(() => {
  const channels = (color) => color.match(/[\\d.]+/g).slice(0, 3).map((part) => Number(part) / 255);
  const luminance = (color) => channels(color)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    .reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
  const ratio = (one, other) => {
    const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const sheet = getComputedStyle(document.querySelector(".card")).backgroundColor;
  const ground = getComputedStyle(document.querySelector(".ground")).fill;
  return [...document.querySelectorAll(".mark, .hollow, .filled, .axis")].flatMap((mark) => {
    const { fill, stroke } = getComputedStyle(mark);
    const own = mark.matches(".hollow, .axis") ? stroke : fill;
    const beside = mark.matches(".mark") ? [sheet, ground] : [sheet];
    if (mark.matches(".filled")) beside.push(getComputedStyle(document.querySelector(".hollow")).fill);
    return beside.map((other) => ({ mark: mark.getAttribute("class"), ratio: ratio(own, other) }));
  });
})()`;

/**
 * Texts of charts that are smaller than 11 pixels, cut off, or on top of other texts. Also texts of tables, key numbers
 * and window links that are cut off at the sides.
 */
export const troublesOfWords = `(() => {
  const found = [];
  const boxOf = (node) => { const range = document.createRange(); range.selectNodeContents(node); return range.getBoundingClientRect(); };
  for (const svg of document.querySelectorAll(".chart")) {
    const edge = svg.getBoundingClientRect();
    const words = [...svg.querySelectorAll("text")].filter((text) => text.getClientRects().length > 0);
    const boxes = words.map((text) => text.getBoundingClientRect());
    words.forEach((text, at) => {
      const box = boxes[at];
      const said = text.textContent;
      if (parseFloat(getComputedStyle(text).fontSize) < 11) found.push(["small", said]);
      if (box.left < edge.left - 1 || box.right > edge.right + 1 || box.top < edge.top || box.bottom > edge.bottom) found.push(["cut off", said]);
      boxes.slice(at + 1).forEach((other, after) => {
        const apart = box.right <= other.left || other.right <= box.left || box.bottom - 3 <= other.top || other.bottom - 3 <= box.top;
        if (!apart) found.push(["overlap", said, words[at + 1 + after].textContent]);
      });
    });
  }
  for (const inner of document.querySelectorAll(".key-numbers dd, .key-numbers dt, .numbers td, .numbers th, .windows a")) {
    const box = boxOf(inner);
    const edge = inner.closest(".key-numbers, .card, .windows").getBoundingClientRect();
    if (box.left < edge.left || box.right > edge.right) found.push(["cut off", inner.textContent]);
  }
  return found;
})()`;
