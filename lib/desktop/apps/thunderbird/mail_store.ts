import { MAIL_FOLDERS, MAIL_ROOT } from '../../files/defaults.ts';
import type { Vfs } from '../../files/vfs.ts';

/** Bits of X-Mozilla-Status. */
export const MAIL_READ = 1;
export const MAIL_REPLIED = 2;
export const MAIL_STARRED = 4;

export interface Mail {
  status: number;
  from: string;
  to: string;
  subject: string;
  body: string;
}

/** The mail folders of one desktop. Mails keep their identity for as long as their folder's file is the same. */
export class MailStore {
  private readonly vfs: Vfs;
  private readonly parsed = new Map<string, { text: string; mails: readonly Mail[] }>();

  constructor(vfs: Vfs) {
    this.vfs = vfs;
  }

  /** Mails of a folder, oldest first. */
  read(folder: string): readonly Mail[] {
    const text = this.vfs.readText(`${MAIL_ROOT}/${folder}`) ?? '';
    const known = this.parsed.get(folder);
    if (known?.text === text) return known.mails;
    const mails = text
      .split(/^From .*\n/m)
      .slice(1)
      .map(parseMail);
    this.parsed.set(folder, { text, mails });
    return mails;
  }

  write(folder: string, mails: readonly Mail[]): void {
    this.vfs.write(`${MAIL_ROOT}/${folder}`, mails.map(printMail).join(''));
  }

  /** The usual folders first, then own ones. */
  folders(): string[] {
    const names = this.vfs.list(MAIL_ROOT).filter((name) => this.vfs.isFile(`${MAIL_ROOT}/${name}`));
    return [...MAIL_FOLDERS, ...names.filter((name) => !MAIL_FOLDERS.includes(name))];
  }
}

function parseMail(text: string): Mail {
  const end = text.indexOf('\n\n');
  const head = end < 0 ? text : text.slice(0, end);
  const header = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(head)?.[1] ?? '';
  return {
    status: Number.parseInt(header('X-Mozilla-Status') || '0', 16),
    from: header('From'),
    to: header('To'),
    subject: header('Subject'),
    body:
      end < 0
        ? ''
        : text
            .slice(end + 2)
            .replace(/\n+$/, '')
            .replace(/^>From /gm, 'From '),
  };
}

function printMail({ status, from, to, subject, body }: Mail): string {
  const flags = status.toString(16).padStart(4, '0');
  // mbox: a line of the body must not look like the start of the next mail.
  const safe = body.replace(/^From /gm, '>From ');
  return `From - \nX-Mozilla-Status: ${flags}\nFrom: ${from}\nTo: ${to}\nSubject: ${subject}\n\n${safe}\n\n`;
}

/** The part of an address before `@`. */
export function shortAddress(address: string): string {
  return address.split('@')[0] ?? address;
}
