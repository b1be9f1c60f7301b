import type { Words } from "../en/en.ts";

export const components: Words["components"] = {
  steps: {
    done: "Tapos na",
    current: "Ginagawa",
    attention: "Kailangang asikasuhin",
    stopped: "Itinigil",
    upcoming: "Mamaya",
  },
  money: {
    item: "Bagay",
    amount: "Halaga",
    subtotal: "Bahagyang kabuuan",
    discount: "Diskuwento ng kompanya",
    total: "Kabuuan",
  },
  copy: { go: "Kopyahin", done: "Nakopya", what: (what) => `Kopyahin ang ${what}` },
  paper: {
    page: "Ang pahinang ito, kasama ang lahat ng maaaring suriin",
    qr: "QR code ng address ng pahinang ito",
    printed: "Inilimbag noong",
  },
};
