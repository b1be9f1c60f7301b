import type { Words } from "../en/en.ts";

export const room: Words["room"] = {
  reference: (reference) => `Sanggunian ${reference}`,
  closingRoom: "Silid ng closing",
  open: "Bukas",
  closed: "Sarado",
  glance: "Sa isang tingin",
  inThisRoom: (orders, ended) =>
    `${orders} order sa silid na ito${ended > 0 ? `, ${ended} ang kinansela o na-refund` : ""}`,
  meters: {
    signed: "Napirmahan",
    sealed: "Naselyuhan",
    delivered: "Naihatid o kumpleto",
    none: "Walang kailangan",
    of: (count, total) => `${count} sa ${total}`,
  },
  orders: "Mga order",
  noOrders: {
    title: "Wala pang mga order",
    text: "Lalabas dito ang mga order kapag idinagdag.",
    closed: "Isinara ang silid nang walang order.",
  },
  services: {
    sign: "Pagpirma",
    notarize: "Pagnonotaryo",
    ship: "Pagpapadala",
    fax: "Fax",
    none: "Pag-aasikaso ng dokumento",
  },
  signers: "Mga pipirma",
  hasSigned: "nakapirma na",
  hasNotSigned: "hindi pa nakapirma",
  simulated: "walang pirma sa dokumento",
  evidence: {
    sealed: "Naselyuhan: makikita ang anumang pagbabago",
    recorded: "Nakatala, hindi pa naselyuhan",
    none: "Wala pang ebidensiya",
  },
  tracking: "Pagsubaybay",
  added: "Idinagdag",
  passport: {
    title: "Katibayan ng closing",
    sealed: (version) => `Naselyuhan ang bersiyon ${version} noong`,
    lists:
      "Nasa loob nito ang mga fingerprint (hash) ng mga dokumento noong panahong iyon, kaya masusuri ng sinuman na hindi sila nagbago.",
    none: "Hindi pa naselyuhan. Kapag naselyuhan na, nasa loob nito ang mga fingerprint (hash) ng mga dokumento, kaya masusuri ng sinuman na hindi sila nagbago.",
    verify: "Suriin ang katibayan ng closing",
  },
  people: "Mga tao",
  paper: "Ang pahina ng silid na ito",
  activity: {
    title: "Mga pangyayari",
    none: { title: "Wala pang nangyayari", text: "Nakalista rito ang mga pagbabago sa mga order." },
    actions: {
      "order.created": "Inilagay ang order",
      "order.claimed": "Inangkin ng kliyente",
      "order.cancelled": "Kinansela ang order",
      "signing_link.issued": "Nagawa ang link sa pagpirma",
      "room.order_attached": "Idinagdag sa silid na ito",
    },
    changed: "Nagbago ang katayuan",
    earlier: (steps) => `at ${steps} hakbang bago nito`,
    every: "Ipakita ang bawat hakbang",
    latest: "Ipakita ang pinakabago sa bawat araw",
  },
  share: "Makikita ng sinumang may link na ito ang buong silid, kaya ingatan ang pagbabahagi.",
};
