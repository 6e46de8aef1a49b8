import { DartError } from '../../../errors.ts';
import { type FetchedFile, isFile } from '../../context.ts';
import type { Fields } from '../../fields.ts';
import type { Metric } from '../../kinds.ts';
import { decode, expectedFiles } from '../input.ts';
import { strip } from '../sheets/python.ts';

/** What the messages of a Thunderbird folder start with; OSWorld looks for it in capitals, where it never is. */
const START = 'FROM - ';

/**
 * Thunderbird folders (one or several) hold the same messages, in any order. Options `ignore_status`, `ignore_keys`,
 * `remove_deleted` (default), `remove_duplicate` (default). OSWorld's own code passes over every message that is not
 * empty, so that any two files are the same to it; `strict` compares them.
 */
const thunderbirdFolder: Metric = ({ result, expected, options, fidelity, ...input }) => {
  const wanted = expectedFiles({ result, expected, options, ...input });
  const found = Array.isArray(result) ? result : [result];
  const messages = fidelity === 'strict' ? messagesIn : emptyMessagesIn;
  for (const [index, file] of wanted.slice(0, found.length).entries()) {
    const folder = found[index];
    if (folder === null || folder === undefined) return 0;
    if (!isFile(folder)) throw new DartError(`metric ${input.name} needs files as its result`, { where: input.where });
    if (summary(messages(folder, options), options) !== summary(messages(file, options), options)) return 0;
  }
  return 1;
};

function summary(messages: string[], options: Fields): string {
  const kept = isOn(options, 'remove_duplicate') ? [...new Set(messages)] : messages;
  return [...kept].sort().join('\n');
}

function isOn(options: Fields, name: string): boolean {
  return !options.has(name) || options.flag(name);
}

/** As OSWorld: only what is nothing but blanks between two starts counts. */
function emptyMessagesIn(file: FetchedFile): string[] {
  const parts = strip(decode(file)).split(START);
  return parts.filter((part) => strip(part) === '').map(() => START);
}

function messagesIn(file: FetchedFile, options: Fields): string[] {
  const parts = decode(file).split(/^from - [^\n]*\n/im);
  const mails = parts.filter((part) => strip(part) !== '');
  const kept = isOn(options, 'remove_deleted')
    ? mails.filter((mail) => !/X-Mozilla-Status: 000[89]/.test(mail))
    : mails;
  return kept.map((mail) => normalised(mail, options));
}

function normalised(mail: string, options: Fields): string {
  let text = mail;
  if (options.flag('ignore_status')) text = text.replace(/X-Mozilla-Status\d?:[\s\d]+/g, '');
  if (options.flag('ignore_keys')) text = text.replace(/X-Mozilla-Keys:[^\n]*?\n(MIME-Version)/g, '$1');
  return strip(text);
}

/** Folders of mail. */
export const folderMetrics: Record<string, Metric> = { check_thunderbird_folder: thunderbirdFolder };
