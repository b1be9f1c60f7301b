import { html } from "../../render.ts";
import type { Words } from "../en/en.ts";
import { fill, orders } from "./orders.ts";
import { room } from "./room.ts";

export const fr: Words = {
  language: "fr",
  nav: { label: "Principale", verify: "Vérifier", language: "Langue" },
  preparedBy: "Préparé par",
  aboutUs: (firm) => `${firm} fait signer, notarier et livrer des documents par SignSealShip.`,
  updates: "Cette page se met à jour toutes les 15 secondes.",
  reload: "Rechargez cette page pour voir les nouveautés.",
  components: {
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
  },
  retention: {
    orderDeleted: (at) =>
      html`Le document de cette commande a été supprimé le ${at}, selon le plan de conservation. Son empreinte (hash) reste enregistrée.`,
    ofTestOrder: (days) =>
      `Les documents de test sont supprimés ${days} jours après la dernière modification. Leurs empreintes (hash) restent enregistrées.`,
    ofTestRoom: (days) =>
      `Les documents de test et les certificats de clôture de test sont supprimés ${days} jours après la dernière modification. Leurs empreintes (hash) restent enregistrées.`,
  },
  orders,
  test: {
    title: "Ceci est un test",
    text: "Rien n’y est réel : aucun argent ne circule, rien n’est expédié ni faxé, et aucune signature ni notarisation n’engage personne.",
    pay: "Une commande de test ne se paie pas ici : l’entreprise qui a passé la commande simule le paiement dans son environnement de test.",
  },
  orderPage: {
    next: "La suite",
    begin: "Lancer la commande : il n’y a rien à payer",
    pay: (amount) => `Payer ${amount}`,
    payAll: (count, amount) => `Payer ensemble les ${count} documents : ${amount}`,
    payThis: (amount) => `Payer seulement ce document : ${amount}`,
    payWithheld: (count) =>
      count === 1
        ? "Un autre document de ce dossier ne peut pas être payé pour le moment et n’est pas compris. Votre cabinet s’en occupe."
        : `${count} autres documents de ce dossier ne peuvent pas être payés pour le moment et ne sont pas compris. Votre cabinet s’en occupe.`,
    firmsTurn: "Votre commande est enregistrée",
    nothingToPay:
      "Vous n’avez rien à payer. Le travail commence dès que l’entreprise qui a passé la commande l’a payée.",
    firmPays: "Cette page change dès que le travail commence.",
    bankPayment: [
      "Votre paiement bancaire est en cours de traitement. Vous n’avez rien d’autre à faire.",
      "Certaines banques prennent jusqu’à quatre jours ouvrables. Cette page change quand la banque a répondu.",
    ],
    payAgain: (amount) =>
      `Votre banque a repris votre paiement de cette commande. Il reste ${amount} à payer, et vous pouvez les payer à nouveau ici.`,
    supplement: (amount) =>
      `Le colis part à une adresse corrigée et l’envoi coûte plus cher. Il attend le paiement de ${amount} de plus.`,
    payHint:
      "Vous payez sur la page sécurisée de notre prestataire de paiement. Rien n’est débité avant que vous ne confirmiez.",
    toQuote: "Voir à quoi correspond le montant",
    progress: "Avancement",
    signers: "Signataires",
    signingLink:
      "Si vous êtes l’une de ces personnes, ouvrez le lien de signature qui vous a été envoyé par e-mail. Il n’est qu’à vous.",
    retention: "Durée de conservation des documents",
    quote: "Devis",
    quoteCaption: "Tous les montants en dollars américains",
    unpriced: "Devis à ce stade",
    unpricedCaption: "Ce qui a déjà un prix, en dollars américains",
    totalSoFar: "Total à ce stade",
    details: "Détails",
    receipts: "Reçus",
    receiptsAltered:
      "Certains reçus ne peuvent pas être affichés : l’enregistrement d’un paiement a été modifié. L’exploitant de ce service doit l’examiner.",
    receipt: "Reçu",
    creditNote: "Avoir",
    creditReversal: "Avoir annulé",
    loss: "Paiement repris par votre banque",
    lossReversal: "Reprise par votre banque annulée",
    documents: "Les documents",
    paper: "La page de cette commande",
    facts: {
      document: "Nom du document",
      reference: "Référence",
      firm: "Commandé par",
      questions: "Vos questions",
      placed: "Date de la commande",
      client: "Nom du client",
      code: "Code de la commande",
      copyCode: "le code de la commande",
      carrier: "Transporteur",
      tracking: "Numéro de suivi",
    },
    share: "Toute personne qui a ce lien peut la voir : partagez-le avec prudence.",
    shareDocuments: "Toute personne qui a ce lien peut télécharger les documents : partagez-le avec prudence.",
  },
  fill,
  room,
  refusals: {
    notFound: {
      title: "Page introuvable",
      text: "Il n’y a rien à cette adresse. Si vous avez suivi un lien d’un message, vérifiez que vous l’avez copié en entier, avec le long code à la fin, et rien de plus.",
    },
    wrongMethod: {
      title: "Cette adresse n’accepte pas cette demande",
      text: "Un formulaire a été envoyé à une adresse qui n’en accepte pas, ou une page a été ouverte qui n’en est pas une. Revenez en arrière et réessayez.",
    },
    unavailable: {
      title: "Indisponible pour le moment",
      text: "Une partie de ce service n’est pas disponible en ce moment. Rien n’est perdu : réessayez dans quelques minutes.",
    },
    altered: {
      title: "Le document enregistré a été modifié",
      text: "Il ne correspond plus à l’empreinte (hash) enregistrée ; il ne vous est donc pas remis. L’exploitant de ce service doit l’examiner.",
    },
    unreadable: { title: "Cela n’a pas fonctionné", text: "Le formulaire n’a pas pu être lu." },
    broken: {
      title: "Une erreur s’est produite",
      text: "C’est notre faute, pas la vôtre. Rechargez la page dans un instant.",
    },
    busy: {
      title: "Un instant, s’il vous plaît",
      text: (minutes) =>
        `Trop de demandes sont arrivées en peu de temps. Attendez ${minutes > 1 ? `${minutes} minutes` : "une minute"} et réessayez.`,
    },
    home: "Aller à la page d’accueil",
  },
  unknownCode: {
    page: "Code inconnu",
    verdict: {
      title: "Nous ne connaissons pas ce code",
      text: "Vérifiez que vous avez copié tout le lien, avec le long code à la fin.",
    },
    have: { document: "Avez-vous le document ?", certificate: "Avez-vous le certificat ?" },
    noCode: "Alors vous n’avez pas besoin d’un code :",
    check: "vérifiez le fichier lui-même",
  },
  documentsMail: {
    button: "Recevoir vos documents",
    hint: (email) => `Nous envoyons un lien à ${email}, l’adresse que la commande indique.`,
    sent: {
      title: "L’e-mail est en cours d’envoi",
      text: "Nous envoyons le lien vers les documents à l’adresse du client. S’il n’arrive pas dans quelques minutes, regardez dans les courriers indésirables.",
    },
    test: {
      title: "Aucun e-mail n’est envoyé lors d’un test",
      text: "Cette commande est un test : l’e-mail avec le lien est conservé par ce service et n’est envoyé à personne.",
    },
    unsent: {
      title: "Aucun e-mail n’a été envoyé",
      text: "Le lien a déjà été envoyé plusieurs fois ces dernières 24 heures, ou il n’y a pas de documents à envoyer. Cherchez un e-mail précédent, aussi dans les courriers indésirables, ou demandez à l’entreprise qui a passé la commande.",
    },
  },
  delivery: {
    title: "Des documents pour vous",
    lead: (firm) => `${firm} vous envoie des documents.`,
    all: "Tout télécharger (zip)",
    documents: "Documents",
    download: "Télécharger",
    about: "À propos de cet envoi",
    closing: "Dossier",
    reference: "Numéro de dossier",
    recipient: "Pour",
    until: "Le lien fonctionne jusqu’au",
    check:
      "Chaque fichier peut être vérifié sans nous. Le zip contient une page pour cela, qui n’a pas besoin de réseau, et ce site aussi :",
    listed: "Chaque téléchargement est indiqué à l’expéditeur.",
    code: {
      title: "Saisissez votre code",
      intro: (email) => `Nous envoyons un code à ${email} pour que personne d’autre n’ouvre les documents.`,
      send: "Envoyer le code",
      again: "Envoyer un autre code",
      label: "Code",
      hint: "Six chiffres. Il est valable 10 minutes.",
      enter: "Ouvrir les documents",
      wrong: "Ce code est faux ou a expiré.",
      ended: "Aucun code n’est valable pour le moment. Demandez-en un nouveau.",
      sent: "Le code est en cours d’envoi. Cherchez-le aussi dans les courriers indésirables.",
      wait: "Un code vient d’être envoyé, ou trop l’ont été. Cherchez le plus récent, aussi dans les courriers indésirables.",
      locked: "Un code faux a été saisi cinq fois : le lien est bloqué. Demandez-en un autre à l’expéditeur.",
    },
  },
  payment: {
    leaving: {
      title: "Ouverture de la page de paiement",
      text: "Nous vous dirigeons vers notre prestataire de paiement. Si rien ne se passe, utilisez le lien ci-dessous.",
      link: "Aller à la page de paiement",
    },
    returned: {
      title: "Merci",
      text: "Votre paiement est en cours de confirmation. Votre commande avance dès que notre prestataire de paiement nous confirme l’arrivée de l’argent, en général en moins d’une minute. Vous pouvez fermer cette page.",
    },
    cancelled: {
      title: "Rien n’a été payé",
      text: "Vous avez quitté la page de paiement. Votre commande n’a pas changé, et vous pourrez la payer plus tard.",
    },
    unavailable: {
      title: "Le paiement n’est pas possible pour le moment",
      text: "La page de paiement n’a pas pu s’ouvrir, et rien n’a été payé. Réessayez dans quelques minutes.",
    },
    back: "Voir la commande",
  },
};
