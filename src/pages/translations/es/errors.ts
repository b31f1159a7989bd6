import { formatDuration } from '../../formats.js';
import type { Catalogue } from '../en/catalogue.js';
import { LOCALE } from './locale.js';

const CONTACT_DEVELOPER =
  'Diríjase al desarrollador de la aplicación. No se ha compartido nada con ella.';

export const errors: Catalogue['errors'] = {
  unknown_app: () => [
    'Aplicación desconocida',
    'La aplicación que le ha enviado aquí no está registrada o se ha desactivado.',
    CONTACT_DEVELOPER,
  ],
  wrong_redirect_uri: () => [
    'Este enlace no es seguro',
    'Lleva a una dirección que no está registrada para la aplicación.',
    CONTACT_DEVELOPER,
  ],
  removed_redirect_uri: ({ startAgain }) => [
    'La aplicación ha cambiado su registro',
    'La dirección a la que usted volvería ya no está registrada para la aplicación.',
    'No se ha compartido nada con ella.',
    startAgain,
  ],
  removed_scopes: ({ startAgain }) => [
    'La aplicación ha cambiado su registro',
    'La aplicación ya no puede solicitar el acceso que le pidió.',
    'No se ha compartido nada con ella.',
    startAgain,
  ],
  malformed_link: ({ startAgain }) => [
    'Este enlace está dañado',
    'No hemos podido leer el enlace por el que llegó aquí.',
    startAgain,
  ],
  state_too_long: ({ startAgain }) => [
    'Este enlace es demasiado largo',
    'La aplicación ha enviado con su solicitud más datos de los que aceptamos.',
    startAgain,
  ],
  expired: ({ startAgain }) => [
    'Esta página ha caducado',
    'Se ha agotado el tiempo para iniciar sesión.',
    startAgain,
  ],
  no_cookies: ({ startAgain }) => [
    'Falta una cookie necesaria',
    'Su navegador no ha enviado la cookie que hace falta para iniciar sesión. Un inicio de sesión solo continúa en el navegador en el que empezó: si copió el enlace desde otro navegador, vuelva a ese.',
    'Si no, permita las cookies en este sitio.',
    startAgain,
  ],
  already_answered: () => [
    'Ya ha respondido a esta solicitud',
    'Ya la permitió o la denegó, quizá en otra pestaña. Solo cuenta la primera respuesta.',
    'Si la aplicación no ha continuado, vuelva a ella y empiece de nuevo.',
  ],
  not_a_page: ({ startAgain }) => [
    'Esta página no se puede abrir directamente',
    'Es un paso de un inicio de sesión que comienza en una aplicación.',
    startAgain,
  ],
  malformed_form: ({ startAgain }) => [
    'Este formulario está incompleto',
    'Faltan campos obligatorios o alguno no es válido.',
    startAgain,
  ],
  foreign_form: ({ startAgain }) => [
    'Este formulario ya no es válido',
    'No es actual o pertenece a otro navegador. Quizá ha empezado de nuevo en otra pestaña o ha iniciado sesión con otra cuenta.',
    'No se ha cambiado nada.',
    startAgain,
  ],
  other_address: () => [
    'Esta página tiene otra dirección',
    'La ha abierto con otro nombre de este sitio, con el que sus formularios no funcionan. No se ha cambiado nada.',
    'Ábrala en esta dirección:',
  ],
  prefetch: ({ startAgain }) => [
    'Esta página no se puede cargar por adelantado',
    'Se carga cuando usted abre el enlace.',
    startAgain,
  ],
  not_connected: () => [
    'Esta aplicación no está conectada',
    'No tiene acceso a su cuenta. Quizá usted ya se lo ha retirado.',
  ],
  signed_out: ({ startAgain }) => [
    'Su sesión ha terminado',
    'Su sesión ha caducado o usted la ha cerrado en otra pestaña. No se ha cambiado nada.',
    startAgain,
  ],
  too_many_attempts: ({ startAgain, seconds }) => [
    'Demasiados intentos',
    `Inténtelo de nuevo dentro de ${formatDuration(seconds, LOCALE)}. Es posible que para entonces esta página haya caducado.`,
    startAgain,
    'Su cuenta está a salvo. No se ha compartido nada.',
  ],
  locked_phone: ({ startAgain }) => [
    'Demasiados intentos',
    'Se han introducido demasiados códigos incorrectos para este número de teléfono, así que está bloqueado.',
    'Si el número es suyo, inicie sesión con un navegador que ya haya usado antes. Así se desbloquea. Si no, pida al servicio de asistencia que lo desbloquee.',
    startAgain,
  ],
  service_unavailable: () => [
    'No disponible por el momento',
    'Inténtelo de nuevo en unos segundos.',
  ],
  internal_error: ({ startAgain }) => [
    'Algo ha fallado por nuestra parte',
    startAgain,
    'Si vuelve a ocurrir, indique al servicio de asistencia el identificador de la solicitud que aparece abajo.',
  ],
};
