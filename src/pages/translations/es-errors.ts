import { inWords, LOCALES } from '../language.js';
import { type ErrorTexts, page } from './en-errors.js';
import { markup } from './markup.js';

const LOCALE = LOCALES.es;

const TELL_THE_APP =
  'Avise a los responsables de la aplicación. No se ha compartido nada con ella.';

export const errors = (startAgain: string): ErrorTexts => ({
  unknownApp: page(
    'Aquí no se conoce esta aplicación',
    'El enlace por el que llegó aquí nombra una aplicación que no está registrada o que se ha desactivado.',
    TELL_THE_APP,
  ),
  wrongRedirectUri: page(
    'No es seguro seguir este enlace',
    'El enlace por el que llegó aquí lleva a una dirección que no está registrada para la aplicación.',
    TELL_THE_APP,
  ),
  removedRedirectUri: page(
    'La aplicación ha cambiado su registro',
    'La dirección a la que se habría enviado su respuesta ya no está registrada para la aplicación.',
    'No se ha compartido nada con ella.',
    startAgain,
  ),
  removedScopes: page(
    'La aplicación ha cambiado su registro',
    'Ninguno de los accesos que le pidió sigue registrado para la aplicación.',
    'No se ha compartido nada con ella.',
    startAgain,
  ),
  malformedLink: page(
    'Este enlace está dañado',
    'No se puede leer el enlace por el que llegó aquí.',
    startAgain,
  ),
  stateTooLong: page(
    'Este enlace es demasiado largo',
    'La aplicación ha enviado con su solicitud más texto del permitido.',
    startAgain,
  ),
  expired: page(
    'Esta página ha caducado',
    'Ha pasado más tiempo del que esta página puede permanecer abierta.',
    startAgain,
  ),
  foreignForm: page(
    'Este formulario no procede de su navegador',
    'La página que envió no pertenece a este navegador o ya no es actual: quizá se empezó de nuevo en otra pestaña, o desde entonces usted ha iniciado sesión como otra persona.',
    'No ha tenido ningún efecto.',
    startAgain,
  ),
  noCookies: page(
    'Su navegador no ha guardado nuestra cookie',
    'Para iniciar sesión hace falta una cookie, que nos permite saber que sigue siendo usted. Permita las cookies en este sitio.',
    startAgain,
  ),
  alreadyDecided: page(
    'Ya se ha respondido a esta solicitud',
    'Usted ya respondió a esta solicitud, quizá en otra pestaña. Solo cuenta una respuesta.',
    'Si la aplicación no ha continuado, empiece de nuevo desde ella.',
  ),
  notAPage: page(
    'Esta página no se puede abrir por sí sola',
    'Es un paso del inicio de sesión, que comienza en una aplicación.',
    startAgain,
  ),
  malformedForm: page(
    'Falta algo en este formulario',
    'La página que envió está incompleta.',
    startAgain,
  ),
  notConnected: page(
    'Esta aplicación no está conectada',
    'No tiene acceso a su cuenta. Quizá se le retiró antes.',
  ),
  signedOut: page(
    'Su sesión ha terminado',
    'Ha pasado un tiempo sin actividad, o usted cerró la sesión en otra pestaña. La página que envió no ha tenido ningún efecto.',
    startAgain,
  ),
  tooManyAttempts: (seconds) =>
    page(
      'Demasiados intentos',
      `Ha habido demasiados intentos. Inténtelo de nuevo dentro de ${inWords(seconds, LOCALE)}. Es posible que para entonces esta página haya caducado.`,
      startAgain,
      'Su cuenta está a salvo; no se ha compartido nada.',
    ),
  lockedPhone: (seconds) =>
    page(
      'Demasiados intentos',
      `Se han escrito demasiados códigos equivocados para este número de teléfono. Durante ${inWords(seconds, LOCALE)} nadie podrá iniciar sesión con él.`,
      'Si el número es suyo y no puede esperar, pida al servicio de asistencia que le permita entrar antes.',
      startAgain,
    ),
  unavailable: page('Ahora mismo no podemos responder', 'Inténtelo de nuevo en unos segundos.'),
  fault: (requestId) =>
    page(
      'Algo ha fallado por nuestra parte',
      startAgain,
      `Si vuelve a ocurrir, indique esta referencia al servicio de asistencia: ${requestId}.`,
    ),
  refused: (app, code, description) =>
    page(
      'Este enlace no funciona',
      `${app} le ha enviado aquí con una solicitud que no podemos aceptar. No se ha compartido nada con esa aplicación.`,
      'Puede cerrar esta página, o volver a la aplicación e intentarlo de nuevo.',
      markup`Para los desarrolladores de la aplicación: <span lang="en">${code}. ${description}</span>`,
    ),
});
