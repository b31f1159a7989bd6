/* One line for each language, with its tag (BCP 47): the languages of pages and text messages. */
export { en } from './en/catalogue.js';
export { es } from './es/catalogue.js';
