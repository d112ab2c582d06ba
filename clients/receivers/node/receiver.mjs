// Receives webhooks of provisor (Standard Webhooks), and prints each event once. Node 18 or later.
//
// WEBHOOK_SECRET  secrets (whsec_...) or public keys (whpk_...), several with spaces between: during a rotation both count
// PORT            on the loopback address, 8080 by default: a proxy with TLS stands before it
//
// Exit status 2: one of these is missing or wrong, which one line on standard error says.
//
// verify() is what to take into a program of your own; handle() is where that program does its work.
import crypto from 'node:crypto';
import http from 'node:http';

const TOLERANCE_S = 300;
const BODY_BYTES_MAX = 65536;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const ED25519_PUBLIC_KEY = Buffer.from('302a300506032b6570032100', 'hex'); // what precedes the 32 bytes in DER

// The scheme and key of each secret or public key.
export function readKeys(text) {
  const keys = text.split(/\s+/).filter(Boolean).map((word) => {
    const [, prefix, encoded] = /^(whsec|whpk)_(.+)$/.exec(word) ?? [];
    if (!prefix || !BASE64.test(encoded)) throw new Error('a secret is whsec_ and base64, a public key whpk_ and base64');
    const raw = Buffer.from(encoded, 'base64');
    if (prefix === 'whpk') {
      if (raw.length !== 32) throw new Error(`a public key has 32 bytes, not ${raw.length}`);
      const der = Buffer.concat([ED25519_PUBLIC_KEY, raw]);
      return { scheme: 'v1a', key: crypto.createPublicKey({ key: der, format: 'der', type: 'spki' }) };
    }
    if (raw.length < 24) throw new Error('the secret is shorter than 24 bytes');
    return { scheme: 'v1', key: raw };
  });
  if (keys.length === 0) throw new Error('there is no secret');
  return keys;
}

function isSigned({ scheme, key }, content, signature) {
  if (scheme === 'v1a') return signature.length === 64 && crypto.verify(null, content, key, signature);
  const expected = crypto.createHmac('sha256', key).update(content).digest();
  return signature.length === expected.length && crypto.timingSafeEqual(signature, expected);
}

// undefined where one of the signatures is by one of the keys, elsewhere why the delivery is refused.
// body: a Buffer of the bytes as they came.
export function verify(keys, id, timestamp, signatures, body, nowS) {
  if (!/^[A-Za-z0-9_-]{1,256}$/.test(id ?? '') || !/^[1-9][0-9]{0,11}$/.test(timestamp ?? '')) {
    return 'webhook-id or webhook-timestamp is missing or malformed';
  }
  if (Math.abs(nowS - Number(timestamp)) > TOLERANCE_S) return 'webhook-timestamp differs from this clock by more than five minutes';
  const content = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), body]);
  for (const word of (signatures ?? '').split(' ')) {
    const [scheme, encoded, ...rest] = word.split(',');
    if (encoded === undefined || rest.length > 0 || !BASE64.test(encoded)) continue;
    const signature = Buffer.from(encoded, 'base64');
    if (keys.some((key) => key.scheme === scheme && isSigned(key, content, signature))) return undefined;
  }
  return 'no signature is by a key of this receiver';
}

// Ids of what has been handled, the latest of them. A delivery can be repeated as long as the service keeps it, seven days by
// default: a program of your own keeps the ids that long, where it keeps its work and in one transaction with it. Where work
// throws, the id is not kept, and the next attempt counts.
const seen = new Set();
const SEEN_MAX = 100000;
function once(id, work) {
  if (seen.has(id)) return false;
  work();
  seen.add(id);
  if (seen.size > SEEN_MAX) seen.delete(seen.values().next().value);
  return true;
}

function handle(id, body) {
  const event = JSON.parse(body.toString('utf8'));
  console.log(`handled ${id} ${event.type ?? 'text'}`);
}

function receive(keys, request, body) {
  const id = request.headers['webhook-id'];
  const why = verify(keys, id, request.headers['webhook-timestamp'], request.headers['webhook-signature'], body, Date.now() / 1000);
  if (why !== undefined) {
    console.error(`refused: ${why}`);
    return 401;
  }
  try {
    if (!once(id, () => handle(id, body))) console.log(`again ${id}`);
    return 204;
  } catch (error) { // the service tries again
    console.error(`not handled: ${error.message}`);
    return 500;
  }
}

// What a variable of the environment says. One that is wrong ends the program; what it holds may be a secret, and is not shown.
function configured(name, fallback, read) {
  try {
    return read(process.env[name] ?? fallback);
  } catch (error) {
    console.error(`receiver.mjs: ${name}: ${error.message}`);
    process.exit(2);
  }
}

function readPort(text) {
  if (!/^[0-9]{1,5}$/.test(text) || Number(text) > 65535) throw new Error('a port is a number up to 65535');
  return Number(text);
}

const keys = configured('WEBHOOK_SECRET', '', readKeys);
const port = configured('PORT', '8080', readPort);
const server = http.createServer((request, response) => {
  const chunks = [];
  let size = 0;
  request.on('data', (chunk) => {
    size += chunk.length;
    if (size <= BODY_BYTES_MAX) chunks.push(chunk);
    else if (!response.headersSent) response.writeHead(413, { Connection: 'close' }).end();
  });
  request.on('end', () => {
    if (response.headersSent) return;
    response.writeHead(request.method === 'POST' ? receive(keys, request, Buffer.concat(chunks)) : 405).end();
  });
});
server.requestTimeout = 10000;
server.listen(port, '127.0.0.1', () => console.log(`listening on ${server.address().port}`));
