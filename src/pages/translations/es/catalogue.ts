import { formatDuration } from '../../formats.js';
import type { Catalogue } from '../en/catalogue.js';
import { markup, isolated } from '../markup.js';
import { errors } from './errors.js';
import { LOCALE } from './locale.js';

/** The landing page, for developers. Its links lead to English pages. */
export const landing: Catalogue['landing'] = {
  title: 'Para desarrolladores',
  heading: 'Desarrolle aplicaciones para su vecindario',
  lead: 'Un servidor OAuth 2.0 y una API JSON. Con el consentimiento de un usuario, su aplicación puede leer el perfil de esa persona, crear y consultar sus publicaciones, responder a comentarios y ver cuántos «me gusta» y comentarios tiene cada publicación.',
  documentation: 'Leer la documentación (en inglés)',
  guide: 'Guía para desarrolladores (en inglés)',
  errorCodes: 'Códigos de error (en inglés)',
  openApi: 'Documento OpenAPI (en inglés)',
  forMembers: '¿Es miembro?',
  account: 'Vea las aplicaciones que tienen acceso a su cuenta',
  how: 'Cómo funciona',
  steps: {
    register: {
      title: 'Registre su aplicación',
      text: markup`El operador registra el nombre de su aplicación, sus URI de redirección y sus permisos, y le da un <code>client_id</code>. Las aplicaciones que se ejecutan en un servidor reciben además un <code>client_secret</code>.`,
    },
    request: {
      title: 'Solicite acceso',
      text: markup`Redirija el navegador a <code>/oauth/authorize</code> con los permisos que necesita, un <code>state</code> aleatorio y un desafío PKCE (<code>S256</code>).`,
    },
    decide: {
      title: 'El usuario decide',
      text: 'Inicia sesión con un código de un solo uso que recibe en su teléfono, revisa los permisos solicitados y los concede todos, solo algunos o ninguno.',
    },
    exchange: {
      title: 'Canjee el código de autorización',
      text: markup`Verifique el <code>state</code> y después envíe el código de autorización y el verificador PKCE a <code>/oauth/token</code>. El <code>scope</code> de la respuesta contiene los permisos concedidos.`,
    },
    call: {
      title: 'Llame a la API',
      text: 'Envíe el token de acceso en una cabecera de cada solicitud.',
    },
  },
  demoOn: 'La demostración está activada',
  demoOnText:
    'En este servidor hay una aplicación y un usuario de demostración, así que puede probar todo el proceso ahora mismo. No introduzca datos de personas reales.',
  demoHow: (phone, code) =>
    markup`Para probarlo, abra la documentación, pulse «Authorize» e inicie sesión con <span class="phone">${phone}</span> y el código <strong>${code}</strong>.`,
  demoOff: 'La demostración está desactivada',
  demoOffText:
    'En este servidor no hay aplicación ni usuario de demostración. Pida al operador que registre su aplicación.',
  footer: 'El operador de este servidor registra las aplicaciones.',
};

const attemptsLeft = (count: number): string => `Intentos restantes: ${count}.`;

