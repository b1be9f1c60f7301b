// Updates the preview while the member types, and adds a color picker.
const input = (id: string) => document.getElementById(id) as HTMLInputElement | null;
const [name, color, picker] = [input("field-brandName"), input("field-accentColor"), input("accent-picker")];
const preview = document.querySelector(".brand-preview");
const firm = preview?.querySelector("[data-brand-name]")?.textContent ?? "";

function showColor(): void {
  if (!color || !/^#[0-9a-f]{6}$/i.test(color.value)) return;
  preview?.querySelector("rect")?.setAttribute("fill", color.value);
  if (picker) picker.value = color.value.toLowerCase();
}

picker?.addEventListener("input", () => {
  if (color) color.value = picker.value;
  showColor();
});
color?.addEventListener("input", showColor);
name?.addEventListener("input", () => {
  for (const place of preview?.querySelectorAll("[data-brand-name], .attribution strong") ?? [])
    place.textContent = name.value.trim() || firm;
});
