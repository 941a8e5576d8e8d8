import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { attackList, listAttacks } from './list-attacks';

/** The table of docs/proof.md, by attack: collected on, what verify finds, what the audit finds, what people read. */
const page = readFileSync(join(__dirname, '../../../docs/proof.md'), 'utf8');
const table = new Map(
  [...page.matchAll(/^\| ((?:writer|role): [^|]*?) \| ([^|]*?) \| ([^|]*?) \| ([^|]*?) \| ([^|]*?) \|$/gm)].map(
    ([, name = '', ...cells]) => [name, cells],
  ),
);

const kindsOf = (cell = '') => [...cell.matchAll(/`([a-z-]+)`/g)].map(([, kind]) => kind);
const quotesOf = (cell = '') => [...cell.matchAll(/"([^"]+)"/g)].map(([, quote = '']) => quote);

describe('an attack on the list of clusters', () => {
  it('of the table in docs/proof.md is made here, and no other', () => {
    expect([...table.keys()]).toEqual(Object.keys(listAttacks));
  });

  it.each(Object.entries(listAttacks))('ends as the table says: %s', async (name, attack) => {
    const [collected, verify, audit, said = ''] = table.get(name) ?? [];
    const attacked = await attackList(attack);
    expect(attacked.lost.length === 0 ? 'all' : `all but ${attacked.lost.length}`).toBe(collected);
    expect(attacked.verified).toEqual(kindsOf(verify));
    expect(attacked.audited).toEqual(kindsOf(audit));
    const text = attacked.said.replace(/\s+/g, ' ');
    expect(quotesOf(said).length).toBeGreaterThan(0);
    for (const quote of quotesOf(said)) expect(text).toContain(quote);
  });
});
