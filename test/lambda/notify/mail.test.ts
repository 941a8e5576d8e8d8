import { subjectOf } from '../../../lambda/notify/mail';

it.each([
  ['Audit: no damage seen (archive', ')', 'Audit: no damage seen (archive)'],
  ['flotte-für-köln\n\u2028', ': failed for good', 'flotte-f?r-k?ln??: failed for good'],
  ['n'.repeat(200), ': failed for good', `${'n'.repeat(82)}: failed for good`],
])('a subject is ASCII, shorter than 100 characters, and keeps its end: %j', (text, end, subject) => {
  expect(subjectOf(text, end)).toBe(subject);
  expect(subject.length).toBeLessThan(100);
});
