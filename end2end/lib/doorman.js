// Stands before the desk for programs that cannot send a key: adds it, and changes nothing else.
import http from 'node:http';
import { once } from 'node:events';

/** @returns {Promise<{url: string, stop: () => Promise<void>}>} */
export async function doorman(desk, token) {
  const server = http.createServer((req, res) => {
    const own = server.address().port;
    const headers = { ...req.headers, authorization: `Bearer ${token}` };
    // Whoever names the doorman means the desk; whoever names somebody else is to be heard by the desk.
    for (const name of ['host', 'origin']) {
      if (headers[name]) headers[name] = headers[name].replace(`:${own}`, `:${desk.port}`);
    }
    const onward = http.request({ host: '127.0.0.1', port: desk.port, method: req.method, path: req.url, headers }, (answer) => {
      res.writeHead(answer.statusCode, answer.headers);
      answer.pipe(res);
    });
    onward.on('error', () => res.destroy());
    req.pipe(onward);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const stop = async () => {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  };
  return { url: `http://127.0.0.1:${server.address().port}`, stop };
}
