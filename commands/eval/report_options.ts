import { access, constants, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { resolvePath } from '../../lib/cli/input.ts';
import type { CommandContext, OptionSpec } from '../../lib/cli/spec.ts';
import { DartError } from '../../lib/errors.ts';
import { fileError } from '../../lib/stream/errno.ts';
import { makeFolder } from '../../lib/stream/files.ts';

export const FORMATS = ['junit', 'md', 'html', 'json'] as const;
export type ReportFormat = (typeof FORMATS)[number];

/** A report that was asked for. */
export interface WantedReport {
  format: ReportFormat | 'github';
  path: string;
}

/** The option that every command with reports has. */
export const REPORT_OPTION: OptionSpec = {
  name: 'report',
  type: 'string',
  value: 'WHAT=FILE',
  multiple: true,
  describe:
    'Also write a report, beside the records: junit=FILE, md=FILE, html=FILE or json=FILE; github appends to the page of a GitHub job',
  group: 'Output',
};

/**
 * The reports that `--report` asks for, several in one value with commas.
 * @throws DartError for a format that there is none of, a report without a file, two in one file, and `github` outside a job.
 */
export function wantedReports({ options, io }: CommandContext): WantedReport[] {
  const given = ((options.report as string[] | undefined) ?? []).flatMap(separate);
  const wanted = given.map((item): WantedReport => {
    if (item === 'github') return { format: 'github', path: githubPage(io.env) };
    const [, format = item, path = ''] = /^([^=]*)=(.*)$/s.exec(item) ?? [];
    if (!FORMATS.some((known) => known === format)) {
      throw new DartError(`there is no report "${format}"`, {
        where: '--report',
        hint: 'junit=FILE, md=FILE, html=FILE, json=FILE, github',
      });
    }
    if (path === '') throw new DartError(`${format} needs a file`, { where: '--report', hint: `${format}=FILE` });
    return { format: format as ReportFormat, path: resolvePath(io, path) };
  });
  refuseSame(
    wanted,
    options.output === undefined || options.output === '-' ? null : resolvePath(io, String(options.output)),
  );
  return wanted;
}

/**
 * That each report can be written, found out before the hours of an evaluation. Folders that are missing are made.
 * @throws DartError naming the file.
 */
export async function checkWritable(wanted: readonly WantedReport[]): Promise<void> {
  for (const { path } of wanted) {
    const there = await stat(path).catch(() => null);
    if (there?.isDirectory())
      throw new DartError('the report would be a folder', { where: path, hint: 'a file in it' });
    await makeFolder(dirname(path));
    // A pipe or a device is written to as it is, a file replaced by a new one in its folder.
    const touched = there !== null && !there.isFile() ? path : dirname(path);
    await access(touched, constants.W_OK).catch((error: unknown) => {
      throw fileError(error, 'write', path);
    });
  }
}

/** `junit=a.xml,md=b.md` are two; a comma inside a file's name is one of it. */
function separate(value: string): string[] {
  return value.split(/,(?=(?:junit|md|html|json)=|github(?:,|$))/);
}

function githubPage(env: CommandContext['io']['env']): string {
  if (env.GITHUB_STEP_SUMMARY) return env.GITHUB_STEP_SUMMARY;
  throw new DartError('GITHUB_STEP_SUMMARY is not set: this is no job of GitHub Actions', {
    where: '--report github',
    hint: 'md=FILE',
  });
}

function refuseSame(wanted: readonly WantedReport[], output: string | null): void {
  const paths = [...wanted.map(({ path }) => path), ...(output === null ? [] : [output])];
  const twice = paths.find((path, index) => paths.indexOf(path) !== index);
  if (twice !== undefined) throw new DartError('two outputs go to this file', { where: twice, hint: 'another name' });
}
