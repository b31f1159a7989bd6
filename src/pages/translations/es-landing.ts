import type { Catalogue } from './en.js';
import { markup } from './markup.js';

/** The landing page, for developers. Its links lead to English pages. */
export const landing: Catalogue['landing'] = {
  title: 'Para desarrolladores',
  heading: 'Desarrolle aplicaciones para su vecindario',
  lead: 'Un servidor OAuth 2.0 y una API JSON. Con el consentimiento de un usuario, su aplicación puede leer el perfil de esa persona, crear y consultar sus publicaciones, responder a comentarios y ver cuántos «me gusta» y comentarios tiene cada publicación.',
  documentation: 'Leer la documentación (en inglés)',
  guide: 'Guía para desarrolladores (en inglés)',
  errorCodes: 'Códigos de error (en inglés)',
  openApi: 'Documento OpenAPI (en inglés)',
  how: 'Cómo funciona',
  steps: [
    {
      title: 'Registre su aplicación',
      text: markup`El operador registra el nombre de su aplicación, sus URI de redirección y sus permisos, y le da un <code>client_id</code>. Las aplicaciones que se ejecutan en un servidor reciben además un <code>client_secret</code>.`,
    },
    {
      title: 'Solicite acceso',
      text: markup`Redirija el navegador a <code>/oauth/authorize</code> con los permisos que necesita, un <code>state</code> aleatorio y un desafío PKCE (<code>S256</code>).`,
    },
    {
      title: 'El usuario decide',
      text: 'Inicia sesión con un código de un solo uso que recibe en su teléfono, revisa los permisos solicitados y los concede todos, solo algunos o ninguno.',
    },
    {
      title: 'Canjee el código de autorización',
      text: markup`Verifique el <code>state</code> y después envíe el código de autorización y el verificador PKCE a <code>/oauth/token</code>. El <code>scope</code> de la respuesta contiene los permisos concedidos.`,
    },
    {
      title: 'Llame a la API',
      text: 'Envíe el token de acceso en una cabecera de cada solicitud.',
    },
  ],
  demoOn: 'La demostración está activada',
  demoOnText:
    'En este servidor hay una aplicación y un usuario de demostración, así que puede probar todo el proceso ahora mismo. No introduzca datos de personas reales.',
  demoHow: (phone) =>
    markup`Para probarlo, abra la documentación, pulse «Authorize» e inicie sesión con <span class="phone">${phone}</span>. El servidor muestra el código en su consola o lo guarda en su archivo de SMS.`,
  demoOff: 'La demostración está desactivada',
  demoOffText:
    'En este servidor no hay aplicación ni usuario de demostración. Pida al operador que registre su aplicación.',
  footer: 'El operador de este servidor registra las aplicaciones.',
};
