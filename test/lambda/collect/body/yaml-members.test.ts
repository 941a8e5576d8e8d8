import { Continuation } from '../../../../lambda/collect/body/continuation';
import { YamlMembers } from '../../../../lambda/collect/body/yaml-members';

it('a line longer than any text of JavaScript is read, and forgotten', () => {
  const continuation = new Continuation();
  const members = new YamlMembers(continuation);
  const piece = Buffer.alloc(2 ** 25, 'x');
  for (let bytes = 0; bytes <= 2 ** 29; bytes += piece.length) members.write(piece);
  members.write(Buffer.from('truncated: true\nnextPageToken: a\n'));
  members.end();
  expect(continuation.doubt).toBe('it says that there is more: nextPageToken');
});
