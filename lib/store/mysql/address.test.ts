import { describe, expect, it } from 'vitest';
import type { DartError } from '../../errors.ts';
import { withoutPassword, withoutPasswords } from '../url.ts';
import { mysqlAddress } from './address.ts';
import { refuseOlder } from './server.ts';

function refusal(text: string): string {
  try {
    mysqlAddress(text, {});
  } catch (error) {
    return (error as DartError).describe();
  }
  throw new Error('it was taken');
}

describe('addresses of MySQL stores', () => {
  it('name host, port, user, password and database', () => {
    const address = mysqlAddress('mysql://me:p%40ss@db.lab:3307/dart', {});
    expect(address).toMatchObject({ host: 'db.lab', port: 3307, user: 'me', password: 'p@ss', database: 'dart' });
    expect(address.place).toBe('db.lab:3307/dart');
    expect(mysqlAddress('mariadb://me@[::1]/dart', {})).toMatchObject({ host: '::1', place: '[::1]:3306/dart' });
    expect(mysqlAddress('mysql://me@localhost/dart?socket=/run/db.sock', {}).place).toBe('/run/db.sock/dart');
  });

  it('take the password from DART_MYSQL_PASSWORD where they have none', () => {
    const env = { DART_MYSQL_PASSWORD: 'other' };
    expect(mysqlAddress('mysql://me@db/dart', env).password).toBe('other');
    expect(mysqlAddress('mysql://me:own@db/dart', env).password).toBe('own');
  });

  it('say how long to wait for a server that is away', () => {
    expect(mysqlAddress('mysql://me@db/dart', {}).patienceMs).toBeNull();
    expect(mysqlAddress('mysql://me@db/dart?patience=2.5', {}).patienceMs).toBe(2500);
    expect(refusal('mysql://me@db/dart?patience=long')).toContain('patience must be seconds, not "long"');
  });

  it('ask for TLS', () => {
    expect(mysqlAddress('mysql://me@db/dart', {}).ssl).toBeUndefined();
    expect(mysqlAddress('mysql://me@db/dart?ssl=required', {}).ssl).toEqual({ rejectUnauthorized: true });
    expect(mysqlAddress('mysql://me@db/dart?ssl=unverified', {}).ssl).toEqual({ rejectUnauthorized: false });
    expect(refusal('mysql://me@db/dart?ssl=maybe')).toContain('"maybe" is no value of ssl. Try: ssl=required');
    expect(refusal('mysql://me@db/dart?ssl-ca=/nowhere.pem')).toBe(
      '/nowhere.pem: cannot read the certificates: no such file or folder. Try: check the path',
    );
  });

  it.each([
    ['mysql://me:secret@db', 'it does not name one database'],
    ['mysql://me:secret@db/a/b', 'it does not name one database'],
    ['mysql://db/dart', 'it names no user'],
    ['mysql://me:secret@db:port/dart', 'it cannot be read'],
    ['mysql://me:secret%@db/dart', 'a % in it is not followed by two hex digits'],
    ['mysql://me:secret@db/dart?pool=3', 'unknown parameter "pool"'],
  ])('are refused with a reason, and no password is repeated: %s', (url, reason) => {
    expect(refusal(url)).toContain(`--store: this is not the address of a MySQL store: ${reason}. Try: `);
    expect(refusal(url)).not.toContain('secret');
  });

  it('are shown without the password, whatever is in it', () => {
    expect(withoutPassword('mysql://me:secret@db/dart')).toBe('mysql://me:***@db/dart');
    expect(withoutPassword('mysql://me:s@e:c?r#et@db/dart')).toBe('mysql://me:***@db/dart');
    expect(withoutPassword('sqlite:a/b@c.db')).toBe('sqlite:a/b@c.db');
    expect(withoutPasswords({ store: 'mysql://me:secret@db/dart', n: 8, more: ['x', null] })).toEqual({
      store: 'mysql://me:***@db/dart',
      n: 8,
      more: ['x', null],
    });
  });
});

describe('servers', () => {
  it.each(['8.0.36', '9.1.0', '10.6.0-MariaDB', '11.4.2-MariaDB-ubu2404'])('%s is new enough', (version) => {
    expect(() => refuseOlder(version, 'db/dart')).not.toThrow();
  });

  it.each([
    ['5.7.44', 'the server is MySQL 5.7.44, which has no SKIP LOCKED'],
    ['10.5.23-MariaDB-1', 'the server is MariaDB 10.5.23-MariaDB-1, which has no SKIP LOCKED'],
  ])('%s is too old', (version, message) => {
    expect(() => refuseOlder(version, 'db/dart')).toThrow(message);
  });
});
