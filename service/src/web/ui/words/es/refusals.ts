import type { RefusalWords } from "../words.ts";

export const refusals: RefusalWords = {
  notFound: {
    title: "Página no encontrada",
    text: "En esta dirección no hay nada. Si siguió un enlace de un mensaje, compruebe que lo copió entero, con el código largo del final, y nada más.",
  },
  wrongMethod: {
    title: "Esta dirección no admite esa solicitud",
    text: "Se envió un formulario a una dirección que no los recibe, o se abrió una página que no lo es. Vuelva atrás e inténtelo de nuevo.",
  },
  unavailable: {
    title: "No disponible en este momento",
    text: "Una parte de este servicio no está disponible ahora. No se perdió nada: inténtelo de nuevo en unos minutos.",
  },
  unreadable: { title: "No funcionó", text: "No se pudo leer el formulario." },
  broken: {
    title: "Algo salió mal",
    text: "Es culpa nuestra, no suya. Vuelva a cargar la página en un momento.",
  },
  busy: {
    title: "Un momento, por favor",
    text: (minutes) =>
      `Llegaron demasiadas solicitudes en poco tiempo. Espere ${minutes > 1 ? `${minutes} minutos` : "un minuto"} e inténtelo de nuevo.`,
  },
  home: "Ir a la página de inicio",
};
