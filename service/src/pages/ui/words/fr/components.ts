import type { Words } from "../en/en.ts";

export const components: Words["components"] = {
  steps: {
    done: "Fait",
    current: "En cours",
    attention: "À traiter",
    stopped: "Arrêté",
    upcoming: "Plus tard",
  },
  money: {
    item: "Poste",
    amount: "Montant",
    subtotal: "Sous-total",
    discount: "Remise de l’entreprise",
    total: "Total à payer",
  },
  copy: { go: "Copier", done: "Copié", what: (what) => `Copier ${what}` },
  paper: {
    page: "Cette page, avec tout ce qui peut être vérifié",
    qr: "Code QR de l’adresse de cette page",
    printed: "Imprimé le",
  },
};
