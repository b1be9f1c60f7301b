import type { Words } from "../en/en.ts";

export const fill: Words["fill"] = {
  test: {
    title: "Un formulario de prueba",
    text: "Nada en él es real: lo que escriba es solo para probar.",
  },
  lead: (firm: string) =>
    `${firm} le pide que complete este formulario. Sus respuestas pasan a ser parte de un documento.`,
  until: (at: string) =>
    `Sus respuestas se guardan mientras escribe. Puede parar y seguir con el mismo enlace hasta el ${at}.`,
  step: (at: number, of: number) => `Paso ${at} de ${of}`,
  next: "Guardar y seguir",
  back: "Volver",
  review: "Guardar y revisar sus respuestas",
  reviewTitle: "Revise sus respuestas",
  reviewLead: "Se imprimirán en el documento. Nada se envía antes de que termine.",
  preview: "Ver el documento con sus respuestas",
  finish: "Terminar y usar este documento",
  change: "Cambiar",
  none: "Sin respuesta",
  yes: "Sí",
  choose: "Elija",
  optional: "opcional",
  forget: "Borrar mis respuestas",
  forgetHint: "El formulario queda vacío otra vez.",
  check: "Revise el formulario",
  stale: "Estas respuestas se cambiaron en otra ventana. Revise lo que escribió aquí y guárdelo de nuevo.",
  atMost: (most: number) => `Como máximo ${most} caracteres.`,
  faults: {
    long: (most: number) => `debe tener como máximo ${most} caracteres`,
    room: "es demasiado largo para su lugar en el documento",
    characters: "tiene caracteres que no se pueden imprimir",
    option: "debe ser una de las opciones",
    missing: "es necesario",
  },
  done: {
    title: "Gracias",
    text: "Sus respuestas están en el documento, y la empresa puede seguir con él. Puede cerrar esta página.",
  },
  download: "Descargar el documento",
  goOn: "Seguir",
  over: {
    title: "Este formulario está cerrado",
    text: "Se canceló, o nadie lo terminó a tiempo. Pida a la empresa un enlace nuevo.",
  },
  saving: "Guardando…",
  saved: "Guardado.",
  unsaved: "No se guardó. Revise su conexión; sus respuestas siguen aquí.",
};
