import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inPage, mailsOfWeek } from './mail-week';

it('docs/reading-the-archive.md has the seven mails of a week as people get them', async () => {
  const page = readFileSync(join(__dirname, '../../../docs/reading-the-archive.md'), 'utf8');
  const mails = await mailsOfWeek();
  expect(mails).toHaveLength(7);
  for (const mail of mails) expect(page).toContain(inPage(mail));
});
