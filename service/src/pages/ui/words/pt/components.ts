import type { Words } from "../en/en.ts";

export const components: Words["components"] = {
  steps: {
    done: "Feito",
    current: "Em andamento",
    attention: "Requer atenção",
    stopped: "Parado",
    upcoming: "Mais tarde",
  },
  money: {
    item: "Descrição",
    amount: "Valor",
    subtotal: "Subtotal",
    discount: "Desconto da empresa",
    total: "Total",
  },
  copy: { go: "Copiar", done: "Copiado", what: (what) => `Copiar ${what}` },
  paper: {
    page: "Esta página, com tudo o que pode ser verificado",
    qr: "Código QR do endereço desta página",
    printed: "Impresso em",
  },
};
