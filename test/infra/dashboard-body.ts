import { type Resource, resourceOf, templateOf, textOf } from './example-stack';

interface Widget {
  type: string;
  x: number;
  y: number;
  width: number;
  height: number;
  properties: {
    title: string;
    alarms?: string[];
    metrics?: unknown[][];
    query?: string;
    markdown?: string;
    annotations?: { horizontal: { value: number }[] };
  };
}

/** The dashboard's body; references are `<Id>` and `<Id.Arn>`. */
export function dashboardOf(changes?: Record<string, unknown>) {
  const { Properties }: Resource = resourceOf(templateOf(changes), 'AWS::CloudWatch::Dashboard');
  const body = JSON.parse(textOf(Properties.DashboardBody)) as { start: string; widgets: Widget[] };
  const widget = (title: string): Widget => {
    const found = body.widgets.find(({ properties }) => properties.title === title);
    if (found === undefined) throw new Error(`there is no widget "${title}"`);
    return found;
  };
  return { ...body, widget, name: textOf(Properties.DashboardName) };
}
