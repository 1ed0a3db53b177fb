// A stream of events as a program reads it (HTML, "server-sent events").
import http from 'node:http';
import { until } from './wait.js';

export class Stream {
  /** Every event so far: {id, type, data}. */
  events = [];
  ended = false;

  /**
   * @param {import('./agent.js').Client} client
   * @param {string} [after] the id of the event that was seen last
   */
  static async open(client, after) {
    const stream = new Stream();
    const headers = { Authorization: `Bearer ${client.token}`, Accept: 'text/event-stream', ...(after && { 'Last-Event-ID': after }) };
    stream.answer = await new Promise((resolve, reject) => {
      stream.request = http.get(`${client.url}/v1/events`, { agent: false, headers }, resolve).on('error', reject);
    });
    stream.answer.setEncoding('utf8');
    stream.answer.on('data', (text) => stream.#take(text));
    for (const end of ['end', 'error']) stream.answer.on(end, () => (stream.ended = true));
    return stream;
  }

  /** Waits until that many events have come. */
  async until(count) {
    await until(`${count} events of the stream`, () => this.events.length >= count);
    return this.events;
  }

  close() {
    this.request.destroy();
  }

  #text = '';

  #take(text) {
    const parts = (this.#text + text).split('\n\n');
    this.#text = parts.pop();
    for (const part of parts) {
      const fields = Object.fromEntries(part.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]));
      if (fields.data) this.events.push({ id: fields.id, type: fields.event, data: JSON.parse(fields.data) });
    }
  }
}
