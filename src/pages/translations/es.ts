import type { Catalogue } from './en.js';
import { formatDuration, LOCALES } from '../language.js';
import { errors } from './es-errors.js';
import { landing } from './es-landing.js';
import { isolated, markup } from './markup.js';

const LOCALE = LOCALES.es;

/** International Spanish. Addresses the user as "usted". */
export const es: Catalogue = {
  scopes: {
    'profile.read': 'Ver su nombre, su foto, su karma y su vecindario',
    'posts.read': 'Leer sus publicaciones y los comentarios que reciben',
    'posts.write': 'Crear y eliminar publicaciones y comentarios en su nombre',
    'analytics.read': 'Ver cuántos «me gusta» y comentarios tienen sus publicaciones',
  },
  layout: {
    network: 'Red vecinal',
    error: 'Error:',
    problem: 'Hay un problema',
    privacy: 'Privacidad',
    terms: 'Condiciones',
    support: 'Ayuda',
  },
  signIn: {
    toApp: (app) => markup`para continuar en <strong><bdi>${app}</bdi></strong>`,
    toAccount: 'para administrar sus aplicaciones conectadas',
    footer:
      'Compruebe la dirección de esta página antes de escribir un código. Solo pedimos códigos aquí.',
  },
  phone: {
    title: 'Iniciar sesión',
    label: 'Su número de teléfono',
    hint: 'El número de su cuenta, con el prefijo del país, como +1\u00a0415\u00a0555\u00a00100.',
    send: 'Enviarme un código',
    byMessage: 'Le enviaremos un código de un solo uso por mensaje de texto.',
    hiddenFromApp: (app) =>
      markup`<bdi>${app}</bdi> no verá su número ni tendrá acceso hasta que usted lo permita.`,
    invalid: 'Escriba su número de teléfono con el prefijo del país, como +1 415 555 0100.',
    unsupportedCountry: 'No podemos enviar códigos a números de teléfono de ese país.',
  },
  code: {
    title: 'Escriba su código',
    sent: (phone) =>
      markup`Si hay una cuenta con el número <strong class="phone">${phone}</strong>, hemos enviado un código de 6 cifras a ese número.`,
    label: 'Código de 6 cifras',
    hint: 'Sirve una sola vez. No lo comparta con nadie.',
    submit: 'Continuar',
    notReceived: '¿No ha recibido el código?',
    notReceivedHelp:
      'Puede tardar un minuto. Compruebe que el número es correcto y que pertenece a una cuenta.',
    sendNew: 'Enviar un código nuevo',
    otherNumber: 'Usar otro número',
    sentAgain:
      'Si hay una cuenta con este número, recibirá un código nuevo. Solo sirve el más reciente.',
    invalid: 'Escriba las 6 cifras del código.',
    wrong: 'Ese código no es correcto. Compruebe el mensaje más reciente e inténtelo de nuevo.',
    expired: 'Este código ha caducado. Pida uno nuevo.',
    wait: (seconds) => `Podrá pedir un código nuevo dentro de ${formatDuration(seconds, LOCALE)}.`,
    pageExpiresFirst:
      'Esta página caducará antes. Vuelva más tarde al sitio del que venía y empiece de nuevo.',
    lastCodeWorks: 'El último código que enviamos todavía sirve.',
  },
  sms: {
    /** Avoids "código" and "sesión": GSM 03.38 has no "ó", and one such letter doubles the price of a message. */
    oneTimePassword: (password, network, seconds) =>
      `Use ${password} para entrar en ${network}. Sirve durante ${formatDuration(seconds, LOCALE)}. No se lo diga a nadie.`,
  },
  currentUser: {
    signedInAs: 'Sesión iniciada como',
    notYou: 'Cambiar de cuenta',
  },
  consent: {
    title: '¿Permitir el acceso?',
    heading: (app) => markup`<bdi>${app}</bdi> quiere acceder a su cuenta`,
    returnTo: (host) =>
      markup`Volverá a <strong class="host">${host}</strong>. Permita el acceso solo si conoce esta aplicación y confía en ella.`,
    permissions: (app) => markup`<bdi>${app}</bdi> podrá:`,
    permissionsHint: 'Desmarque lo que no quiera compartir.',
    earlierGrantHint:
      'Ya permitió el acceso a esta aplicación. Si elige Permitir, pierde de inmediato lo que desmarque aquí. Si elige Cancelar o desmarca todo, no cambia nada.',
    details: 'Qué no podrá hacer y durante cuánto tiempo',
    neverTitle: 'Nunca podrá:',
    never: [
      'Ver su número de teléfono',
      'Leer sus mensajes',
      'Cambiar su perfil',
      'Actuar en nombre de otra persona',
    ],
    durationTitle: 'Duración del acceso',
    duration: (unused, atMost) =>
      `El acceso dura hasta ${formatDuration(atMost, LOCALE)} y termina tras ${formatDuration(unused, LOCALE)} sin uso.`,
    removeTitle: '¿Ha cambiado de opinión?',
    removeHint: (path, url) =>
      markup`Puede retirar el acceso en cualquier momento en <a href="${path}">${url}</a>.`,
    deny: 'Cancelar',
    allow: 'Permitir',
    footer: 'Si no abrió esta página desde una aplicación, elija Cancelar.',
  },
  apps: {
    title: 'Aplicaciones conectadas',
    none: 'Ninguna aplicación tiene acceso a su cuenta.',
    some: 'Usted ha permitido que estas aplicaciones accedan a su cuenta.',
    yours: 'Sus aplicaciones',
    selectHint: 'Seleccione las aplicaciones que quiera desconectar.',
    granted: 'Permitido el',
    lastUsed: 'Último uso',
    notUsedYet: 'Aún sin usar',
    remove: 'Retirar el acceso',
    signOutEverywhere: 'Cerrar sesión en todas partes',
    signOutEverywhereHint:
      'Se cerrará la sesión en todos los navegadores, también en este. Las aplicaciones conservarán el acceso hasta que lo retire.',
    removeAll: 'Retirar el acceso a todas',
    removeAllHint:
      'Todas las aplicaciones perderán el acceso de inmediato, incluso las que haya permitido después de abrir esta página.',
    confirmRemoveAll: (count) =>
      `Retirar el acceso a las ${count.toLocaleString(LOCALE)} aplicaciones`,
    footer:
      'Las aplicaciones pierden el acceso de inmediato, pero conservan los datos que ya hayan copiado. Para que se eliminen, diríjase al desarrollador de la aplicación.',
    single: 'Aplicación conectada',
    singleTitle: (app) => `Aplicación conectada: ${isolated(app)}`,
    permissions: 'Esta aplicación puede:',
    showAll: 'Todas las aplicaciones conectadas',
    noneSelected: 'No ha seleccionado ninguna aplicación. Seleccione las que quiera desconectar.',
    alreadyRemoved: 'Este acceso ya se había retirado.',
    removed: (app) => `${isolated(app)} ya no tiene acceso.`,
    removedSeveral: (count) => `${count.toLocaleString(LOCALE)} aplicaciones ya no tienen acceso.`,
  },
  recovery: {
    backToApp: 'Vuelva a la aplicación y empiece de nuevo.',
    appFooter: 'No se comparte nada con una aplicación hasta que usted lo permita.',
    backToAccount: 'Abra sus aplicaciones conectadas y empiece de nuevo.',
    accountFooter: 'Las aplicaciones solo pueden acceder a su cuenta mientras usted lo permita.',
    returnTo: (app) => `Volver a ${isolated(app)}`,
  },
  post: {
    titleOf: (author) => `Una publicación de ${author}`,
    by: 'De',
    in: 'En',
    on: 'Fecha',
    images: 'Imágenes',
    imageOn: (number, host) => `Imagen ${number.toLocaleString(LOCALE)} en ${host}`,
    tags: 'Etiquetas',
    footer: 'Esta publicación es pública. Cualquiera que tenga el enlace puede leerla.',
    notFound: {
      title: 'Publicación no encontrada',
      paragraphs: ['Se eliminó, no es pública o el enlace es incorrecto.'],
    },
    openAgain: 'Abra de nuevo el enlace.',
  },
  notFound: {
    title: 'Página no encontrada',
    paragraphs: [
      'No hay ninguna página en esta dirección. Compruebe el enlace o empiece desde la página de inicio.',
    ],
    home: 'Página de inicio',
  },
  errors,
  landing,
};
