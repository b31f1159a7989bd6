import { formatDuration, LOCALES, type Language } from './language.js';
import type { Text } from './translations/markup.js';

export interface ErrorText {
  title: string;
  paragraphs: readonly Text[];
}

interface TextValues {
  /** A sentence that says how to start again. */
  startAgain: string;
  /** Until the user may try again. */
  seconds: number;
}

/** Returns the title and the paragraphs. */
type PageText = (values: TextValues) => readonly [string, ...string[]];

interface PageErrorDefinition extends Readonly<Record<Language, PageText>> {
  status: number;
  /** HTML for the page `/docs/errors`: what the error means and what the developer of the app can do. */
  remedy: string;
}

const CONTACT_DEVELOPER = {
  en: 'Contact the developer of the app. Nothing was shared with it.',
  es: 'Diríjase al desarrollador de la aplicación. No se ha compartido nada con ella.',
};

/** The errors of pages, by the code in logs, in metrics and in the small print of the page. */
export const PAGE_ERRORS = {
  unknown_app: {
    status: 400,
    remedy: 'client_id is not the id of an enabled app. Send the id that you got at registration.',
    en: () => [
      'Unknown app',
      'The app that sent you here is not registered or was disabled.',
      CONTACT_DEVELOPER.en,
    ],
    es: () => [
      'Aplicación desconocida',
      'La aplicación que le ha enviado aquí no está registrada o se ha desactivado.',
      CONTACT_DEVELOPER.es,
    ],
  },
  wrong_redirect_uri: {
    status: 400,
    remedy:
      'redirect_uri is missing, or is not exactly one that is registered for the app. Register it, or send a registered one.',
    en: () => [
      'This link is not safe',
      'It would send you to an address that is not registered for the app.',
      CONTACT_DEVELOPER.en,
    ],
    es: () => [
      'Este enlace no es seguro',
      'Lleva a una dirección que no está registrada para la aplicación.',
      CONTACT_DEVELOPER.es,
    ],
  },
  removed_redirect_uri: {
    status: 400,
    remedy:
      'The operator removed the redirect URI while the user signed in. Use one that is registered.',
    en: ({ startAgain }) => [
      'The app has changed its registration',
      'The address that you would return to is no longer registered for the app.',
      'Nothing was shared with it.',
      startAgain,
    ],
    es: ({ startAgain }) => [
      'La aplicación ha cambiado su registro',
      'La dirección a la que usted volvería ya no está registrada para la aplicación.',
      'No se ha compartido nada con ella.',
      startAgain,
    ],
  },
  removed_scopes: {
    status: 400,
    remedy:
      'The operator removed every requested scope while the user signed in. Request registered scopes.',
    en: ({ startAgain }) => [
      'The app has changed its registration',
      'The app may no longer request the access that it asked you for.',
      'Nothing was shared with it.',
      startAgain,
    ],
    es: ({ startAgain }) => [
      'La aplicación ha cambiado su registro',
      'La aplicación ya no puede solicitar el acceso que le pidió.',
      'No se ha compartido nada con ella.',
      startAgain,
    ],
  },
  malformed_link: {
    status: 400,
    remedy: 'The URL is not percent-encoded correctly. Build it with a URL library.',
    en: ({ startAgain }) => [
      'This link is broken',
      'We could not read the link that brought you here.',
      startAgain,
    ],
    es: ({ startAgain }) => [
      'Este enlace está dañado',
      'No hemos podido leer el enlace por el que llegó aquí.',
      startAgain,
    ],
  },
  state_too_long: {
    status: 400,
    remedy: 'state has more than 4,096 bytes. Store the data in your app, and send a key.',
    en: ({ startAgain }) => [
      'This link is too long',
      'The app sent more data with its request than we accept.',
      startAgain,
    ],
    es: ({ startAgain }) => [
      'Este enlace es demasiado largo',
      'La aplicación ha enviado con su solicitud más datos de los que aceptamos.',
      startAgain,
    ],
  },
  expired: {
    status: 400,
    remedy: 'The user took too long to sign in. Start a new authorization request.',
    en: ({ startAgain }) => ['This page has expired', 'Your sign-in timed out.', startAgain],
    es: ({ startAgain }) => [
      'Esta página ha caducado',
      'Se ha agotado el tiempo para iniciar sesión.',
      startAgain,
    ],
  },
  no_cookies: {
    status: 403,
    remedy:
      'The browser sent no cookie. Open the authorization URL in the system browser, not in an embedded view.',
    en: ({ startAgain }) => [
      'A required cookie is missing',
      'Your browser did not send the cookie that signing in requires. A sign-in continues only in the browser that started it: if you copied the link from another browser, go back to that one.',
      'Otherwise, allow cookies for this site.',
      startAgain,
    ],
    es: ({ startAgain }) => [
      'Falta una cookie necesaria',
      'Su navegador no ha enviado la cookie que hace falta para iniciar sesión. Un inicio de sesión solo continúa en el navegador en el que empezó: si copió el enlace desde otro navegador, vuelva a ese.',
      'Si no, permita las cookies en este sitio.',
      startAgain,
    ],
  },
  already_answered: {
    status: 409,
    remedy: 'The user already allowed or denied this authorization request. Start a new one.',
    en: () => [
      'You have already responded to this request',
      'You allowed or denied it before, perhaps in another tab. Only the first response counts.',
      'If the app did not continue, go back to it and start again.',
    ],
    es: () => [
      'Ya ha respondido a esta solicitud',
      'Ya la permitió o la denegó, quizá en otra pestaña. Solo cuenta la primera respuesta.',
      'Si la aplicación no ha continuado, vuelva a ella y empiece de nuevo.',
    ],
  },
  not_a_page: {
    status: 400,
    remedy: 'The URL belongs to a form. Start at /oauth/authorize.',
    en: ({ startAgain }) => [
      'This page cannot be opened directly',
      'It is one step of a sign-in that starts in an app.',
      startAgain,
    ],
    es: ({ startAgain }) => [
      'Esta página no se puede abrir directamente',
      'Es un paso de un inicio de sesión que comienza en una aplicación.',
      startAgain,
    ],
  },
  malformed_form: {
    status: 400,
    remedy: 'A field of the form is missing or invalid. Submit our forms unchanged.',
    en: ({ startAgain }) => [
      'This form is incomplete',
      'Required fields are missing or invalid.',
      startAgain,
    ],
    es: ({ startAgain }) => [
      'Este formulario está incompleto',
      'Faltan campos obligatorios o alguno no es válido.',
      startAgain,
    ],
  },
  foreign_form: {
    status: 403,
    remedy:
      'The form belongs to another browser, sign-in or user, or to another site. Start again.',
    en: ({ startAgain }) => [
      'This form is no longer valid',
      'It is out of date or belongs to another browser. You may have started again in another tab, or signed in as another user.',
      'Nothing was changed.',
      startAgain,
    ],
    es: ({ startAgain }) => [
      'Este formulario ya no es válido',
      'No es actual o pertenece a otro navegador. Quizá ha empezado de nuevo en otra pestaña o ha iniciado sesión con otra cuenta.',
      'No se ha cambiado nada.',
      startAgain,
    ],
  },
  other_address: {
    status: 403,
    remedy:
      'The page was opened by another name of the host than the issuer. Build the authorization URL from the metadata of the service.',
    en: () => [
      'This page has another address',
      'You opened it by another name of this site, where its forms do not work. Nothing was changed.',
      'Open it at this address:',
    ],
    es: () => [
      'Esta página tiene otra dirección',
      'La ha abierto con otro nombre de este sitio, con el que sus formularios no funcionan. No se ha cambiado nada.',
      'Ábrala en esta dirección:',
    ],
  },
  prefetch: {
    status: 400,
    remedy:
      'The browser requested the page before the user opened it (Sec-Purpose: prefetch), so nothing was stored. It sends the request again when the user does.',
    en: ({ startAgain }) => [
      'This page cannot be loaded in advance',
      'It loads when you open the link.',
      startAgain,
    ],
    es: ({ startAgain }) => [
      'Esta página no se puede cargar por adelantado',
      'Se carga cuando usted abre el enlace.',
      startAgain,
    ],
  },
  not_connected: {
    status: 404,
    remedy: 'The app has no access to the account of this user. Start a new authorization request.',
    en: () => [
      'This app is not connected',
      'It has no access to your account. You may have removed its access already.',
    ],
    es: () => [
      'Esta aplicación no está conectada',
      'No tiene acceso a su cuenta. Quizá usted ya se lo ha retirado.',
    ],
  },
  signed_out: {
    status: 403,
    remedy: 'The session of the user has ended. The user signs in again.',
    en: ({ startAgain }) => [
      'You are no longer signed in',
      'Your session expired, or you signed out in another tab. Nothing was changed.',
      startAgain,
    ],
    es: ({ startAgain }) => [
      'Su sesión ha terminado',
      'Su sesión ha caducado o usted la ha cerrado en otra pestaña. No se ha cambiado nada.',
      startAgain,
    ],
  },
  too_many_attempts: {
    status: 429,
    remedy:
      'Too many requests came from the address, or too many codes were tried for the phone number. Wait for Retry-After seconds.',
    en: ({ startAgain, seconds }) => [
      'Too many attempts',
      `Try again in ${formatDuration(seconds, LOCALES.en)}. This page may have expired by then.`,
      startAgain,
      'Your account is safe. Nothing was shared.',
    ],
    es: ({ startAgain, seconds }) => [
      'Demasiados intentos',
      `Inténtelo de nuevo dentro de ${formatDuration(seconds, LOCALES.es)}. Es posible que para entonces esta página haya caducado.`,
      startAgain,
      'Su cuenta está a salvo. No se ha compartido nada.',
    ],
  },
  locked_phone: {
    status: 429,
    remedy: 'Too many wrong codes were entered for the phone number. The operator can unlock it.',
    en: ({ startAgain }) => [
      'Too many attempts',
      'Too many wrong codes were entered for this phone number, so it is locked.',
      'If this is your number, sign in with a browser that you used before. That unlocks it. Otherwise, ask support to unlock it.',
      startAgain,
    ],
    es: ({ startAgain }) => [
      'Demasiados intentos',
      'Se han introducido demasiados códigos incorrectos para este número de teléfono, así que está bloqueado.',
      'Si el número es suyo, inicie sesión con un navegador que ya haya usado antes. Así se desbloquea. Si no, pida al servicio de asistencia que lo desbloquee.',
      startAgain,
    ],
  },
  service_unavailable: {
    status: 503,
    remedy: 'The service is temporarily unavailable. Wait for Retry-After seconds.',
    en: () => ['Temporarily unavailable', 'Try again in a few seconds.'],
    es: () => ['No disponible por el momento', 'Inténtelo de nuevo en unos segundos.'],
  },
  internal_error: {
    status: 500,
    remedy: 'An error in the service. Contact support with the request id.',
    en: ({ startAgain }) => [
      'Something went wrong on our side',
      startAgain,
      'If it happens again, contact support and mention the request ID below.',
    ],
    es: ({ startAgain }) => [
      'Algo ha fallado por nuestra parte',
      startAgain,
      'Si vuelve a ocurrir, indique al servicio de asistencia el identificador de la solicitud que aparece abajo.',
    ],
  },
} as const satisfies Record<string, PageErrorDefinition>;

export type PageErrorCode = keyof typeof PAGE_ERRORS;

/** An error shown as an HTML page, without a redirect to the app. */
export class PageError extends Error {
  /** The request that failed, if the page is shown after a redirect. */
  requestId?: string;

  constructor(
    readonly code: PageErrorCode,
    readonly retryAfterSeconds?: number,
  ) {
    super(code);
    this.name = new.target.name;
  }

  get status(): number {
    return PAGE_ERRORS[this.code].status;
  }

  /** @param startAgain a sentence that says how to start again */
  text(language: Language, startAgain: string): ErrorText {
    const seconds = this.retryAfterSeconds ?? 0;
    const texts: PageErrorDefinition = PAGE_ERRORS[this.code];
    const [title, ...paragraphs] = texts[language]({ startAgain, seconds });
    return { title, paragraphs };
  }
}
