import type { Words } from "../en/en.ts";

/** French uses the singular for zero and for fractions below two. */
const plural = new Intl.PluralRules("fr");
const isOne = (count: number): boolean => plural.select(count) === "one";

export const room: Words["room"] = {
  reference: (reference) => `Référence ${reference}`,
  closingRoom: "Salle de clôture",
  open: "Ouverte",
  closed: "Fermée",
  glance: "En un coup d’œil",
  inThisRoom: (orders, ended) => {
    const all = `${orders} ${isOne(orders) ? "commande" : "commandes"} dans cette salle`;
    if (ended === 0) return all;
    return `${all}, ${ended} ${isOne(ended) ? "annulée ou remboursée" : "annulées ou remboursées"}`;
  },
  meters: {
    signed: "Signés",
    sealed: "Scellés",
    delivered: "Livrés ou terminés",
    none: "Aucun n’en a besoin",
    of: (count, total) => `${count} sur ${total}`,
  },
  orders: "Commandes",
  noOrders: {
    title: "Pas encore de commandes",
    text: "Les commandes apparaissent ici quand elles sont ajoutées.",
    closed: "La salle a été fermée sans commandes.",
  },
  services: {
    sign: "Signature",
    notarize: "Notarisation",
    ship: "Envoi",
    fax: "Fax",
    none: "Gestion du document",
  },
  signers: "Signataires",
  hasSigned: "a signé",
  hasNotSigned: "n’a pas encore signé",
  simulated: "pas de signature dans le document",
  evidence: {
    sealed: "Scellé : toute modification se verrait",
    recorded: "Enregistré, pas encore scellé",
    none: "Pas encore de preuves",
  },
  tracking: "Suivi",
  added: "Ajouté",
  passport: {
    title: "Certificat de clôture",
    sealed: (version) => `La version ${version} a été scellée le`,
    lists:
      "Il contient les empreintes (hash) des documents à ce moment-là : chacun peut vérifier qu’ils n’ont pas changé.",
    none: "Pas encore scellé. Une fois scellé, il contiendra les empreintes (hash) des documents : chacun pourra vérifier qu’ils n’ont pas changé.",
    verify: "Vérifier le certificat de clôture",
  },
  people: "Personnes",
  paper: "La page de cette salle",
  activity: {
    title: "Activité",
    none: { title: "Pas encore d’activité", text: "Les changements des commandes apparaissent ici." },
    actions: {
      "order.created": "Commande passée",
      "order.claimed": "Prise en charge par le client",
      "order.cancelled": "Commande annulée",
      "signing_link.issued": "Lien de signature créé",
      "room.order_attached": "Ajoutée à cette salle",
    },
    changed: "Changement d’état",
    earlier: (steps) => `et ${steps} ${isOne(steps) ? "étape" : "étapes"} avant`,
    every: "Afficher toutes les étapes",
    latest: "Afficher la dernière de chaque jour",
  },
  share: "Toute personne qui a ce lien peut voir toute la salle : partagez-le avec prudence.",
};
