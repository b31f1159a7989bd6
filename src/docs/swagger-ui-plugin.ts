/** The parts of Swagger UI's plugin interface that `foldedPanels` uses. */
type Component = unknown;
interface System {
  React: {
    createElement: (type: Component, props: object | null, ...children: unknown[]) => unknown;
  };
}
interface Plugin {
  wrapComponents: Record<string, (original: Component, system: System) => Component>;
}

/**
 * A plugin of Swagger UI that folds panels. Basic authentication of apps is folded, because its field would take the focus from the
 * OAuth flow. The responses of an operation are folded until it is executed. Runs in the browser, so it must not use anything of
 * this file.
 */
export function foldedPanels(): Plugin {
  // oxlint-disable-next-line unicorn/consistent-function-scoping -- The page gets the source of this function only.
  const folded =
    (title: string, isOpen: (props: Record<string, unknown>) => boolean) =>
    (original: Component, { React }: System): Component =>
    (props: Record<string, unknown>) =>
      React.createElement(
        'details',
        { className: 'folded', open: isOpen(props) },
        React.createElement('summary', null, title),
        React.createElement(original, props),
      );
  return {
    wrapComponents: {
      HttpAuth: folded('Credentials of an app', () => false),
      responses: folded('Responses', ({ tryItOutResponse }) => Boolean(tryItOutResponse)),
    },
  };
}
