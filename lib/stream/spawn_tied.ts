let answer: Promise<boolean> | null = null;

/**
 * The words of a command, so that Linux sends it SIGTERM when this process ends, be it by SIGKILL; what it started is for
 * itself to end. Unchanged where util-linux's `setpriv` is missing or too old.
 */
export async function tied(words: readonly string[]): Promise<string[]> {
  answer ??= canTie();
  return (await answer) ? ['setpriv', '--pdeathsig', 'TERM', '--', ...words] : [...words];
}

async function canTie(): Promise<boolean> {
  if (process.platform !== 'linux') return false;
  const { execa } = await import('execa');
  const { failed } = await execa('setpriv', ['--pdeathsig', 'TERM', '--', 'true'], { reject: false, stdio: 'ignore' });
  return !failed;
}
