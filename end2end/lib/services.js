// Enough of two services for their own SDKs: a payment service (Stripe) and a model (OpenAI). Real HTTP, counted like the
// upstream's; each wants its own secret.
import http from 'node:http';
import { once } from 'node:events';
import { SECRET } from './upstream.js';
import { until } from './wait.js';

export class Services {
  /** Every request that arrived whole: {method, path, headers, body}. */
  requests = [];

  #server = http.createServer((req, res) => this.#receive(req, res));
  #customers = [];
  #cuts = false;
  #streams = [];

  static async start() {
    const services = new Services();
    services.#server.listen(0, '127.0.0.1');
    await once(services.#server, 'listening');
    return services;
  }

  async stop() {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }

  get host() {
    return `127.0.0.1:${this.#server.address().port}`;
  }

  /** The writes that arrived. */
  get writes() {
    return this.requests.filter(({ method }) => method !== 'GET');
  }

  /** From now on a write is done, and its connection is closed without an answer. */
  cutAnswers() {
    this.#cuts = true;
  }

  /** Writes to the stream that is open; without text it ends it. */
  async stream(text) {
    await until('a stream to be open', () => this.#streams.length > 0);
    if (text === undefined) this.#streams.shift().end();
    else this.#streams[0].write(text);
  }

  async #receive(req, res) {
    const chunks = [];
    for await (const chunk of req) chunks.push(chunk);
    const got = { method: req.method, path: req.url, headers: req.headers, body: Buffer.concat(chunks).toString('utf8') };
    this.requests.push(got);
    const json = (status, body) => {
      res.writeHead(status, { 'Content-Type': 'application/json' });
      res.end(JSON.stringify(body));
    };
    if (req.headers.authorization !== `Bearer ${SECRET}`) return json(401, { error: { message: 'no secret' } });
    const answer = this.#answer(got, res);
    if (this.#cuts && req.method !== 'GET') return res.destroy();
    if (answer) json(200, answer);
  }

  #answer({ method, path, body }, res) {
    switch (`${method} ${path.split('?')[0]}`) {
      case 'GET /stripe/v1/customers':
        return { object: 'list', url: '/v1/customers', has_more: false, data: this.#customers };
      case 'POST /stripe/v1/customers': {
        const customer = { id: `cus_${this.#customers.length + 1}`, object: 'customer', name: new URLSearchParams(body).get('name') };
        this.#customers.push(customer);
        return customer;
      }
      case 'GET /openai/v1/models':
        return { object: 'list', data: [{ id: 'small', object: 'model', created: 1, owned_by: 'house' }] };
      case 'POST /openai/v1/chat/completions': {
        const { model, messages, stream } = JSON.parse(body);
        if (stream) {
          res.writeHead(200, { 'Content-Type': 'text/event-stream' }).flushHeaders();
          this.#streams.push(res);
          return undefined;
        }
        const message = { role: 'assistant', content: `You said: ${messages.at(-1).content}`, refusal: null };
        return { id: 'chatcmpl-1', object: 'chat.completion', created: 1, model, choices: [{ index: 0, message, finish_reason: 'stop', logprobs: null }] };
      }
      default:
        throw new Error(`the service was asked for ${method} ${path}`);
    }
  }
}

/** One piece of a streamed answer, as the model's service writes it. */
export function piece(content) {
  const chunk = { id: 'chatcmpl-2', object: 'chat.completion.chunk', created: 1, model: 'small', choices: [{ index: 0, delta: { content }, finish_reason: null }] };
  return `data: ${JSON.stringify(chunk)}\n\n`;
}

/** The credentials for both. While a person is asked, a caller waits that long. */
export function catalogueOf({ host }, wait) {
  return { settings: `via_wait = "${wait}"`, more: ['stripe', 'openai'].map(credential).join('\n') };

  function credential(name) {
    return `
[[credential]]
name = "${name}"
hosts = ["${host}"]
base_url = "http://${host}/${name}"
secret = { env = "OFFICE_TOKEN" }
trusted = true
allow_http = true
allow_private = true
requires_approval = false
`;
  }
}
