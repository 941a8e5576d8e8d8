import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';

/**
 * An address whose connections are refused for as long as it is not released. The port is the near end of a connection
 * that is held open: nobody listens there, and nobody else can be given it meanwhile.
 */
export async function refusedAddress(): Promise<{ url: string; port: number; release(): Promise<void> }> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const holder = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [[farEnd]] = await Promise.all([once(server, 'connection'), once(holder, 'connect')]);
  const port = holder.localPort as number;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    release: async () => {
      farEnd.destroy();
      holder.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
