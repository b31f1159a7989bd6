import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';

export const DASHBOARD = 'ops/grafana-dashboard.json';
export const ALERTS = 'ops/alerts.yaml';

/** An expression of PromQL, and where it stands. */
export interface Expression {
  where: string;
  text: string;
}

/** What Grafana puts in for its variables. */
const VARIABLES: Readonly<Record<string, string>> = {
  $job: 'developer-platform',
  $instance: '.*',
  $__rate_interval: '10s',
};

interface Panel {
  title: string;
  targets?: { expr: string }[];
}

/** Those of every panel, as Grafana would ask them. */
export async function dashboardExpressions(): Promise<Expression[]> {
  const { panels } = JSON.parse(await readFile(DASHBOARD, 'utf8')) as { panels: Panel[] };
  return panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({
      where: `the panel "${title}"`,
      text: expr.replaceAll(/\$\w+/g, (name) => VARIABLES[name] ?? name),
    })),
  );
}

export interface Alert {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: { summary: string; description: string };
}

export async function alerts(): Promise<Alert[]> {
  const { groups } = parse(await readFile(ALERTS, 'utf8')) as { groups: { rules: Alert[] }[] };
  return groups.flatMap(({ rules }) => rules);
}

/** The series that an expression reads, such as `up{job="a"}`. Every metric of ours is written with its labels in braces. */
export function selectorsOf(expression: string): string[] {
  return [...expression.matchAll(/\b[a-z]\w*\{[^}]*\}/g)].map(([selector]) => selector);
}

/** The labels that an expression groups its series by. */
export function groupingOf(expression: string): string[] {
  return [...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, labels = '']) =>
    labels.split(',').map((label) => label.trim()),
  );
}

/** What is left of an expression without selectors, groups, ranges, numbers and signs: functions, and names that hid. */
export function wordsOf(expression: string): string[] {
  return (
    expression
      .replaceAll(/\b[a-z]\w*\{[^}]*\}/g, ' ')
      .replaceAll(/\bby \([^)]*\)/g, ' ')
      .replaceAll(/\[\w+\]/g, ' ')
      .match(/[a-z_]\w*/g) ?? []
  );
}
