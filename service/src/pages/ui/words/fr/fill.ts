import type { Words } from "../en/en.ts";

export const fill: Words["fill"] = {
  test: {
    title: "Un formulaire de test",
    text: "Rien n’y est réel : ce que vous saisissez sert à l’essayer.",
  },
  lead: (firm: string) => `${firm} vous demande de remplir ce formulaire. Vos réponses feront partie d’un document.`,
  until: (at: string) =>
    `Vos réponses sont enregistrées pendant la saisie. Vous pouvez vous arrêter et reprendre avec le même lien jusqu’au ${at}.`,
  step: (at: number, of: number) => `Étape ${at} sur ${of}`,
  next: "Enregistrer et continuer",
  back: "Retour",
  review: "Enregistrer et vérifier vos réponses",
  reviewTitle: "Vérifiez vos réponses",
  reviewLead: "Elles seront imprimées dans le document. Rien n’est envoyé avant que vous ayez terminé.",
  preview: "Voir le document avec vos réponses",
  finish: "Terminer et utiliser ce document",
  change: "Modifier",
  none: "Pas de réponse",
  yes: "Oui",
  choose: "Choisissez",
  optional: "facultatif",
  forget: "Supprimer mes réponses",
  forgetHint: "Le formulaire est alors de nouveau vide.",
  check: "Vérifiez le formulaire",
  stale:
    "Ces réponses ont été modifiées dans une autre fenêtre. Vérifiez ce que vous avez saisi ici et enregistrez-le de nouveau.",
  atMost: (most: number) => `${most} caractères au plus.`,
  faults: {
    long: (most: number) => `doit avoir ${most} caractères au plus`,
    room: "est trop long pour sa place dans le document",
    characters: "contient des caractères qui ne peuvent pas être imprimés",
    option: "doit être l’un des choix",
    missing: "est nécessaire",
  },
  done: {
    title: "Merci",
    text: "Vos réponses sont dans le document, et la société peut continuer. Vous pouvez fermer cette page.",
  },
  download: "Télécharger le document",
  goOn: "Continuer",
  over: {
    title: "Ce formulaire est fermé",
    text: "Il a été annulé, ou personne ne l’a terminé à temps. Demandez un nouveau lien à la société.",
  },
  saving: "Enregistrement…",
  saved: "Enregistré.",
  unsaved: "Non enregistré. Vérifiez votre connexion ; vos réponses sont toujours ici.",
};
