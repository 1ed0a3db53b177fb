// An MCP server with a tool, a prompt and a resource of every kind, for tests alone. It speaks 2026-07-28, without sessions.
import http from 'node:http';
import { once } from 'node:events';
import { SECRET } from './upstream.js';

const VERSION = '2026-07-28';
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
const SILENCE = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=';

const text = (text) => ({ type: 'text', text });
const image = { type: 'image', data: PIXEL, mimeType: 'image/png' };
const audio = { type: 'audio', data: SILENCE, mimeType: 'audio/wav' };
const resource = (uri, text) => ({ type: 'resource', resource: { uri, mimeType: 'text/plain', text } });

const EMPTY = { type: 'object', properties: {} };
const READS = { readOnlyHint: true };

/** Every tool: what it says about itself, and what it does. */
const TOOLS = [
  ['simple_text', 'Says a sentence.', READS, EMPTY, () => ({ content: [text('This is a simple text response for testing.')] })],
  ['image_content', 'Shows a picture.', READS, EMPTY, () => ({ content: [image] })],
  ['audio_content', 'Plays a sound.', READS, EMPTY, () => ({ content: [audio] })],
  ['embedded_resource', 'Hands a document over.', READS, EMPTY, () => ({ content: [resource('test://embedded-resource', 'An embedded resource.')] })],
  ['multiple_content_types', 'Says, shows and hands over.', READS, EMPTY, () => ({ content: [text('Several kinds:'), image, resource('test://mixed-content-resource', 'A mixed one.')] })],
  ['error_handling', 'Always fails.', READS, EMPTY, () => ({ content: [text('This tool always fails.')], isError: true })],
  ['logging_tool', 'Logs where logs are wanted.', READS, EMPTY, () => ({ content: [text('Nothing to log.')] })],
  ['streaming_elicitation', 'Would ask a client that can be asked.', READS, EMPTY, () => ({ content: [text('Nobody to ask.')] })],
  ['add', 'Adds two numbers.', READS, { type: 'object', required: ['a', 'b'], properties: { a: { type: 'number' }, b: { type: 'number' } } }, ({ a, b }) => ({ content: [text(String(a + b))], structuredContent: { sum: a + b } })],
  ['close_ticket', 'Closes a ticket for good.', undefined, { type: 'object', required: ['id'], properties: { id: { type: 'integer' } } }, ({ id }) => ({ content: [text(`Ticket ${id} is closed.`)], structuredContent: { id, state: 'closed' } })],
];

const user = (content) => ({ role: 'user', content });
const argument = (name) => ({ name, description: `The ${name}.`, required: true });

/** Every prompt: what it says about itself, and its messages. */
const PROMPTS = [
  ['simple_prompt', [], () => [user(text('This is a simple prompt for testing.'))]],
  ['prompt_with_arguments', [argument('arg1'), argument('arg2')], ({ arg1, arg2 }) => [user(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))]],
  ['prompt_with_embedded_resource', [argument('resourceUri')], ({ resourceUri }) => [user(resource(resourceUri, 'An embedded resource.')), user(text('Please process it.'))]],
  ['prompt_with_image', [], () => [user(image), user(text('Please look at the image.'))]],
];

/** Every resource: what it says about itself, and what it holds. */
const RESOURCES = [
  ['test://static-text', 'text/plain', { text: `A text, and what the desk knows: ${SECRET}.` }],
  ['test://static-binary', 'image/png', { blob: PIXEL }],
  ['file:///etc/hosts', 'text/plain', { text: 'Nothing of the agents’ business.' }],
];
const TEMPLATE = { uriTemplate: 'test://template/{id}/data', name: 'data', mimeType: 'application/json' };

/** What a resource holds, as the protocol has it. */
function contents(uri) {
  const found = RESOURCES.find(([known]) => known === uri);
  if (found) return [{ uri, mimeType: found[1], ...found[2] }];
  const id = uri.match(/^test:\/\/template\/(\w+)\/data$/)?.[1];
  return id && [{ uri, mimeType: TEMPLATE.mimeType, text: JSON.stringify({ id, data: `Data for ID: ${id}` }) }];
}

