// One HTTP request, exactly as written: no cookie jar, no redirect, no retry, no header of a library's own.
import http from 'node:http';

/**
 * @param {string} url
 * @param {{method?: string, headers?: Record<string, string | string[]>, body?: string | Buffer}} [options]
 * @returns {Promise<{status: number, headers: http.IncomingHttpHeaders, bytes: Buffer, text: string, json: any}>}
 *   `json` is undefined where the answer is not JSON
 */
export function request(url, { method = 'GET', headers = {}, body } = {}) {
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
    const sent = http.request(url, { method, agent: false, headers: { ...length, ...headers } }, (answer) => {
      const chunks = [];
      answer.on('data', (chunk) => chunks.push(chunk));
      answer.on('error', reject);
      answer.on('end', () => {
        const bytes = Buffer.concat(chunks);
        const text = bytes.toString('utf8');
        resolve({ status: answer.statusCode, headers: answer.headers, bytes, text, json: asJson(answer, text) });
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

function asJson(answer, text) {
  // The answer to a HEAD has the headers of a body, and none.
  return text !== '' && /[/+]json\b/.test(answer.headers['content-type'] ?? '') ? JSON.parse(text) : undefined;
}
