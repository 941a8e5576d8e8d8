import { stampChecks } from '../../../cli/doctor/service-checks';
import { startStampAuthority } from '../../../local/stamp-authority/start-stamp-authority';

it('doctor asks each authority of time stamps for one of nothing, and says which answers with its own root', async () => {
  const now = () => new Date('2026-11-23T06:30:07Z');
  const [one, other] = await Promise.all([startStampAuthority({ now }), startStampAuthority({ now })]);
  const root = one.root.raw.toString('base64');
  const checks = await stampChecks([
    { name: 'one', url: one.url, root },
    { name: 'other', url: other.url, root },
  ]).finally(() => Promise.all([one.close(), other.close()]));
  expect(checks).toMatchObject([
    { what: 'time stamps of one', verdict: 'right', found: `${one.url} stamped at 2026-11-23T06:30:07.000Z` },
    {
      what: 'time stamps of other',
      verdict: 'not seen',
      showsElsewhere: true,
      found: expect.stringContaining('leads to a trusted root'),
    },
  ]);
});
