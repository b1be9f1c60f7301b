import { html } from "../../render.ts";
import type { Words } from "../en/en.ts";
import { fill, orders } from "./orders.ts";
import { room } from "./room.ts";

export const pt: Words = {
  language: "pt",
  nav: { label: "Principal", verify: "Verificar", language: "Idioma" },
  preparedBy: "Preparado por",
  aboutUs: (firm) => `${firm} usa a SignSealShip para a assinatura, a notarização e a entrega de documentos.`,
  updates: "Esta página é atualizada a cada 15 segundos.",
  reload: "Recarregue esta página para ver as novidades.",
  components: {
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
  },
  retention: {
    orderDeleted: (at) =>
      html`O documento deste pedido foi excluído em ${at}, conforme o plano de retenção. O hash dele continua registrado.`,
    ofTestOrder: (days) =>
      `Os documentos de teste são excluídos ${days} dias após a última alteração. Os hashes deles continuam registrados.`,
    ofTestRoom: (days) =>
      `Os documentos de teste e os certificados de fechamento de teste são excluídos ${days} dias após a última alteração. Os hashes deles continuam registrados.`,
  },
  orders,
  test: {
    title: "Isto é um teste",
    text: "Nada disto é real: não há movimentação de dinheiro, nada é enviado por correio ou fax, e nenhuma assinatura ou notarização obriga ninguém.",
    pay: "Um pedido de teste não pode ser pago aqui: a empresa que fez o pedido simula o pagamento no ambiente de testes dela.",
  },
  orderPage: {
    next: "O que acontece agora",
    begin: "Iniciar o pedido: não há nada a pagar",
    pay: (amount) => `Pagar ${amount}`,
    payAll: (count, amount) => `Pagar juntos os ${count} documentos: ${amount}`,
    payThis: (amount) => `Pagar só este documento: ${amount}`,
    payWithheld: (count) =>
      count === 1
        ? "Outro documento deste fechamento não pode ser pago no momento e ficou de fora. Sua empresa está verificando."
        : `Outros ${count} documentos deste fechamento não podem ser pagos no momento e ficaram de fora. Sua empresa está verificando.`,
    firmsTurn: "Seu pedido foi registrado",
    nothingToPay: "Você não precisa pagar nada. O trabalho começa quando a empresa que fez o pedido o pagar.",
    firmPays: "Esta página muda assim que o trabalho começar.",
    bankPayment: [
      "Seu pagamento bancário está sendo processado. Você não precisa fazer mais nada.",
      "Alguns bancos levam até quatro dias úteis. Esta página muda quando o banco responder.",
    ],
    payAgain: (amount) =>
      `Seu banco retirou o pagamento deste pedido. Ainda são devidos ${amount}, e você pode pagar de novo aqui.`,
    supplement: (amount) =>
      `O pacote vai para um endereço corrigido e o envio custa mais. Ele espera até que mais ${amount} sejam pagos.`,
    payHint:
      "Você paga na página segura do nosso processador de pagamentos. Nada é cobrado antes de você confirmar lá.",
    toQuote: "Ver a que se refere o valor",
    progress: "Andamento",
    signers: "Quem assina",
    signingLink: "Se você é uma dessas pessoas, abra o link de assinatura que recebeu por e-mail. Ele é só seu.",
    retention: "Por quanto tempo os documentos são guardados",
    quote: "Orçamento",
    quoteCaption: "Todos os valores em dólares americanos",
    unpriced: "Orçamento até agora",
    unpricedCaption: "O que já tem preço, em dólares americanos",
    totalSoFar: "Total até agora",
    details: "Detalhes",
    receipts: "Recibos",
    receiptsAltered:
      "Alguns recibos não podem ser mostrados: o registro de um pagamento foi alterado. O operador deste serviço precisa verificar o caso.",
    receipt: "Recibo",
    creditNote: "Nota de crédito",
    creditReversal: "Nota de crédito anulada",
    loss: "Pagamento devolvido pelo seu banco",
    lossReversal: "Devolução do seu banco anulada",
    documents: "Documentos",
    paper: "A página deste pedido",
    facts: {
      document: "Documento",
      reference: "Referência",
      firm: "Feito por",
      questions: "Dúvidas",
      placed: "Data do pedido",
      client: "Cliente",
      code: "Código do pedido",
      copyCode: "o código do pedido",
      carrier: "Transportadora",
      tracking: "Número de rastreamento",
    },
    share: "Qualquer pessoa com este link pode vê-la, por isso compartilhe com cuidado.",
    shareDocuments: "Qualquer pessoa com este link pode baixar os documentos, por isso compartilhe com cuidado.",
  },
  fill,
  room,
  refusals: {
    notFound: {
      title: "Página não encontrada",
      text: "Não há nada neste endereço. Se você seguiu um link de uma mensagem, verifique se o copiou inteiro, com o código longo no final, e nada mais.",
    },
    wrongMethod: {
      title: "Este endereço não aceita esse pedido",
      text: "Um formulário foi enviado a um endereço que não aceita nenhum, ou foi aberta uma página que não é uma página. Volte e tente de novo.",
    },
    unavailable: {
      title: "Indisponível no momento",
      text: "Parte deste serviço não está disponível agora. Nada se perdeu: tente de novo em alguns minutos.",
    },
    altered: {
      title: "O documento armazenado foi alterado",
      text: "Ele não corresponde mais ao hash registrado, por isso não é entregue a você. O operador deste serviço precisa verificar o caso.",
    },
    unreadable: { title: "Não funcionou", text: "Não foi possível ler o formulário." },
    broken: {
      title: "Algo deu errado",
      text: "A culpa é nossa, não sua. Recarregue a página em um instante.",
    },
    busy: {
      title: "Um momento, por favor",
      text: (minutes) =>
        `Chegaram solicitações demais em pouco tempo. Espere ${minutes > 1 ? `${minutes} minutos` : "um minuto"} e tente de novo.`,
    },
    home: "Ir para a página inicial",
  },
  unknownCode: {
    page: "Código desconhecido",
    verdict: {
      title: "Não conhecemos este código",
      text: "Verifique se você copiou o link inteiro, com o código longo no final.",
    },
    have: { document: "Você tem o documento?", certificate: "Você tem o certificado?" },
    noCode: "Então você não precisa de um código:",
    check: "verifique o próprio arquivo",
  },
  documentsMail: {
    button: "Receber seus documentos",
    hint: (email) => `Enviamos um link para ${email}, o endereço que consta no pedido.`,
    sent: {
      title: "O e-mail está sendo enviado",
      text: "Estamos enviando o link dos documentos para o endereço do cliente. Se não chegar em alguns minutos, veja na pasta de spam.",
    },
    test: {
      title: "Em um teste nenhum e-mail é enviado",
      text: "Este pedido é um teste, por isso o e-mail com o link fica guardado neste serviço e não é enviado a ninguém.",
    },
    unsent: {
      title: "Nenhum e-mail foi enviado",
      text: "O link já foi enviado várias vezes nas últimas 24 horas, ou não há documentos para enviar. Procure um e-mail anterior, também na pasta de spam, ou pergunte à empresa que fez o pedido.",
    },
  },
  delivery: {
    title: "Documentos para você",
    lead: (firm) => `${firm} envia documentos a você.`,
    all: "Baixar tudo (zip)",
    documents: "Documentos",
    download: "Baixar",
    about: "Sobre esta entrega",
    closing: "Fechamento",
    reference: "Número do processo",
    recipient: "Para",
    until: "O link funciona até",
    check:
      "Cada arquivo pode ser verificado sem nós. O zip tem uma página para isso que não precisa de rede, e este site também:",
    listed: "Cada download é mostrado ao remetente.",
    code: {
      title: "Digite o seu código",
      intro: (email) => `Enviamos um código para ${email}, para que ninguém mais abra os documentos.`,
      send: "Enviar o código",
      again: "Enviar outro código",
      label: "Código",
      hint: "Seis dígitos. Vale por 10 minutos.",
      enter: "Abrir os documentos",
      wrong: "Este código está errado ou expirou.",
      ended: "Nenhum código é válido no momento. Peça um novo.",
      sent: "O código está sendo enviado. Procure também na pasta de spam.",
      wait: "Um código acabou de ser enviado, ou muitos já foram. Procure o mais recente, também na pasta de spam.",
      locked: "Um código errado foi digitado cinco vezes, e o link está bloqueado. Peça outro ao remetente.",
    },
  },
  payment: {
    leaving: {
      title: "Abrindo a página de pagamento",
      text: "Você está sendo levado ao nosso processador de pagamentos. Se nada acontecer, use o link abaixo.",
      link: "Ir para a página de pagamento",
    },
    returned: {
      title: "Obrigado",
      text: "Seu pagamento está sendo confirmado. Seu pedido avança assim que nosso processador de pagamentos nos avisar que o dinheiro chegou, o que normalmente leva menos de um minuto. Você pode fechar esta página.",
    },
    cancelled: {
      title: "Nada foi pago",
      text: "Você saiu da página de pagamento. Seu pedido não mudou, e você pode pagá-lo mais tarde.",
    },
    unavailable: {
      title: "Não é possível pagar no momento",
      text: "Não foi possível abrir a página de pagamento, e nada foi pago. Tente de novo em alguns minutos.",
    },
    back: "Ver o pedido",
  },
};
