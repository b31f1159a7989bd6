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
interface Panel {
  title: string;
  isOpen: (props: Record<string, unknown>) => boolean;
}

/**
 * A plugin of Swagger UI that folds panels. Basic authentication of apps is folded, because its field would take the focus from the
 * OAuth flow. The responses of an operation are folded until it is executed. Runs in the browser, so it must not use anything of
 * this file.
 */
export function foldedPanels(): Plugin {
  const panels: Record<string, Panel> = {
    HttpAuth: { title: 'Credentials of an app', isOpen: () => false },
    responses: {
      title: 'Responses',
      isOpen: ({ tryItOutResponse }) => Boolean(tryItOutResponse),
    },
  };
  const wrapComponents: Plugin['wrapComponents'] = {};
  for (const [name, { title, isOpen }] of Object.entries(panels))
    wrapComponents[name] =
      (original, { React }) =>
      (props: Record<string, unknown>) =>
        React.createElement(
          'details',
          { className: 'folded', open: isOpen(props) },
          React.createElement('summary', null, title),
          React.createElement(original, props),
        );
  return { wrapComponents };
}

/** A plugin of Swagger UI that hides Authorize, which needs an app. Runs in the browser, so it must not use anything of this file. */
export function withoutAuthorize(): Plugin {
  return {
    wrapComponents: { authorizeBtn: () => () => null, authorizeOperationBtn: () => () => null },
  };
}