export class Everything {
  /** Every call of a tool that was carried out: {name, arguments, headers}. */
  calls = [];
  /** Every other question that was answered: {method, params}. */
  questions = [];
  tools = TOOLS.map(([name, description, annotations, inputSchema]) => ({ name, description, annotations, inputSchema }));

  #server = http.createServer((req, res) => this.#receive(req, res));

  static async start() {
    const everything = new Everything();
    everything.#server.listen(0, '127.0.0.1');
    await once(everything.#server, 'listening');
    return everything;
  }

  async stop() {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }

  get host() {
    return `127.0.0.1:${this.#server.address().port}`;
  }

  /** What the catalogue says of it; `more`: further lines of its entry. */
  catalogue(name, more = '') {
    return `
[[credential]]
name = "everything"
hosts = ["${this.host}"]
header = "Authorization"
value = "Bearer {secret}"
secret = { env = "OFFICE_TOKEN" }
allow_http = true
allow_private = true

[[upstream]]
name = "${name}"
url = "http://${this.host}/mcp"
credential = "everything"
${more}
`;
  }

  /** From now on a tool says something else about itself. */
  redefine(name, change) {
    this.tools = this.tools.map((tool) => (tool.name === name ? { ...tool, ...change } : tool));
  }

  async #receive(req, res) {
    const chunks = [];
    for await (const chunk of req) chunks.push(chunk);
    const { status = 200, ...message } = this.#answer(req.headers, JSON.parse(Buffer.concat(chunks).toString('utf8')));
    res.writeHead(status, { 'Content-Type': 'application/json' });
    res.end(JSON.stringify({ jsonrpc: '2.0', ...message }));
  }

  #answer(headers, { id, method, params }) {
    const error = (status, code, message) => ({ status, id, error: { code, message } });
    if (headers.authorization !== `Bearer ${SECRET}`) return error(401, -32600, 'no secret');
    if (headers['mcp-protocol-version'] !== VERSION) return error(400, -32022, 'another revision');
    if (headers['mcp-method'] !== method) return error(400, -32020, 'the header names another method');
    if (method === 'tools/list') {
      return { id, result: { resultType: 'complete', tools: this.tools, ttlMs: 0, cacheScope: 'public' } };
    }
    const answer = this.#tell(method, params ?? {});
    if (answer === null) return error(200, -32602, 'no such thing');
    if (answer) {
      this.questions.push({ method, params });
      return { id, result: { resultType: 'complete', ttlMs: 0, cacheScope: 'public', ...answer } };
    }
    const tool = TOOLS.find(([name]) => name === params?.name);
    if (method !== 'tools/call' || !tool) return error(200, -32601, 'there is none');
    if (headers['mcp-name'] !== params.name) return error(400, -32020, 'the header names another tool');
    this.calls.push({ name: params.name, arguments: params.arguments, headers });
    return { id, result: { resultType: 'complete', ...tool[4](params.arguments) } };
  }

  /** The answer about prompts and resources; null: there is no such thing, undefined: it is about something else. */
  #tell(method, params) {
    switch (method) {
      case 'prompts/list':
        return { prompts: PROMPTS.map(([name, args]) => ({ name, description: `The ${name}.`, arguments: args })) };
      case 'prompts/get': {
        const prompt = PROMPTS.find(([name]) => name === params.name);
        return prompt ? { messages: prompt[2](params.arguments ?? {}) } : null;
      }
      case 'resources/list':
        return { resources: RESOURCES.map(([uri, mimeType]) => ({ uri, name: uri.split('/').at(-1), mimeType })) };
      case 'resources/templates/list':
        return { resourceTemplates: [TEMPLATE] };
      case 'resources/read': {
        const found = contents(params.uri);
        return found ? { contents: found } : null;
      }
      case 'completion/complete':
        return { completion: { values: ['paris', 'park'].filter((word) => word.startsWith(params.argument.value)), hasMore: false } };
      default:
        return undefined;
    }
  }
}