/** International Spanish. Addresses the user as "usted". */
export const es: Catalogue = {
  locale: LOCALE,
  direction: 'ltr',
  scopes: {
    'profile.read': 'Ver su nombre, su foto, su karma y su vecindario',
    'posts.read': 'Leer sus publicaciones y los comentarios que reciben',
    'posts.write': 'Crear y eliminar publicaciones y comentarios en su nombre',
    'analytics.read': 'Ver cuántos «me gusta» y comentarios tienen sus publicaciones',
  },
  layout: {
    network: 'Red vecinal',
    error: 'Error:',
    privacy: 'Privacidad',
    terms: 'Condiciones',
    support: 'Ayuda',
  },
  app: {
    publisher: (publisher) => markup`de <bdi>${publisher}</bdi>`,
    verified: (network) => `Verificada por ${network}`,
    notVerified: 'Sin verificar',
    test: 'Aplicación de prueba',
    verifiedMeaning: (network) => `${network} ha comprobado quién ofrece esta aplicación.`,
    notVerifiedMeaning: (network) => `${network} no ha comprobado quién ofrece esta aplicación.`,
    links: (app) => markup`Más sobre <bdi>${app}</bdi>`,
    homepage: 'Sitio web',
    privacy: 'Política de privacidad',
    terms: 'Condiciones de uso',
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
    country: 'País',
    noCountry: 'Seleccione un país',
    send: 'Enviarme un código',
    byMessage: 'Le enviaremos un código de un solo uso por mensaje de texto.',
    fixedCode:
      'Esta es una aplicación de prueba. Inicie sesión con una cuenta de prueba, que tiene un código fijo. No enviamos ningún mensaje.',
    testApp:
      'No puede usar su propia cuenta con una aplicación de prueba. Inicie sesión con una cuenta de prueba.',
    testAccount:
      'Esta es una cuenta de prueba, que solo sirve para aplicaciones de prueba. Inicie sesión con su propia cuenta.',
    hiddenFromApp: (app) =>
      markup`<bdi>${app}</bdi> nunca verá su número. No tendrá acceso hasta que usted lo permita.`,
    invalid:
      'Compruebe el número y su país, o escriba el número con el prefijo del país, como +1 415 555 0100.',
    check:
      'No conocemos números como este. Compruebe el país y cada cifra. Si es correcto, envíelo otra vez.',
    cookieLost:
      'Escriba su número otra vez. Si esta página vuelve a aparecer, su navegador no conserva las cookies de este sitio. Permítalas o use otro navegador.',
    unsupportedCountry: 'No podemos enviar códigos a números de teléfono de ese país.',
    paused: 'En este momento no enviamos códigos. Vuelva a intentarlo más tarde.',
  },
  code: {
    title: 'Escriba su código',
    closedTitle: 'Pida un código nuevo',
    closed:
      'No hay ningún código válido. Un código sirve una vez, durante unos minutos y solo en el navegador que lo pidió.',
    sent: (phone, digits) =>
      markup`Si hay una cuenta con el número <strong class="phone">${phone}</strong>, hemos enviado un código de ${String(digits)} cifras a ese número.`,
    fixed: (phone) =>
      markup`Escriba el código fijo de la cuenta de prueba <strong class="phone">${phone}</strong>.`,
    label: 'Código de 6 cifras',
    longLabel: 'Código de 8 cifras',
    hint: 'Sirve una sola vez. No lo comparta con nadie.',
    submit: 'Continuar',
    notReceived: '¿No ha recibido el código?',
    notReceivedHelp:
      'Puede tardar un minuto. Compruebe que el número es correcto y que pertenece a una cuenta.',
    newCodeFor: (phone) => markup`Enviar un código al <span class="phone">${phone}</span>`,
    sendNew: 'Pedir un código nuevo',
    otherNumber: 'Usar otro número',
    sentAgain: 'Ha pedido un código nuevo. Solo sirve el más reciente.',
    invalid: (digits) => `Escriba las ${digits} cifras del código.`,
    wrong: (left) =>
      `Ese código no es correcto. Compruebe el mensaje más reciente. ${attemptsLeft(left)}`,
    attemptsLeft,
    lastWrong: 'Ese código no es correcto y era el último intento. Pida uno nuevo.',
    expired: 'Este código ha caducado. Pida uno nuevo.',
    wait: (seconds) =>
      markup`Podrá pedir un código nuevo dentro de <span data-seconds="${String(seconds)}">${formatDuration(seconds, LOCALE)}</span>.`,
    waitTooLong: (seconds) =>
      `Podrá pedir un código nuevo dentro de ${formatDuration(seconds, LOCALE)}. Esta página caducará antes. Vuelva más tarde al sitio del que venía y empiece de nuevo.`,
    tooEarly: 'Es demasiado pronto para un código nuevo.',
    lastCodeWorks: 'El último código que enviamos todavía sirve.',
  },
  sms: {
    /** Avoids "código" and "sesión": GSM 03.38 has no "ó", and one such letter doubles the price of a message. */
    oneTimePassword: (password, network, seconds, app) =>
      `Use ${password} para entrar en ${network}${app === undefined ? '' : ` y seguir en ${app}`}. Sirve durante ${formatDuration(seconds, LOCALE)}. No se lo diga a nadie.`,
  },
  currentUser: {
    signedInAs: 'Sesión iniciada como',
    switchAccount: 'Cambiar de cuenta',
    signOut: 'Cerrar sesión',
  },
  consent: {
    title: '¿Permitir el acceso?',
    heading: (app) => markup`<bdi>${app}</bdi> quiere acceder a su cuenta`,
    returnTo: (host) => markup`Volverá a <strong class="host"><bdi>${host}</bdi></strong>.`,
    permissions: (app) => markup`<bdi>${app}</bdi> podrá:`,
    permissionsHint: 'Desmarque lo que no quiera compartir.',
    earlierGrantHint:
      'Si elige Permitir, la aplicación pierde lo que desmarque. Si elige Cancelar o desmarca todo, no cambia nada.',
    details: 'Qué no podrá hacer y cuánto dura el acceso',
    names: 'Nombres completos',
    app: 'Aplicación',
    publisher: 'Responsable',
    host: 'Vuelve a',
    neverTitle: 'Nunca podrá:',
    never: {
      phone: 'Ver su número de teléfono',
      messages: 'Leer sus mensajes',
      profile: 'Cambiar su perfil',
      others: 'Actuar en nombre de otra persona',
    },
    durationTitle: 'Duración del acceso',
    duration: (unused, atMost) =>
      `El acceso dura hasta ${formatDuration(atMost, LOCALE)} y termina tras ${formatDuration(unused, LOCALE)} sin uso.`,
    removeTitle: '¿Ha cambiado de opinión?',
    removeHint: (url) =>
      markup`Puede retirar el acceso en cualquier momento en <a href="/account/apps">${url}</a>.`,
    deny: 'Cancelar',
    refuse: 'Rechazar',
    allow: 'Permitir',
    footer:
      'Permita el acceso solo si conoce esta aplicación y confía en ella. Si no abrió esta página desde una aplicación, elija Cancelar.',
  },
  repeatedConsent: {
    title: '¿Continuar?',
    heading: (app) => markup`Continuar en <bdi>${app}</bdi>`,
    permissions: 'Ya ha permitido a esta aplicación:',
    continue: 'Continuar',
    change: 'Cambiar lo que puede hacer',
  },
  apps: {
    title: 'Aplicaciones conectadas',
    none: 'Ninguna aplicación tiene acceso a su cuenta.',
    some: 'Usted ha permitido que estas aplicaciones accedan a su cuenta.',
    granted: 'Permitido el',
    lastGranted: 'Permitido de nuevo el',
    connections: 'Conexiones',
    isNew: 'Permitida en los últimos 7 días',
    notVerifiedHint: (network) =>
      `«Sin verificar» significa que ${network} no ha comprobado quién ofrece la aplicación.`,
    newHint:
      'Las aplicaciones marcadas con «Permitida en los últimos 7 días» obtuvieron acceso hace poco. Si no permitió alguna de ellas, use «Cerrar sesión en todas partes y desconectar todas las aplicaciones» más abajo.',
    lastUsed: 'Último uso',
    notUsedYet: 'Aún sin usar',
    disconnect: 'Desconectar',
    disconnectHint: '¿Desconectar esta aplicación? Perderá el acceso de inmediato.',
    keep: 'Mantenerla conectada',
    signOutEverywhere: 'Cerrar sesión en todas partes',
    signOutEverywhereHint:
      'Se cerrará la sesión en todos los navegadores, también en este. Las aplicaciones conservarán el acceso si no las desconecta también.',
    signOutAndDisconnect: 'Cerrar sesión en todas partes y desconectar todas las aplicaciones',
    sessions: 'Dónde ha iniciado sesión',
    thisBrowser: 'Este navegador',
    signedIn: 'Sesión iniciada el',
    signOutBrowser: 'Cerrar esta sesión',
    browserSignedOut:
      'Se ha cerrado la sesión en ese navegador. Las aplicaciones conservan el acceso.',
    browserAlreadySignedOut: 'Ya se había cerrado la sesión en ese navegador.',
    disconnectAll: 'Desconectar todas las aplicaciones',
    disconnectAllHint:
      'Todas las aplicaciones perderán el acceso de inmediato, incluso las que haya permitido después de abrir esta página.',
    confirmDisconnectAll: (count) => `Desconectar las ${count.toLocaleString(LOCALE)} aplicaciones`,
    footer:
      'Las aplicaciones pierden el acceso de inmediato, pero conservan los datos que ya hayan copiado. Para que se eliminen, diríjase al desarrollador de la aplicación. Si inició sesión en una aplicación o un sitio con esta cuenta, su sesión allí sigue abierta: ciérrela también allí.',
    single: 'Aplicación conectada',
    singleTitle: (app) => `Aplicación conectada: ${isolated(app)}`,
    permissions: 'Esta aplicación puede:',
    alreadyDisconnected: 'Ya se había desconectado.',
    disconnected: (app) => `${isolated(app)} ya no tiene acceso.`,
    disconnectedSeveral: (count) =>
      `${count.toLocaleString(LOCALE)} aplicaciones ya no tienen acceso.`,
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
    test: 'Publicación de prueba',
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
    account: 'Sus aplicaciones conectadas',
  },
  invalidAuthorizationRequest: (app) => ({
    title: 'Este enlace no funciona',
    paragraphs: [
      markup`<bdi>${app}</bdi> ha enviado una solicitud no válida. No se ha compartido nada con esa aplicación.`,
      'Puede cerrar esta página, o volver a la aplicación e intentarlo de nuevo.',
    ],
  }),
  errorDetails: (code, requestId) =>
    markup`Para desarrolladores: <code>${code}</code>, solicitud <code>${requestId}</code>.`,
  errors,
  landing,
};
