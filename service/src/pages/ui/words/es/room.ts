import type { Words } from "../en/en.ts";

export const room: Words["room"] = {
  reference: (reference) => `Referencia ${reference}`,
  closingRoom: "Sala de cierre",
  open: "Abierta",
  closed: "Cerrada",
  glance: "De un vistazo",
  inThisRoom: (orders, ended) => {
    const all = `${orders === 1 ? "1 pedido" : `${orders} pedidos`} en esta sala`;
    if (ended === 0) return all;
    return `${all}, ${ended === 1 ? "1 cancelado o reembolsado" : `${ended} cancelados o reembolsados`}`;
  },
  meters: {
    signed: "Firmados",
    sealed: "Sellados",
    delivered: "Entregados o completos",
    none: "Ninguno lo necesita",
    of: (count, total) => `${count} de ${total}`,
  },
  orders: "Pedidos",
  noOrders: {
    title: "Aún no hay pedidos",
    text: "Los pedidos aparecen aquí cuando se agregan.",
    closed: "La sala se cerró sin pedidos.",
  },
  services: {
    sign: "Firma",
    notarize: "Notarización",
    ship: "Envío",
    fax: "Fax",
    none: "Gestión del documento",
  },
  signers: "Quiénes firman",
  hasSigned: "ya firmó",
  hasNotSigned: "aún no ha firmado",
  simulated: "sin firma en el documento",
  evidence: {
    sealed: "Sellado: cualquier cambio se notaría",
    recorded: "Registrado, aún sin sellar",
    none: "Aún sin pruebas",
  },
  tracking: "Rastreo",
  added: "Agregado",
  passport: {
    title: "Certificado de cierre",
    sealed: (version) => `La versión ${version} se selló el`,
    lists:
      "Contiene las huellas (hashes) de los documentos en ese momento: cualquiera puede comprobar que no han cambiado.",
    none: "Aún sin sellar. Cuando se selle, contendrá las huellas (hashes) de los documentos: cualquiera podrá comprobar que no han cambiado.",
    verify: "Comprobar el certificado de cierre",
  },
  people: "Personas",
  paper: "La página de esta sala",
  activity: {
    title: "Actividad",
    none: { title: "Aún no hay actividad", text: "Aquí aparecen los cambios de los pedidos." },
    actions: {
      "order.created": "Pedido hecho",
      "order.claimed": "Reclamado por el cliente",
      "order.cancelled": "Pedido cancelado",
      "signing_link.issued": "Enlace para firmar creado",
      "room.order_attached": "Agregado a esta sala",
    },
    changed: "Cambio de estado",
    earlier: (steps) => (steps === 1 ? "y 1 paso anterior" : `y ${steps} pasos anteriores`),
    every: "Mostrar todos los pasos",
    latest: "Mostrar lo último de cada día",
  },
  share: "Cualquiera que tenga este enlace puede ver toda la sala, así que compártalo con cuidado.",
};
