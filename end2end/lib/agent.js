// A program that holds a token: an agent with its key, or a person with theirs.
import { request } from './http.js';

export class Client {
  /**
   * @param {string} url the desk
   * @param {string} token
   */
  constructor(url, token) {
    this.url = url;
    this.token = token;
  }

  /** Asks for a path of the API; `body` that is no string is sent as JSON. */
  ask(method, path, body, headers = {}) {
    const content = body === undefined ? {} : { 'Content-Type': 'application/json' };
    return request(`${this.url}${path}`, {
      method,
      headers: { Authorization: `Bearer ${this.token}`, ...content, ...headers },
      body: body === undefined || typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
    });
  }

  get(path, headers) {
    return this.ask('GET', path, undefined, headers);
  }

  /** Calls an action. */
  act(action, input, headers) {
    return this.ask('POST', `/v1/actions/${action}`, input, headers);
  }

  /** How a call stands. */
  async call(id) {
    return (await this.get(`/v1/calls/${id}`)).json;
  }

  /** Every item of a list that fits on one page. */
  async list(path) {
    const answer = await this.get(path);
    if (answer.status !== 200) throw new Error(`GET ${path}: ${answer.status} ${answer.text}`);
    if (answer.json.next_cursor !== null) throw new Error(`GET ${path} has more than one page`);
    return answer.json.items;
  }
}
