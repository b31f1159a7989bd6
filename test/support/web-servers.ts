export const APACHE_MODULES = '/usr/lib/apache2/modules';

/**
 * The configuration of an nginx that writes to its folder only and stays in the foreground.
 * @param http the directives inside of `http`
 */
export function nginxConfiguration(folder: string, http: string): string {
  return `
daemon off;
worker_processes 1;
pid ${folder}/pid;
error_log ${folder}/error.log;
events { worker_connections 1024; }
http {
  access_log off;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  ${http}
}
`;
}

/**
 * The configuration of an Apache with authentication that writes to its folder only.
 * @param module the module to load, such as `oauth2`
 * @param directives further directives
 */
export function apacheConfiguration(
  folder: string,
  port: number,
  module: string,
  directives: string,
): string {
  const modules = ['mpm_event', 'authn_core', 'authz_core', 'authz_user', module].map(
    (name) => `LoadModule ${name}_module ${APACHE_MODULES}/mod_${name}.so`,
  );
  return `
ServerName 127.0.0.1
Listen 127.0.0.1:${port}
PidFile ${folder}/pid
ErrorLog ${folder}/error.log
DocumentRoot ${folder}
${modules.join('\n')}
${directives}
`;
}
