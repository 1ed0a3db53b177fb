// The world outside: a real HTTP server with state, which wants a secret and counts what reaches it.
import http from 'node:http';
import { once } from 'node:events';
import { until } from './wait.js';

export const SECRET = 'upstream-secret-5b1f0c7e';

export class Upstream {
  /** Every request that arrived whole, reads too: {method, path, query, headers, body}. */
  requests = [];
  /** What POST /messages made. */
  messages = [];
  /** The tickets by number; a test may change one behind the desk's back. */
  tickets = new Map([['87', { id: '87', state: 'open', title: 'The invoice is wrong' }]]);

  #server = http.createServer((req, res) => this.#receive(req, res));
  #waiting = [];
  #hangs = false;
  #status;

  static async start() {
    const upstream = new Upstream();
    upstream.#server.listen(0, '127.0.0.1');
    await once(upstream.#server, 'listening');
    return upstream;
  }

  async stop() {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }

  get host() {
    return `127.0.0.1:${this.#server.address().port}`;
  }

  get url() {
    return `http://${this.host}`;
  }

  /** How many writes arrived. */
  get writes() {
    return this.requests.filter(({ method }) => method !== 'GET').length;
  }

  /** From now on a write is read and done, and its answer does not leave before `release`. */
  hang() {
    this.#hangs = true;
  }

  release() {
    this.#hangs = false;
    for (const answer of this.#waiting.splice(0)) answer();
  }

  /** Closes every connection without an answer. */
  cut() {
    this.#waiting.length = 0;
    this.#server.closeAllConnections();
  }

  /** From now on every write is answered with this status and nothing is done. */
  failWith(status) {
    this.#status = status;
  }

  /** Resolves when that many writes have arrived. */
  received(count = 1) {
    return until(`${count} writes at the upstream`, () => this.writes >= count);
  }

  async #receive(req, res) {
    const chunks = [];
    for await (const chunk of req) chunks.push(chunk);
    const { pathname, search } = new URL(req.url, this.url);
    const got = { method: req.method, path: pathname, query: search, headers: req.headers, body: Buffer.concat(chunks).toString('utf8') };
    this.requests.push(got);
    const { status, body } = this.#answer(got);
    const answer = () => {
      res.writeHead(status, { 'Content-Type': 'application/json' });
      res.end(JSON.stringify(body));
    };
    if (this.#hangs && req.method !== 'GET') this.#waiting.push(answer);
    else answer();
  }

  #answer({ method, path, headers, body }) {
    if (headers.authorization !== `Bearer ${SECRET}`) return { status: 401, body: { error: 'no secret' } };
    if (method !== 'GET' && this.#status) return { status: this.#status, body: { error: 'not today' } };
    const [, noun, id] = path.split('/');
    const route = `${method} /${noun}`;
    if (route === 'GET /messages') return { status: 200, body: { count: this.messages.length } };
    if (route === 'POST /messages') {
      this.messages.push(JSON.parse(body));
      return { status: 201, body: { id: `m${this.messages.length}`, queued: true } };
    }
    const ticket = this.tickets.get(id);
    if (route === 'GET /tickets' && ticket) return { status: 200, body: ticket };
    if (route === 'PUT /tickets' && ticket) return { status: 200, body: Object.assign(ticket, JSON.parse(body)) };
    if (route === 'DELETE /customers' && id) return { status: 200, body: { deleted: id } };
    return { status: 404, body: { error: 'no such thing' } };
  }
}
