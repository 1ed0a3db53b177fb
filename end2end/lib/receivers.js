// Where notices arrive: a mail server, a push service and a webhook, each a real listener.
import { createDecipheriv, createECDH, hkdfSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';

/** A mail server that takes everything. */
export class MailServer {
  /** @type {{to: string, text: string}[]} */
  mails = [];

  static async start() {
    const mail = new MailServer();
    mail.server = net.createServer((socket) => mail.#speak(socket)).listen(0, '127.0.0.1');
    await once(mail.server, 'listening');
    mail.address = `127.0.0.1:${mail.server.address().port}`;
    return mail;
  }

  #speak(socket) {
    let [text, to] = ['', ''];
    let inside = false;
    socket.on('error', () => {});
    socket.write('220 mail.test\r\n');
    socket.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
      for (;;) {
        const end = inside ? text.indexOf('\r\n.\r\n') : text.indexOf('\r\n');
        if (end < 0) return;
        const said = text.slice(0, end);
        text = text.slice(end + (inside ? 5 : 2));
        if (inside) this.mails.push({ to, text: said });
        const starts = !inside && /^DATA/i.test(said);
        if (/^RCPT/i.test(said)) [, to] = said.split(/[<>]/);
        inside = starts;
        socket.write(starts ? '354 go on\r\n' : /^EHLO/i.test(said) ? '250 mail.test\r\n' : /^QUIT/i.test(said) ? '221 bye\r\n' : '250 ok\r\n');
      }
    });
  }

  stop() {
    this.server.close();
  }
}

/** Takes POSTs, and keeps them: a webhook, or a push service. */
export class Receiver {
  /** @type {{path: string, headers: import('node:http').IncomingHttpHeaders, body: Buffer}[]} */
  posts = [];
  status = 201;

  static async start() {
    const receiver = new Receiver();
    receiver.server = http.createServer(async (request, response) => {
      const chunks = await request.toArray();
      receiver.posts.push({ path: request.url, headers: request.headers, body: Buffer.concat(chunks) });
      response.writeHead(receiver.status).end();
    });
    receiver.server.listen(0, '127.0.0.1');
    await once(receiver.server, 'listening');
    receiver.url = `http://127.0.0.1:${receiver.server.address().port}`;
    return receiver;
  }

  stop() {
    this.server.close();
    this.server.closeAllConnections();
  }
}

/** The keys of a browser's subscription, and what they open (RFC 8291, RFC 8188). */
export class BrowserKeys {
  constructor() {
    this.pair = createECDH('prime256v1');
    this.p256dh = this.pair.generateKeys();
    this.auth = randomBytes(16);
  }

  read(body) {
    const [salt, theirs, sealed] = [body.subarray(0, 16), body.subarray(21, 86), body.subarray(86)];
    const expand = (secret, from, info, length) => Buffer.from(hkdfSync('sha256', secret, from, info, length));
    const info = Buffer.concat([Buffer.from('WebPush: info\0'), this.p256dh, theirs]);
    const ikm = expand(this.pair.computeSecret(theirs), this.auth, info, 32);
    const key = expand(ikm, salt, 'Content-Encoding: aes128gcm\0', 16);
    const nonce = expand(ikm, salt, 'Content-Encoding: nonce\0', 12);
    const opening = createDecipheriv('aes-128-gcm', key, nonce).setAuthTag(sealed.subarray(-16));
    const plain = Buffer.concat([opening.update(sealed.subarray(0, -16)), opening.final()]);
    return JSON.parse(plain.subarray(0, plain.lastIndexOf(2)).toString());
  }
}
