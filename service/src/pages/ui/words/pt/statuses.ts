import type { Words } from "../en/en.ts";

const askFirm = "Dúvidas? Pergunte à empresa que fez o pedido. Ela vê tudo o que está nesta página.";
const allPaused = "Nada se perdeu: os documentos e o trabalho feito até aqui são guardados.";

export const statuses: Words["orders"]["statuses"] = {
  Created: {
    headline: "Recebemos seu pedido",
    summary: "Temos o documento e estamos calculando o preço.",
    next: ["Seu orçamento aparecerá nesta página, normalmente em instantes."],
  },
  QuoteReady: {
    headline: "Seu orçamento está pronto",
    summary: "Temos o documento, e tudo tem preço. O trabalho começa quando o pagamento for confirmado.",
    next: ["Confira no orçamento o que foi pedido e pague o total.", "Começamos assim que o pagamento for confirmado."],
  },
  AwaitingPayment: {
    headline: "Aguardando o pagamento",
    summary: "O pagamento ainda não foi confirmado. Alguns bancos levam alguns dias úteis.",
    next: [
      "Se você já pagou, não precisa fazer mais nada. Esta página muda quando o dinheiro chegar.",
      "Se você fechou a página de pagamento ou ela expirou, nada foi cobrado. Você pode abri-la de novo.",
    ],
  },
  Paid: {
    headline: "Pago por completo, obrigado",
    summary: "O pagamento foi confirmado, e estamos começando a trabalhar no documento.",
    next: ["A primeira etapa abaixo começa automaticamente."],
  },
  EsignPending: {
    headline: "O documento foi enviado para assinatura",
    summary: "Cada pessoa é convidada a assinar online quando chega a sua vez.",
    next: ["Cada pessoa lê o documento e o assina.", "A próxima etapa começa quando todos tiverem assinado."],
  },
  EsignComplete: {
    headline: "O documento assinado está selado",
    summary: "A assinatura terminou. O documento está selado: qualquer alteração apareceria.",
    next: ["A próxima etapa começa automaticamente."],
  },
  NotarizationPending: {
    headline: "O documento está com o notário",
    summary: "Um notário verifica a identidade de quem assina e notariza o documento.",
    next: [
      "Se você assina: se houver um horário marcado, compareça a ele com um documento oficial com foto.",
      "A próxima etapa começa quando tivermos o documento notarizado.",
    ],
  },
  NotarizationComplete: {
    headline: "O documento está notarizado",
    summary: "O notário selou o documento, e nós o guardamos.",
    next: ["A próxima etapa começa automaticamente."],
  },
  ShippingPending: {
    headline: "Seu envio está sendo preparado",
    summary: "Estamos entregando o documento pronto à transportadora.",
    next: ["Esta página muda quando a transportadora o receber."],
  },
  Shipped: {
    headline: "O documento está a caminho",
    summary: "A transportadora está com o documento.",
    next: ["Esta página muda quando a entrega for registrada."],
  },
  Delivered: {
    headline: "Registrado como entregue",
    summary: "A entrega está registrada.",
    next: ["As etapas restantes estão listadas abaixo. Você não precisa fazer nada."],
  },
  FaxPending: {
    headline: "O fax está sendo enviado",
    summary: "O documento pronto está na fila da linha de fax.",
    next: ["Esta página muda quando o resultado do fax for registrado."],
  },
  FaxSent: {
    headline: "O fax foi enviado",
    summary: "O resultado ainda não está registrado.",
    next: ["Esta página muda quando o resultado do fax for registrado."],
  },
  FaxDelivered: {
    headline: "Registrado como enviado por fax",
    summary: "A entrega do fax está registrada.",
    next: ["As etapas restantes estão listadas abaixo. Você não precisa fazer nada."],
  },
  Completed: {
    headline: "Tudo pronto",
    summary: "Tudo o que foi pedido está concluído.",
    next: [
      "Não resta nada a fazer.",
      "Enviamos o link dos documentos por e-mail. Você pode voltar a esta página quando quiser.",
    ],
  },
  PaymentFailed: {
    headline: "O pagamento não foi concluído",
    summary: "O pedido ainda não está pago. Isso acontece e é fácil de resolver.",
    next: ["Tente pagar de novo, ou use outro cartão ou conta.", askFirm],
  },
  EsignDeclined: {
    headline: "A assinatura parou",
    summary:
      "Uma das pessoas não assinou online, por isso a assinatura parou para todos. Por enquanto não fazemos mais nada com o documento.",
    next: [
      "Converse com essa pessoa sobre o que ela precisa.",
      "Quando isso estiver resolvido, a empresa que fez o pedido pode nos pedir para enviar o documento de novo para assinatura, ou providenciar a assinatura em papel.",
    ],
  },
  EsignExpired: {
    headline: "O prazo para assinar terminou",
    summary: "Nem todos assinaram a tempo, por isso a assinatura está encerrada.",
    next: ["Peça à empresa que fez o pedido que envie o documento de novo para assinatura.", allPaused],
  },
  NotarizationFailed: {
    headline: "Não foi possível concluir a notarização",
    summary:
      "O notário não conseguiu terminar a sessão. As causas comuns são uma conexão ruim, um problema com o documento de identidade ou a falta de alguém.",
    next: ["A empresa que fez o pedido pode solicitar uma nova sessão.", allPaused],
  },
  IdentityLocked: {
    headline: "Não foi possível confirmar a identidade de quem assina",
    summary:
      "A verificação de identidade foi tentada tantas vezes quanto as regras permitem. Ela protege quem assina contra impostores.",
    next: [
      "Estamos analisando o caso. A empresa que fez o pedido pode nos pedir para reabrir a verificação.",
      "Tenha em mãos um documento oficial válido com foto para a próxima tentativa.",
    ],
  },
  ManualQuoteRequired: {
    headline: "Estamos calculando o preço deste pedido",
    summary:
      "Uma parte, normalmente o frete, não pôde ser calculada automaticamente. O orçamento mostra o que sabemos até agora.",
    next: ["Alguém da nossa equipe completa o orçamento, que aparece nesta página.", "Até lá não há nada a pagar."],
  },
  OnHold: {
    headline: "Este pedido está em pausa",
    summary: "Estamos esclarecendo uma questão sobre ele, e o trabalho está parado até que ela seja resolvida.",
    next: ["Você não precisa fazer nada, a menos que peçamos. O trabalho continua de onde parou.", askFirm],
  },
  ShippingFailed: {
    headline: "O envio não chegou",
    summary: "A transportadora não pôde aceitá-lo ou entregá-lo. O documento pronto está a salvo.",
    next: ["Vamos conferir o endereço com a empresa que fez o pedido e tentar de novo.", askFirm],
  },
  RefundPending: {
    headline: "O pagamento está sendo reembolsado",
    summary: "Estamos devolvendo o valor por meio do processador de pagamentos. O trabalho neste pedido parou.",
    next: ["Os bancos costumam levar de 5 a 10 dias úteis para mostrá-lo."],
  },
  Refunded: {
    headline: "Este pedido foi reembolsado",
    summary: "O pagamento voltou para a origem, e o pedido está encerrado.",
    next: ["Não resta nada a fazer. Para recomeçar, um novo pedido pode ser feito."],
  },
  Cancelled: {
    headline: "Este pedido foi cancelado",
    summary: "Ele foi cancelado, e não há nada a pagar.",
    next: [
      "Se um pagamento já estava a caminho, ele é devolvido.",
      "Não resta nada a fazer. Para recomeçar, um novo pedido pode ser feito.",
    ],
  },
  FaxFailed: {
    headline: "Não foi possível enviar o fax",
    summary:
      "A linha de destino não o aceitou: pode estar ocupada, sem papel ou não ser uma linha de fax. O documento está a salvo.",
    next: ["A empresa que fez o pedido pode corrigir o número e pedir um novo envio.", askFirm],
  },
};

export const otherStatus: Words["orders"]["otherStatus"] = (status) => ({
  headline: "Este pedido está em andamento",
  summary: `O status dele é ${status}.`,
  next: ["Você não precisa fazer nada, a menos que peçamos.", askFirm],
});
