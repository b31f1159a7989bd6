/* Plugins of Swagger UI. They run in the browser, so each function must use nothing outside of it. */

/** The parts of Swagger UI's plugin interface that the plugins use. */
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
 * Folds panels. Basic authentication of apps is folded, because its field would take the focus from the OAuth flow. The responses of an
 * operation are folded until it is executed.
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

/** Leaves optional form fields out that are empty: Swagger UI would send them by default. */
export function withoutEmptyFields(): Plugin {
  return {
    wrapComponents: {
      ParameterIncludeEmpty:
        (original, { React }) =>
        (props: Record<string, unknown>) =>
          React.createElement(original, { ...props, isIncludedOptions: {} }),
    },
  };
}

/** Hides Authorize, which needs an app. */
export function withoutAuthorize(): Plugin {
  return {
    wrapComponents: { authorizeBtn: () => () => null, authorizeOperationBtn: () => () => null },
  };
}
