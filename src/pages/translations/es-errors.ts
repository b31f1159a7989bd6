import { formatDuration, LOCALES } from '../language.js';
import { type ErrorTexts, page } from './en-errors.js';
import { markup } from './markup.js';

const LOCALE = LOCALES.es;

const CONTACT_DEVELOPER =
  'Diríjase al desarrollador de la aplicación. No se ha compartido nada con ella.';

export const errors = (startAgain: string): ErrorTexts => ({
  unknownApp: page(
    'Aplicación desconocida',
    'La aplicación que le ha enviado aquí no está registrada o se ha desactivado.',
    CONTACT_DEVELOPER,
  ),
  wrongRedirectUri: page(
    'Este enlace no es seguro',
    'Lleva a una dirección que no está registrada para la aplicación.',
    CONTACT_DEVELOPER,
  ),
  removedRedirectUri: page(
    'La aplicación ha cambiado su registro',
    'La dirección a la que usted volvería ya no está registrada para la aplicación.',
    'No se ha compartido nada con ella.',
    startAgain,
  ),
  removedScopes: page(
    'La aplicación ha cambiado su registro',
    'La aplicación ya no puede solicitar el acceso que le pidió.',
    'No se ha compartido nada con ella.',
    startAgain,
  ),
  malformedLink: page(
    'Este enlace está dañado',
    'No hemos podido leer el enlace por el que llegó aquí.',
    startAgain,
  ),
  stateTooLong: page(
    'Este enlace es demasiado largo',
    'La aplicación ha enviado con su solicitud más datos de los que aceptamos.',
    startAgain,
  ),
  expired: page(
    'Esta página ha caducado',
    'Se ha agotado el tiempo para iniciar sesión.',
    startAgain,
  ),
  invalidForm: page(
    'Este formulario ya no es válido',
    'No es actual o pertenece a otro navegador. Quizá ha empezado de nuevo en otra pestaña o ha iniciado sesión con otra cuenta.',
    'No se ha cambiado nada.',
    startAgain,
  ),
  noCookies: page(
    'Falta una cookie necesaria',
    'Su navegador no ha enviado la cookie que hace falta para iniciar sesión. Permita las cookies en este sitio.',
    startAgain,
  ),
  alreadyDecided: page(
    'Ya ha respondido a esta solicitud',
    'Ya la permitió o la denegó, quizá en otra pestaña. Solo cuenta la primera respuesta.',
    'Si la aplicación no ha continuado, vuelva a ella y empiece de nuevo.',
  ),
  notDirectlyAccessible: page(
    'Esta página no se puede abrir directamente',
    'Es un paso de un inicio de sesión que comienza en una aplicación.',
    startAgain,
  ),
  malformedForm: page(
    'Este formulario está incompleto',
    'Faltan campos obligatorios o alguno no es válido.',
    startAgain,
  ),
  notConnected: page(
    'Esta aplicación no está conectada',
    'No tiene acceso a su cuenta. Quizá usted ya se lo ha retirado.',
  ),
  signedOut: page(
    'Su sesión ha terminado',
    'Su sesión ha caducado o usted la ha cerrado en otra pestaña. No se ha cambiado nada.',
    startAgain,
  ),
  tooManyAttempts: (seconds) =>
    page(
      'Demasiados intentos',
      `Inténtelo de nuevo dentro de ${formatDuration(seconds, LOCALE)}. Es posible que para entonces esta página haya caducado.`,
      startAgain,
      'Su cuenta está a salvo. No se ha compartido nada.',
    ),
  lockedPhone: page(
    'Demasiados intentos',
    'Se han introducido demasiados códigos incorrectos para este número de teléfono, así que está bloqueado.',
    'Si el número es suyo, inicie sesión con un navegador que ya haya usado antes. Así se desbloquea. Si no, pida al servicio de asistencia que lo desbloquee.',
    startAgain,
  ),
  unavailable: page('No disponible por el momento', 'Inténtelo de nuevo en unos segundos.'),
  internalError: page(
    'Algo ha fallado por nuestra parte',
    startAgain,
    'Si vuelve a ocurrir, indique al servicio de asistencia el identificador de la solicitud que aparece abajo.',
  ),
  invalidRequest: (app) =>
    page(
      'Este enlace no funciona',
      markup`<bdi>${app}</bdi> ha enviado una solicitud no válida. No se ha compartido nada con esa aplicación.`,
      'Puede cerrar esta página, o volver a la aplicación e intentarlo de nuevo.',
    ),
});
