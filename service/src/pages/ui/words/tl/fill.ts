import type { Words } from "../en/en.ts";

export const fill: Words["fill"] = {
  test: {
    title: "Isang pansubok na form",
    text: "Walang totoo rito: ang isinusulat mo ay para subukan lamang.",
  },
  lead: (firm: string) =>
    `Hinihiling ng ${firm} na sagutan mo ang form na ito. Magiging bahagi ng isang dokumento ang mga sagot mo.`,
  until: (at: string) =>
    `Nase-save ang mga sagot mo habang nagta-type. Maaari kang tumigil at magpatuloy sa parehong link hanggang ${at}.`,
  step: (at: number, of: number) => `Hakbang ${at} sa ${of}`,
  next: "I-save at magpatuloy",
  back: "Bumalik",
  review: "I-save at suriin ang mga sagot",
  reviewTitle: "Suriin ang mga sagot mo",
  reviewLead: "Ipi-print ang mga ito sa dokumento. Walang ipinapadala bago ka matapos.",
  preview: "Tingnan ang dokumento kasama ang mga sagot mo",
  finish: "Tapusin at gamitin ang dokumentong ito",
  change: "Baguhin",
  none: "Walang sagot",
  yes: "Oo",
  choose: "Pumili",
  optional: "opsyonal",
  forget: "Burahin ang mga sagot ko",
  forgetHint: "Magiging blangko muli ang form.",
  check: "Pakisuri ang form",
  stale: "Nabago ang mga sagot na ito sa ibang window. Suriin ang isinulat mo rito at i-save muli.",
  atMost: (most: number) => `Hindi hihigit sa ${most} karakter.`,
  faults: {
    long: (most: number) => `ay dapat hindi hihigit sa ${most} karakter`,
    room: "ay masyadong mahaba para sa lugar nito sa dokumento",
    characters: "ay may mga karakter na hindi maipi-print",
    option: "ay dapat isa sa mga pagpipilian",
    missing: "ay kailangan",
  },
  done: {
    title: "Salamat",
    text: "Nasa dokumento na ang mga sagot mo, at maaari nang magpatuloy ang kompanya. Maaari mo nang isara ang pahinang ito.",
  },
  download: "I-download ang dokumento",
  goOn: "Magpatuloy",
  over: {
    title: "Sarado na ang form na ito",
    text: "Kinansela ito, o walang nakatapos sa oras. Humingi ng bagong link sa kompanya.",
  },
  saving: "Sine-save…",
  saved: "Na-save na.",
  unsaved: "Hindi na-save. Suriin ang koneksiyon; narito pa ang mga sagot mo.",
};
