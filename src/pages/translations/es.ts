import type { Catalogue } from './en.js';
import { inWords, LOCALES } from '../language.js';
import { errors } from './es-errors.js';
import { landing } from './es-landing.js';
import { markup } from './markup.js';

const LOCALE = LOCALES.es;

/** Spanish as it is understood everywhere, which addresses members as "usted". */
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
  },
  signIn: {
    toApp: (app) => markup`para continuar en <strong><bdi>${app}</bdi></strong>`,
    toAccount: 'para ver qué aplicaciones tienen acceso a su cuenta',
    footer:
      'Compruebe la dirección de esta página antes de escribir un código: solo lo pedimos aquí.',
  },
  phone: {
    title: 'Iniciar sesión',
    label: 'Su número de teléfono',
    hint: 'El de su cuenta, con el prefijo del país, como +1\u00a0415\u00a0555\u00a00100.',
    send: 'Enviarme un código',
    byMessage: 'Le enviaremos un código de un solo uso por mensaje de texto.',
    appSeesNothing: (app) =>
      markup`<bdi>${app}</bdi> no verá su número, y no tendrá acceso hasta que usted lo autorice en las páginas siguientes.`,
    notAPhone: 'Escriba su número de teléfono con el prefijo del país, como +1 415 555 0100.',
    notOurCountry: 'No podemos enviar mensajes a números de ese país.',
  },
  code: {
    title: 'Escriba su código',
    sent: (phone) =>
      markup`Si hay una cuenta con el número <strong class="phone">${phone}</strong>, le hemos enviado un código de 6 cifras.`,
    label: 'Código de 6 cifras',
    hint: 'Sirve una sola vez. No se lo dé a nadie, sea quien sea.',
    submit: 'Continuar',
    notReceived: '¿No ha recibido el mensaje?',
    patience:
      'Puede tardar un minuto. Compruebe que el número es correcto y que pertenece a una cuenta.',
    sendNew: 'Enviar un código nuevo',
    otherNumber: 'Usar otro número',
    sentAgain:
      'Si hay una cuenta con este número, le llegará un código nuevo. Solo sirve el más reciente.',
    notACode: 'Escriba las 6 cifras del código.',
    wrong: 'Ese no es el código que enviamos. Mire el mensaje más reciente e inténtelo de nuevo.',
    closed: 'Este código ya no sirve. Pida uno nuevo.',
    wait: (seconds) =>
      `Se han pedido demasiados mensajes. Inténtelo de nuevo dentro de ${inWords(seconds, LOCALE)}.`,
    expiredByThen:
      'Para entonces esta página habrá caducado: vuelva al sitio del que venía y empiece de nuevo.',
    lastWorks: 'El último código que enviamos todavía sirve.',
  },
  message: {
    /** Without "código" and "sesión": an accent outside of the letters of GSM 03.38 doubles what a message costs. */
    password: (password, seconds) =>
      `Use ${password} para entrar en su cuenta. Sirve durante ${inWords(seconds, LOCALE)}. No se lo diga a nadie.`,
  },
  who: {
    signedInAs: 'Ha iniciado sesión como',
    notYou: '¿No es usted?',
  },
  consent: {
    title: '¿Permitir el acceso?',
    asks: (app) => markup`<bdi>${app}</bdi> solicita acceso a su cuenta`,
    recipient: (host) =>
      markup`Su respuesta se enviará a <strong class="host">${host}</strong>. Permita el acceso solo si conoce esta aplicación y confía en ella.`,
    may: '¿Qué podrá hacer?',
    untick:
      'Desmarque lo que no quiera permitir. Si no queda nada marcado, la aplicación no tendrá acceso.',
    mayNot: 'Lo que no podrá hacer',
    never: [
      'Ver su número de teléfono',
      'Leer sus mensajes',
      'Cambiar su perfil',
      'Actuar en nombre de otra persona',
    ],
    howLong: 'Por cuánto tiempo',
    until: (unused, atMost) =>
      `Hasta que usted lo retire. Si no se usa, el acceso termina después de ${inWords(unused, LOCALE)} y, en cualquier caso, a más tardar después de ${inWords(atMost, LOCALE)}.`,
    changedMind: 'Si cambia de opinión',
    takeBack: (path, url) =>
      markup`Puede retirarle el acceso en cualquier momento en <a href="${path}">${url}</a>.`,
    deny: 'Denegar',
    allow: 'Permitir',
    footer: 'Usted abrió esta página desde una aplicación. Si no fue así, elija Denegar.',
  },
  apps: {
    title: 'Aplicaciones conectadas',
    none: 'Ninguna aplicación tiene acceso a su cuenta.',
    some: 'Estas aplicaciones tienen acceso a su cuenta porque usted lo ha permitido.',
    yours: 'Sus aplicaciones',
    tick: 'Marque las que deban perder el acceso.',
    granted: 'Permitido el',
    lastUsed: 'Último uso',
    notYet: 'ninguno',
    remove: 'Retirar el acceso',
    removeAll: 'Retirar el acceso a todas',
    allOfThem:
      'Todas las aplicaciones de esta lista perderán el acceso de inmediato, y también cualquiera que usted haya permitido desde que se abrió esta página.',
    removeThemAll: (count) =>
      `Retirar el acceso a las ${count.toLocaleString(LOCALE)} aplicaciones`,
    footer:
      'El acceso se retira de inmediato. Eso no borra lo que una aplicación haya copiado antes: para ello, diríjase a sus responsables.',
    one: 'Aplicación conectada',
    titleOfOne: (app) => `Aplicación conectada: ${app}`,
    may: 'Lo que puede hacer',
    all: 'Todas las aplicaciones conectadas',
    noAppSelected: 'No se ha retirado ningún acceso, porque no hay ninguna aplicación marcada.',
    removedBefore: 'Este acceso ya se había retirado.',
    removed: (app) => `${app} ya no tiene acceso.`,
    removedSeveral: (count) => `${count.toLocaleString(LOCALE)} aplicaciones ya no tienen acceso.`,
  },
  wayOn: {
    toApp: 'Vuelva a la aplicación y empiece de nuevo desde allí.',
    ofApp: 'No se comparte nada con una aplicación antes de que usted lo permita.',
    toAccount: 'Abra sus aplicaciones conectadas y empiece de nuevo desde allí.',
    ofAccount: 'Las aplicaciones solo tienen acceso a su cuenta mientras usted lo permita.',
    returnTo: (app) => `Volver a ${app}`,
  },
  post: {
    titleOf: (author) => `Una publicación de ${author}`,
    by: 'De',
    in: 'En',
    on: 'Fecha',
    images: 'Imágenes',
    imageOn: (number, host) => `Imagen ${number.toLocaleString(LOCALE)} en ${host}`,
    tags: 'Etiquetas',
    footer: 'Esta publicación es pública. Puede leerla quien tenga el enlace.',
    missing: {
      title: 'No existe esa publicación',
      paragraphs: ['Se eliminó, no es pública o el enlace es incorrecto.'],
    },
    openAgain: 'Abra de nuevo el enlace.',
  },
  errors,
  landing,
};
