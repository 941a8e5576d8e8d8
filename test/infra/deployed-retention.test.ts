import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { type DeployedRetention, deployedRetention, refuseShorterRetention } from '../../infra/deployed-retention';
import { exampleConfig, problemsOfRejected } from './example-config';
import { templateOf } from './example-stack';

/** Asks an endpoint that gives this answer. */
async function ask(status: number, body: string): Promise<DeployedRetention | undefined> {
  const server = createServer((_, response) => response.writeHead(status).end(body));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const credentials = { accessKeyId: 'a', secretAccessKey: 's' };
  try {
    const client = new CloudFormationClient({ endpoint, region: 'eu-central-1', credentials, maxAttempts: 1 });
    return await deployedRetention(client, 'fleet');
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const escaped = (json: object) =>
  JSON.stringify(json).replace(/[<&]/g, (character) => (character === '<' ? '&lt;' : '&amp;'));
const deployed = (archive: object) =>
  ask(
    200,
    `<GetTemplateResponse><GetTemplateResult><TemplateBody>${escaped(templateOf({ archive }))}</TemplateBody></GetTemplateResult></GetTemplateResponse>`,
  );
const error = (code: string, message: string) =>
  `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error></ErrorResponse>`;

describe('the deployed retention', () => {
  it('is read from the template that this project deploys', async () => {
    expect(await deployed({ retentionDays: 400 })).toEqual({ days: 400 });
    expect(await deployed({})).toEqual({ days: undefined });
  });

  it('is not known without a stack, and an error without the rights', async () => {
    expect(await ask(400, error('ValidationError', 'Stack with id fleet does not exist'))).toBeUndefined();
    await expect(ask(403, error('AccessDenied', 'no'))).rejects.toThrow('no');
  });
});

describe('a deployment', () => {
  const refuse = (retentionDays: number | undefined, answer: () => Promise<DeployedRetention | undefined>) => {
    const warnings: string[] = [];
    const config = exampleConfig({ archive: retentionDays === undefined ? {} : { retentionDays } });
    const done = refuseShorterRetention(config, 'c.json', answer, (message) => warnings.push(message));
    return { done, warnings };
  };

  it.each<[number | undefined, number | undefined, RegExp]>([
    [40, 400, /at least 400, as deployed\..*-c shortenRetention=true/],
    [400, undefined, /nothing, as deployed: nothing expires/],
  ])('with %p days after one with %p days is refused', async (days, before, expected) => {
    const problems = await problemsOfRejected(refuse(days, async () => ({ days: before })).done);
    expect(problems).toEqual([
      { path: 'archive.retentionDays', received: String(days), expected: expect.stringMatching(expected) },
    ]);
  });

  it.each<[number | undefined, DeployedRetention | undefined]>([
    [400, { days: 400 }],
    [401, { days: 400 }],
    [undefined, { days: 400 }],
    [40, undefined],
  ])('with %p days after %p is not', async (days, before) => {
    const { done, warnings } = refuse(days, async () => before);
    await done;
    expect(warnings).toEqual([]);
  });

  it('says so if it cannot ask', async () => {
    const { done, warnings } = refuse(40, () => Promise.reject(new Error('no credentials')));
    await done;
    expect(warnings).toEqual([
      expect.stringMatching(/could not be asked how long its archive is kept \(Error: no credentials\)/),
    ]);
  });
});
