import { appendFileSync, writeFileSync } from 'node:fs';
import { falseAlarmsOf } from '../verify/history/verify-history';
it('tries', async () => {
  const bad: string[][] = [];
  const began = Date.now();
  for (let at = Number(process.env.FROM ?? 0); at < 1000 && Date.now() - began < 45000; at += 1) { appendFileSync('/tmp/s2/seeds', `${at}\n`); const said = await falseAlarmsOf(`sealed/${at}`, true); if (said.length > 0) { bad.push(said); 
  writeFileSync('/tmp/s2/bad.json', JSON.stringify(bad, null, 1));} }
  console.log(bad.length, bad.map((b) => b.filter((l) => !/^20\d\d\S+ (deployed|succeeded|failed|killed|by hand|repaired|audited|lost)/.test(l)).join('\n').slice(0,1500)).join('\n\n'));
}, 600000);
