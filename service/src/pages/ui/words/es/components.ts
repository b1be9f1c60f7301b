import type { Words } from "../en/en.ts";

export const components: Words["components"] = {
  steps: {
    done: "Hecho",
    current: "En curso",
    attention: "Requiere atención",
    stopped: "Detenido",
    upcoming: "Más adelante",
  },
  money: {
    item: "Concepto",
    amount: "Importe",
    subtotal: "Subtotal",
    discount: "Descuento de la empresa",
    total: "Total",
  },
  copy: { go: "Copiar", done: "Copiado", what: (what) => `Copiar ${what}` },
  paper: {
    page: "Esta página, con todo lo que se puede comprobar",
    qr: "Código QR de la dirección de esta página",
    printed: "Impreso el",
  },
};
