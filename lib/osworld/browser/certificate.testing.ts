import { generateKeyPairSync, sign } from 'node:crypto';

const VERSION_3 = element(0xa0, element(0x02, Buffer.from([2])));
const ECDSA_WITH_SHA256 = element(0x30, element(0x06, Buffer.from('2a8648ce3d040302', 'hex')));
const COMMON_NAME = element(0x06, Buffer.from('550403', 'hex'));

/** Key and self-signed certificate (PEM) of a web server that no browser trusts unless it is told to trust all. */
export function selfSigned(): { key: string; cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const name = sequence(element(0x31, sequence(COMMON_NAME, element(0x0c, Buffer.from('test')))));
  const validity = sequence(time('240101000000Z'), time('491231000000Z'));
  const key = publicKey.export({ type: 'spki', format: 'der' });
  const serial = element(0x02, Buffer.from([1]));
  const body = sequence(VERSION_3, serial, ECDSA_WITH_SHA256, name, validity, name, key);
  const signature = sign('sha256', body, privateKey);
  const whole = sequence(body, ECDSA_WITH_SHA256, element(0x03, Buffer.concat([Buffer.from([0]), signature])));
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${whole.toString('base64')}\n-----END CERTIFICATE-----\n`,
  };
}

function sequence(...parts: Buffer[]): Buffer {
  return element(0x30, Buffer.concat(parts));
}

function time(text: string): Buffer {
  return element(0x17, Buffer.from(text));
}

/** Tag, length and content, as DER writes them. */
function element(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}
