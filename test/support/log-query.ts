/** One log event or one row of a result: values by the names that CloudWatch Logs Insights gives them. */
export type LogRow = Readonly<Record<string, unknown>>;

/**
 * Runs a query of CloudWatch Logs Insights over log lines, as far as the dashboard's queries use its language.
 * @param lines parsed JSON with a `timestamp`
 * @param now of the query
 * @throws Error for what it does not know
 */
export function runLogQuery(query: string, lines: readonly object[], now: Date): LogRow[] {
  const events = lines.map((line) => {
    const row = flatten(line);
    return { ...row, '@timestamp': Date.parse(String(row.timestamp)) };
  });
  const commands = query
    .replace(/^SOURCE '[^']*' \| /, '')
    .split(/\s*\n\| /)
    .map((command) => command.trim());
  return commands.reduce((rows, command) => runCommand(command, rows, now), events as LogRow[]);
}

function runCommand(command: string, rows: readonly LogRow[], now: Date): LogRow[] {
  const [, name = '', rest = ''] = /^(\w+) (.*)$/s.exec(command) ?? [];
  if (name === 'fields') return rows.map((row) => ({ ...row, ...named(rest, (text) => evaluate(text, row, now)) }));
  if (name === 'filter') return rows.filter((row) => evaluate(rest, row, now) === true);
  if (name === 'stats') return aggregate(rest, rows);
  if (name === 'limit') return rows.slice(0, Number(rest));
  if (name === 'display') return rows.map((row) => named(rest, (text) => row[text]));
  if (name !== 'sort') throw new Error(`unknown command: ${command}`);
  return [...rows].sort((a, b) => {
    for (const part of rest.split(', ')) {
      const [field = '', direction] = part.split(' ');
      const [left, right] = [a[field] as number, b[field] as number];
      if (left !== right) return (left < right ? -1 : 1) * (direction === 'desc' ? -1 : 1);
    }
    return 0;
  });
}

function aggregate(text: string, rows: readonly LogRow[]): LogRow[] {
  const [functions = '', by = ''] = text.split(' by ');
  const keys = by.split(', ');
  const groups = new Map<string, LogRow[]>();
  for (const row of rows) {
    const name = JSON.stringify(keys.map((key) => row[key]));
    groups.set(name, [...(groups.get(name) ?? []), row]);
  }
  return [...groups.values()].map((group) => ({
    ...Object.fromEntries(keys.map((key) => [key, group[0]?.[key]])),
    ...named(functions, (call) => {
      const [, name, field = ''] = /^(\w+)\((.*)\)$/.exec(call) ?? [];
      const values = group.map((row) => row[field]).filter((value) => value !== undefined);
      if (name === 'max') return Math.max(...values.map(Number));
      if (name === 'sum') return values.reduce((sum: number, value) => sum + Number(value), 0);
      if (name === 'count_distinct') return new Set(values).size;
      if (name === 'count' && field === '*') return group.length;
      throw new Error(`unknown aggregation: ${call}`);
    }),
  }));
}

/** `a as x, b` by name. */
function named(list: string, compute: (text: string) => unknown): LogRow {
  const parts = list.split(/, (?![^(]*\))/).map((part) => part.split(' as '));
  return Object.fromEntries(parts.map(([text = '', name = text]) => [name, compute(text)]));
}

/** An expression's value. A name that the row lacks makes arithmetic on it undefined. */
function evaluate(text: string, row: LogRow, now: Date): unknown {
  const functions: Readonly<Record<string, (...values: unknown[]) => unknown>> = {
    now: () => Math.floor(now.getTime() / 1000),
    toMillis: (value) => value,
    floor: (value) => Math.floor(Number(value)),
    greatest: (...values) => Math.max(...values.map(Number)),
    coalesce: (...values) => values.find((value) => value !== undefined),
    ispresent: (value) => value !== undefined,
  };
  const script = text.replace(/"[^"]*"|[@A-Za-z_][\w.@]*\(?|=/g, (token) => {
    if (token.startsWith('"')) return token;
    if (token === '=') return '===';
    if (token === 'and') return '&&';
    if (token === 'not') return '!';
    return token.endsWith('(') ? `functions.${token}` : `row[${JSON.stringify(token)}]`;
  });
  const value: unknown = new Function('row', 'functions', `return (${script})`)(row, functions);
  return Number.isNaN(value) ? undefined : value;
}

/** Members of members as `member.member`. */
function flatten(value: object, prefix = ''): LogRow {
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]: [string, unknown]) =>
      typeof member === 'object' && member !== null
        ? Object.entries(flatten(member, `${prefix}${name}.`))
        : [[`${prefix}${name}`, member]],
    ),
  );
}
