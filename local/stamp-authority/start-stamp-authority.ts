import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { type ListeningServer, listenLocally } from '../listen-locally';
import { answerStamp } from './answer-stamp';
import { type Issuer, issueCertificate, ofIssuer, ofStamps } from './issue-certificate';

export interface StampAuthorityServer extends ListeningServer {
  /** What its stamps lead to. */
  readonly root: Issuer['certificate'];
}

const yearMs = 366 * 86_400_000;

/** Starts an authority of time stamps (RFC 3161) at a free port of 127.0.0.1, with keys of its own. */
export async function startStampAuthority(clock: { now(): Date }): Promise<StampAuthorityServer> {
  const now = clock.now().getTime();
  const valid = { validFrom: new Date(now - yearMs), validTo: new Date(now + 10 * yearMs) };
  const root = issueCertificate({ name: 'Local time stamps', ...valid, extensions: ofIssuer() });
  const signer = issueCertificate({ name: 'Local time stamps 1', ...valid, issuer: root, extensions: ofStamps() });
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    try {
      const stamp = answerStamp(await buffer(request), { signer, time: clock.now() });
      response.writeHead(200, { 'content-type': 'application/timestamp-reply' }).end(stamp);
    } catch (error) {
      response.writeHead(400).end(String(error));
    }
  };
  const server = createServer((request, response) => void answer(request, response));
  return { ...(await listenLocally(server)), root: root.certificate };
}
