import { textOf } from './example-stack';
import { observedStack, type Setup } from './observability-setup';

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

/** The dashboard's body, with logical ids in place of what CloudFormation fills in. */
export function dashboardOf(setup?: Setup) {
  const { template } = observedStack(setup);
  const [dashboard] = Object.values(template().findResources('AWS::CloudWatch::Dashboard'));
  const [, parts] = dashboard?.Properties.DashboardBody['Fn::Join'] as [string, (string | Record<string, string[]>)[]];
  const text = parts.map((part) => (typeof part === 'string' ? part : [Object.values(part)].flat(2)[0])).join('');
  const body = JSON.parse(text) as { start: string; widgets: Widget[] };
  const widget = (title: string): Widget => {
    const found = body.widgets.find(({ properties }) => properties.title === title);
    if (found === undefined) throw new Error(`there is no widget "${title}"`);
    return found;
  };
  return {
    ...body,
    widget,
    name: textOf(dashboard?.Properties.DashboardName),
    alarms: template().findResources('AWS::CloudWatch::Alarm'),
  };
}
