import type { Words } from "../en/en.ts";

export const room: Words["room"] = {
  reference: (reference) => `Referência ${reference}`,
  closingRoom: "Sala de fechamento",
  open: "Aberta",
  closed: "Fechada",
  glance: "Visão geral",
  inThisRoom: (orders, ended) => {
    const all = `${orders === 1 ? "1 pedido" : `${orders} pedidos`} nesta sala`;
    if (ended === 0) return all;
    return `${all}, ${ended === 1 ? "1 cancelado ou reembolsado" : `${ended} cancelados ou reembolsados`}`;
  },
  meters: {
    signed: "Assinados",
    sealed: "Selados",
    delivered: "Entregues ou concluídos",
    none: "Nenhum precisa",
    of: (count, total) => `${count} de ${total}`,
  },
  orders: "Pedidos",
  noOrders: {
    title: "Ainda não há pedidos",
    text: "Os pedidos aparecem aqui quando são adicionados.",
    closed: "A sala foi fechada sem pedidos.",
  },
  services: {
    sign: "Assinatura",
    notarize: "Notarização",
    ship: "Envio",
    fax: "Fax",
    none: "Gestão do documento",
  },
  signers: "Quem assina",
  hasSigned: "já assinou",
  hasNotSigned: "ainda não assinou",
  simulated: "sem assinatura no documento",
  evidence: {
    sealed: "Selado: qualquer alteração apareceria",
    recorded: "Registrado, ainda não selado",
    none: "Ainda sem provas",
  },
  tracking: "Rastreamento",
  added: "Adicionado",
  passport: {
    title: "Certificado de fechamento",
    sealed: (version) => `A versão ${version} foi selada em`,
    lists:
      "Ele contém as impressões digitais (hashes) dos documentos naquele momento: qualquer pessoa pode verificar que não mudaram.",
    none: "Ainda não selado. Quando for, conterá as impressões digitais (hashes) dos documentos: qualquer pessoa poderá verificar que não mudaram.",
    verify: "Verificar o certificado de fechamento",
  },
  people: "Pessoas",
  paper: "A página desta sala",
  activity: {
    title: "Atividade",
    none: { title: "Ainda não há atividade", text: "As mudanças dos pedidos aparecem aqui." },
    actions: {
      "order.created": "Pedido feito",
      "order.claimed": "Assumido pelo cliente",
      "order.cancelled": "Pedido cancelado",
      "signing_link.issued": "Link de assinatura criado",
      "room.order_attached": "Adicionado a esta sala",
    },
    changed: "Mudança de status",
    earlier: (steps) => (steps === 1 ? "e 1 etapa antes" : `e ${steps} etapas antes`),
    every: "Mostrar todas as etapas",
    latest: "Mostrar a última de cada dia",
  },
  share: "Qualquer pessoa com este link pode ver a sala inteira, por isso compartilhe com cuidado.",
};
