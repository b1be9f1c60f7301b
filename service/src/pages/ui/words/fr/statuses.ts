import type { Words } from "../en/en.ts";

const askFirm =
  "Des questions ? Demandez à l’entreprise qui a passé la commande. Elle voit tout ce qui est sur cette page.";
const allPaused = "Rien n’est perdu : les documents et le travail déjà fait sont conservés.";

export const statuses: Words["orders"]["statuses"] = {
  Created: {
    headline: "Nous avons votre commande",
    summary: "Nous avons le document et calculons le prix.",
    next: ["Votre devis apparaîtra sur cette page, en général dans un instant."],
  },
  QuoteReady: {
    headline: "Votre devis est prêt",
    summary: "Nous avons le document, et tout a un prix. Le travail commence une fois le paiement confirmé.",
    next: [
      "Vérifiez dans le devis ce qui a été commandé, et payez le total.",
      "Nous commençons dès que le paiement est confirmé.",
    ],
  },
  AwaitingPayment: {
    headline: "En attente du paiement",
    summary: "Le paiement n’est pas encore confirmé. Certaines banques prennent quelques jours ouvrables.",
    next: [
      "Si vous avez payé, vous n’avez rien d’autre à faire. Cette page change quand l’argent arrive.",
      "Si vous avez fermé la page de paiement ou si elle a expiré, rien n’a été débité. Vous pouvez la rouvrir.",
    ],
  },
  Paid: {
    headline: "Entièrement payé, merci",
    summary: "Le paiement est confirmé, et nous commençons à travailler sur le document.",
    next: ["La première étape ci-dessous commence automatiquement."],
  },
  EsignPending: {
    headline: "Le document est en cours de signature",
    summary: "Chaque signataire est invité à signer en ligne quand vient son tour.",
    next: ["Chaque signataire lit le document et le signe.", "L’étape suivante commence quand tout le monde a signé."],
  },
  EsignComplete: {
    headline: "Le document signé est scellé",
    summary: "La signature est terminée. Le document est scellé : toute modification se verrait.",
    next: ["L’étape suivante commence automatiquement."],
  },
  NotarizationPending: {
    headline: "Le document est chez le notaire",
    summary: "Un notaire vérifie l’identité du signataire et notarie le document.",
    next: [
      "Signataire : s’il y a un rendez-vous, soyez-y, avec une pièce d’identité officielle avec photo.",
      "L’étape suivante commence quand nous avons le document notarié.",
    ],
  },
  NotarizationComplete: {
    headline: "Le document est notarié",
    summary: "Le notaire a scellé le document, et nous l’avons enregistré.",
    next: ["L’étape suivante commence automatiquement."],
  },
  ShippingPending: {
    headline: "Votre envoi est en préparation",
    summary: "Nous remettons le document terminé au transporteur.",
    next: ["Cette page change quand le transporteur l’a reçu."],
  },
  Shipped: {
    headline: "Le document est en route",
    summary: "Le transporteur a le document.",
    next: ["Cette page change quand la livraison est enregistrée."],
  },
  Delivered: {
    headline: "Enregistré comme livré",
    summary: "La livraison est enregistrée.",
    next: ["Les étapes restantes sont listées ci-dessous. Vous n’avez rien à faire."],
  },
  FaxPending: {
    headline: "Le fax est en cours d’envoi",
    summary: "Le document terminé attend la ligne de fax.",
    next: ["Cette page change quand le résultat du fax est enregistré."],
  },
  FaxSent: {
    headline: "Le fax a été envoyé",
    summary: "Son résultat n’est pas encore enregistré.",
    next: ["Cette page change quand le résultat du fax est enregistré."],
  },
  FaxDelivered: {
    headline: "Enregistré comme faxé",
    summary: "La remise du fax est enregistrée.",
    next: ["Les étapes restantes sont listées ci-dessous. Vous n’avez rien à faire."],
  },
  Completed: {
    headline: "Tout est terminé",
    summary: "Tout ce qui a été commandé est terminé.",
    next: [
      "Il ne reste rien à faire.",
      "Nous envoyons le lien vers les documents par e-mail. Vous pouvez revenir sur cette page à tout moment.",
    ],
  },
  PaymentFailed: {
    headline: "Le paiement n’a pas abouti",
    summary: "La commande n’est pas encore payée. Cela arrive, et c’est facile à régler.",
    next: ["Réessayez de payer, ou utilisez une autre carte ou un autre compte.", askFirm],
  },
  EsignDeclined: {
    headline: "La signature s’est arrêtée",
    summary:
      "Un signataire n’a pas signé en ligne, donc la signature s’est arrêtée pour tout le monde. Pour l’instant, nous ne faisons rien d’autre avec le document.",
    next: [
      "Parlez avec le signataire de ce dont il a besoin.",
      "Une fois cela réglé, l’entreprise qui a passé la commande peut nous demander d’envoyer de nouveau le document à la signature, ou le faire signer sur papier.",
    ],
  },
  EsignExpired: {
    headline: "Le délai pour signer est écoulé",
    summary: "Tout le monde n’a pas signé à temps : la signature est close.",
    next: ["Demandez à l’entreprise qui a passé la commande de renvoyer le document à la signature.", allPaused],
  },
  NotarizationFailed: {
    headline: "La notarisation n’a pas pu être terminée",
    summary:
      "Le notaire n’a pas pu terminer la séance. Les raisons courantes sont une mauvaise connexion, un problème avec la pièce d’identité ou une personne absente.",
    next: ["L’entreprise qui a passé la commande peut demander une nouvelle séance.", allPaused],
  },
  IdentityLocked: {
    headline: "L’identité du signataire n’a pas pu être confirmée",
    summary:
      "Le contrôle d’identité a été tenté autant de fois que les règles le permettent. Il protège les signataires des imposteurs.",
    next: [
      "Nous l’examinons. L’entreprise qui a passé la commande peut nous demander de rouvrir le contrôle.",
      "Préparez une pièce d’identité officielle valide avec photo pour le prochain essai.",
    ],
  },
  ManualQuoteRequired: {
    headline: "Nous calculons le prix de cette commande",
    summary:
      "Une partie, en général l’affranchissement, n’a pas pu être chiffrée automatiquement. Le devis montre ce que nous savons à ce stade.",
    next: [
      "Une personne de notre équipe complète le devis, qui apparaît sur cette page.",
      "Il n’y a rien à payer d’ici là.",
    ],
  },
  OnHold: {
    headline: "Cette commande est en pause",
    summary: "Nous examinons une question à son sujet, et le travail est suspendu jusqu’à la réponse.",
    next: ["Vous n’avez rien à faire, sauf si nous le demandons. Le travail reprendra où il s’est arrêté.", askFirm],
  },
  ShippingFailed: {
    headline: "L’envoi n’est pas arrivé",
    summary: "Le transporteur n’a pas pu l’accepter ou le livrer. Le document terminé lui-même est en sûreté.",
    next: ["Nous vérifierons l’adresse avec l’entreprise qui a passé la commande et réessaierons.", askFirm],
  },
  RefundPending: {
    headline: "Le paiement est en cours de remboursement",
    summary: "Nous le renvoyons par le prestataire de paiement. Le travail sur cette commande est arrêté.",
    next: ["Les banques mettent en général 5 à 10 jours ouvrables à l’afficher."],
  },
  Refunded: {
    headline: "Cette commande a été remboursée",
    summary: "Le paiement est retourné d’où il venait, et la commande est close.",
    next: ["Il ne reste rien à faire. Pour recommencer, une nouvelle commande peut être passée."],
  },
  Cancelled: {
    headline: "Cette commande a été annulée",
    summary: "Elle a été annulée, et il n’y a rien à payer.",
    next: [
      "Si un paiement était déjà en cours, il est remboursé.",
      "Il ne reste rien à faire. Pour recommencer, une nouvelle commande peut être passée.",
    ],
  },
  FaxFailed: {
    headline: "Le fax n’a pas abouti",
    summary:
      "La ligne destinataire ne l’a pas accepté : elle est peut-être occupée, sans papier, ou n’est pas une ligne de fax. Le document lui-même est en sûreté.",
    next: ["L’entreprise qui a passé la commande peut corriger le numéro et demander un nouvel envoi.", askFirm],
  },
};

export const otherStatus: Words["orders"]["otherStatus"] = (status) => ({
  headline: "Cette commande est en cours",
  summary: `Son état est ${status}.`,
  next: ["Vous n’avez rien à faire, sauf si nous le demandons.", askFirm],
});
