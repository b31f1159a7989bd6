/** Where version 1 of the developer API lives (source document, section 9). */
export const DEV_V1 = 'dev/v1';
