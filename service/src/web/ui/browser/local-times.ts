const long: Intl.DateTimeFormatOptions = {
  year: "numeric",
  month: "long",
  day: "numeric",
  hour: "numeric",
  minute: "2-digit",
  timeZoneName: "short",
};

/** Puts the reader's own time before the UTC of each `localTime`. */
export function showLocalTimes(within: ParentNode): void {
  for (const element of within.querySelectorAll<HTMLTimeElement>("time[data-local]")) {
    delete element.dataset["local"];
    const at = new Date(element.dateTime);
    if (at.getTimezoneOffset() === 0) continue;
    // The day stands once, unless it is another one in UTC.
    const hour = `${at.toISOString().slice(11, 16)} UTC`;
    const utc = at.getDate() === at.getUTCDate() ? hour : element.textContent;
    element.textContent = `${at.toLocaleString("en-US", long)} (${utc})`;
  }
}
