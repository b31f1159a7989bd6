import type { Catalogue } from './en.js';
import { markup } from './markup.js';

/** The front page, for developers. What its links lead to is in English. */
export const landing: Catalogue['landing'] = {
  title: 'Para desarrolladores',
  heading: 'Desarrolle para el vecindario',
  lead: 'Un servidor OAuth 2.0 y una API JSON. Con el consentimiento de un miembro de la red, una aplicación puede leer su perfil, crear y consultar sus publicaciones, responder a comentarios y ver qué acogida tiene cada publicación.',
  documentation: 'Leer la documentación (en inglés)',
  guide: 'Guía de integración (en inglés)',
  errorCodes: 'Códigos de error (en inglés)',
  openApi: 'Documento OpenAPI (en inglés)',
  how: 'Cómo funciona',
  steps: [
    {
      title: 'Registro',
      text: markup`El operador registra el nombre de su aplicación, sus URI de redirección y sus permisos, y le da un <code>client_id</code>. Las aplicaciones que se ejecutan en un servidor reciben además un <code>client_secret</code>.`,
    },
    {
      title: 'Solicitud',
      text: markup`Envíe el navegador a <code>/oauth/authorize</code> con los permisos que necesita, un <code>state</code> aleatorio y un desafío PKCE (<code>S256</code>).`,
    },
    {
      title: 'El miembro decide',
      text: 'Inicia sesión con un código que recibe en su teléfono, ve quién pide qué y lo permite todo, una parte o nada.',
    },
    {
      title: 'Intercambio',
      text: markup`Compare el <code>state</code> y después envíe el código y su verificador a <code>/oauth/token</code>. Lea <code>scope</code> en la respuesta: contiene los permisos que se han concedido.`,
    },
    { title: 'Llamada', text: 'Envíe el token en la cabecera de cada llamada.' },
  ],
  demoOn: 'La demostración está activada',
  demoOnText:
    'En este servidor hay una aplicación y un usuario de demostración, así que puede probar todo el proceso ahora mismo. No introduzca datos de personas reales.',
  demoHow: (phone) =>
    markup`Para probarlo, abra la documentación, pulse «Authorize» e inicie sesión con <span class="phone">${phone}</span>. El código aparece donde este servidor muestra sus mensajes, o en el archivo en que los guarda.`,
  demoOff: 'La demostración está desactivada',
  demoOffText:
    'En este servidor no hay aplicación ni usuario de demostración. Pida a su operador que registre su aplicación.',
  footer: 'El operador de este servidor registra las aplicaciones.',
};
