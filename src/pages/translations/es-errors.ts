import { inWords } from '../dates.js';
import { LOCALES } from '../language.js';
import type { ErrorTexts } from './en-errors.js';
import { markup } from './markup.js';

const LOCALE = LOCALES.es;

/** Errors that name an app's link end with one of these. */
const TELL_THE_APP =
  'Avise a los responsables de la aplicación. No se ha compartido nada con ella.';

/** Of each error its page, with the sentence that says how to start again. */
export const errors = (startAgain: string): ErrorTexts => ({
  unknownApp: {
    title: 'Aquí no se conoce esta aplicación',
    paragraphs: [
      'El enlace por el que llegó aquí nombra una aplicación que no está registrada o que se ha desactivado.',
      TELL_THE_APP,
    ],
  },
  wrongRedirectUri: {
    title: 'No es seguro seguir este enlace',
    paragraphs: [
      'El enlace por el que llegó aquí lleva a una dirección que no está registrada para la aplicación.',
      TELL_THE_APP,
    ],
  },
  removedRedirectUri: {
    title: 'La aplicación ha cambiado su registro',
    paragraphs: [
      'La dirección a la que se habría enviado su respuesta ya no está registrada para la aplicación.',
      'No se ha compartido nada con ella.',
      startAgain,
    ],
  },
  removedScopes: {
    title: 'La aplicación ha cambiado su registro',
    paragraphs: [
      'Ninguno de los accesos que le pidió sigue registrado para la aplicación.',
      'No se ha compartido nada con ella.',
      startAgain,
    ],
  },
  malformedLink: {
    title: 'Este enlace está dañado',
    paragraphs: ['No se puede leer el enlace por el que llegó aquí.', startAgain],
  },
  stateTooLong: {
    title: 'Este enlace es demasiado largo',
    paragraphs: ['La aplicación ha enviado con su solicitud más texto del permitido.', startAgain],
  },
  expired: {
    title: 'Esta página ha caducado',
    paragraphs: ['Ha pasado más tiempo del que esta página puede permanecer abierta.', startAgain],
  },
  foreignForm: {
    title: 'Este formulario no procede de su navegador',
    paragraphs: [
      'La página que envió no pertenece a este navegador o ya no es actual: quizá se empezó de nuevo en otra pestaña, o desde entonces usted ha iniciado sesión como otra persona.',
      'No ha tenido ningún efecto.',
      startAgain,
    ],
  },
  noCookies: {
    title: 'Su navegador no ha guardado nuestra cookie',
    paragraphs: [
      'Para iniciar sesión hace falta una cookie, que nos permite saber que sigue siendo usted. Permita las cookies en este sitio.',
      startAgain,
    ],
  },
  alreadyAnswered: {
    title: 'Ya se ha respondido a esta solicitud',
    paragraphs: [
      'Usted ya respondió a esta solicitud, quizá en otra pestaña. Solo cuenta una respuesta.',
      'Si la aplicación no ha continuado, empiece de nuevo desde ella.',
    ],
  },
  notAPage: {
    title: 'Esta página no se puede abrir por sí sola',
    paragraphs: ['Es un paso del inicio de sesión, que comienza en una aplicación.', startAgain],
  },
  malformedForm: {
    title: 'Falta algo en este formulario',
    paragraphs: ['La página que envió está incompleta.', startAgain],
  },
  notConnected: {
    title: 'Esta aplicación no está conectada',
    paragraphs: ['No tiene acceso a su cuenta. Quizá se le retiró antes.'],
  },
  signedOut: {
    title: 'Su sesión ha terminado',
    paragraphs: [
      'Ha pasado un tiempo sin actividad, o usted cerró la sesión en otra pestaña. La página que envió no ha tenido ningún efecto.',
      startAgain,
    ],
  },
  tooManyAttempts: (seconds) => ({
    title: 'Demasiados intentos',
    paragraphs: [
      `Ha habido demasiados intentos. Inténtelo de nuevo dentro de ${inWords(seconds, LOCALE)}. Es posible que para entonces esta página haya caducado.`,
      startAgain,
      'Su cuenta está a salvo; no se ha compartido nada.',
    ],
  }),
  lockedPhone: (seconds) => ({
    title: 'Demasiados intentos',
    paragraphs: [
      `Se han escrito demasiados códigos equivocados para este número de teléfono. Durante ${inWords(seconds, LOCALE)} nadie podrá iniciar sesión con él.`,
      'Si el número es suyo y no puede esperar, pida al servicio de asistencia que le permita entrar antes.',
      startAgain,
    ],
  }),
  unavailable: {
    title: 'Ahora mismo no podemos responder',
    paragraphs: ['Inténtelo de nuevo en unos segundos.'],
  },
  fault: (requestId) => ({
    title: 'Algo ha fallado por nuestra parte',
    paragraphs: [
      startAgain,
      `Si vuelve a ocurrir, indique esta referencia al servicio de asistencia: ${requestId}.`,
    ],
  }),
  refused: (app, code, description) => ({
    title: 'Este enlace no funciona',
    paragraphs: [
      `${app} le ha enviado aquí con una solicitud que no podemos aceptar. No se ha compartido nada con esa aplicación.`,
      'Puede cerrar esta página, o volver a la aplicación e intentarlo de nuevo.',
      markup`Para los desarrolladores de la aplicación: <span lang="en">${code}. ${description}</span>`,
    ],
  }),
});
