import { auditMetricNames, logMessages, metricNames, metricNamespace } from '../../lambda/stack-contract';
import { audited, resourceOf, resourcesOf, templateOf, textOf } from './example-stack';

interface Widget {
  x: number;
  y: number;
  width: number;
  height: number;
  properties: { title: string; alarms?: string[]; metrics?: unknown[][]; query?: string };
}

/** The dashboard's body; references are `<Id>` and `<Id.Arn>`. */
function dashboardOf(changes?: Record<string, unknown>) {
  const { Properties } = resourceOf(templateOf(changes), 'AWS::CloudWatch::Dashboard');
  const body = JSON.parse(textOf(Properties.DashboardBody)) as { start: string; widgets: Widget[] };
  const widget = (title: string): Widget => {
    const found = body.widgets.find(({ properties }) => properties.title === title);
    if (found === undefined) throw new Error(`there is no widget "${title}"`);
    return found;
  };
  return { ...body, widget };
}

describe('the dashboard', () => {
  it('has widgets that fill their rows and do not overlap', () => {
    const { widgets } = dashboardOf();
    const taken = new Set<string>();
    for (const { x, y, width, height } of widgets) {
      for (let column = x; column < x + width; column += 1) {
        for (let row = y; row < y + height; row += 1) {
          expect(column).toBeLessThan(24);
          expect(taken.has(`${column},${row}`)).toBe(false);
          taken.add(`${column},${row}`);
        }
      }
    }
    const rows = Math.max(...widgets.map(({ y, height }) => y + height));
    expect(taken.size).toBe(24 * rows);
    expect(rows).toBeLessThanOrEqual(31);
  });

  it('answers on its first screen whether it is well now, and if not, why', () => {
    const { widgets } = dashboardOf();
    const first = widgets.filter(({ y, height }) => y + height <= 10).map(({ properties }) => properties.title);
    expect(first).toEqual(['Outcomes per run', 'Alarms', 'Last failures', 'Duration against the limit (seconds)']);
  });

  it('shows the state of every alarm', () => {
    const alarms = resourcesOf(templateOf(), 'AWS::CloudWatch::Alarm').map(([id]) =>
      textOf({ 'Fn::GetAtt': [id, 'Arn'] }),
    );
    expect(alarms).toHaveLength(5);
    expect(dashboardOf().widget('Alarms').properties.alarms).toEqual(alarms);
  });

  it('finds the last failures in the log lines that the collector writes', () => {
    const { query } = dashboardOf().widget('Last failures').properties;
    expect(query).toContain(`filter message = "${logMessages.failure}"`);
    expect(query).toMatch(/^SOURCE '<CollectorLogs>' \| fields .*\n\| sort @timestamp desc\n\| limit \d+$/s);
  });

  it.each([
    ['cron(0 * * * ? *)', '-P7D'],
    ['cron(0 0 1 * ? *)', '-P62D'],
    ['cron(0 0 1 1 ? *)', '-P90D'],
  ])('with %s shows %s at first: two runs, unless that is too long', (expression, start) => {
    expect(dashboardOf({ schedule: { expression } }).start).toBe(start);
  });

  it.each([
    ['cron(0 * * * ? *)', 3600],
    ['cron(0 3,4 * * ? *)', 3600],
    ['cron(0 3 * * ? *)', 86_400],
  ])('with %s has a point every %p seconds: about one run with its retries', (expression, period) => {
    const graphs = ['Outcomes per run', 'Bytes archived', 'Throttling'];
    const { widget } = dashboardOf({ schedule: { expression } });
    for (const title of [...graphs, 'Duration against the limit (seconds)']) {
      for (const metric of widget(title).properties.metrics ?? []) expect(metric.at(-1)).toMatchObject({ period });
    }
  });

  it('has a graph of what the monitoring service outside did not take, if there is one, in a row that is full', () => {
    const { widget, widgets } = dashboardOf({ alerts: { heartbeat: { secret: 'monitoring/heartbeat' } } });
    const row = ['Bytes archived', 'Throttling', 'Heartbeats lost'].map(widget);
    expect(row.map(({ x, width }) => [x, width])).toEqual([
      [0, 8],
      [8, 8],
      [16, 8],
    ]);
    expect(new Set(row.map(({ y }) => y)).size).toBe(1);
    const [metric = []] = widget('Heartbeats lost').properties.metrics ?? [];
    expect(metric.slice(0, 2)).toEqual([metricNamespace, metricNames.heartbeatsLost]);
    expect(widgets).toHaveLength(dashboardOf().widgets.length + 1);
  });

  it('has one small row about the audit, if there is one', () => {
    const { widgets, widget } = dashboardOf(audited);
    const rows = [
      widget('Seals and damage'),
      widget('Hours since the stalest cluster was archived, and logs with gaps or frozen'),
    ];
    expect(new Set(rows.map(({ y }) => y)).size).toBe(1);
    expect(rows.map(({ width, height }) => [width, height])).toEqual([
      [12, 4],
      [12, 4],
    ]);
    const metrics = rows.flatMap(({ properties }) => properties.metrics ?? []);
    expect(metrics.map(([, name]) => name).sort()).toEqual(Object.values(auditMetricNames).sort());
    for (const metric of metrics) expect(metric.at(-1)).toMatchObject({ period: 86_400 });
    expect(widgets).toHaveLength(dashboardOf().widgets.length + 2);
  });
});
