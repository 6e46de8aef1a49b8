import type { Page } from 'playwright-core';
import { DartError } from '../../../errors.ts';
import { readAsset } from '../../assets.ts';
import { SETUP_TRIES, usersContext, withBrowser } from '../../browser/connection.ts';
import { jsonObject } from '../../browser/profile.ts';
import type { TaskContext } from '../../context.ts';
import type { Fields } from '../../fields.ts';
import type { StepRunner } from '../../kinds.ts';
import { Unsupported } from '../../unsupported.ts';

const DRIVE = 'https://drive.google.com/drive/my-drive';
const PAGE_LIMIT_MS = 60_000;
const MAIL_LIMIT_MS = 3_000;
const PASSWORD_LIMIT_MS = 5_000;

export interface Account {
  email: string;
  password: string;
}

/**
 * `{settings_file, platform: googledrive}`: signs in to Google in a new tab. The account stands in `settings_file`, a
 * JSON file `{email, password}` below the assets folder; without that file the task is unsupported.
 */
export const login: StepRunner = async (parameters, context) => {
  if (parameters.text('platform') !== 'googledrive') throw parameters.wrong('platform', '"googledrive"');
  const account = await accountOf(parameters, context);
  await withBrowser(context, parameters.owner, SETUP_TRIES, async (browser) => {
    const page = await usersContext(browser).newPage();
    await page.goto(DRIVE, { timeout: PAGE_LIMIT_MS }).catch(() => context.signal?.throwIfAborted());
    await signIn(page, account);
  });
};

/** Fills Google's two forms. Rejects where they do not come: OSWorld would go on without the account. */
export async function signIn(page: Page, { email, password }: Account): Promise<void> {
  const mail = page.locator('input[type="email"]');
  await mail.fill(email, { timeout: MAIL_LIMIT_MS });
  await page.click('#identifierNext > div > button');
  await page.locator('input[type="password"]').fill(password, { timeout: PASSWORD_LIMIT_MS });
  await page.click('#passwordNext > div > button');
  await page.waitForLoadState('load', { timeout: PASSWORD_LIMIT_MS });
}

async function accountOf(parameters: Fields, context: TaskContext): Promise<Account> {
  const path = parameters.text('settings_file');
  const bytes = await readAsset(path, context).catch((cause: unknown) => {
    throw new Unsupported(`${parameters.owner} needs an account of Google Drive, and there is no ${path}`, {
      where: context.task.task_id,
      hint: '--assets DIR with that file: {"email": …, "password": …}',
      cause,
    });
  });
  const { email, password } = jsonObject(bytes) ?? {};
  if (typeof email === 'string' && typeof password === 'string') return { email, password };
  throw new DartError(`${parameters.owner}: ${path} should be a JSON object with email and password`, {
    where: context.task.task_id,
  });
}
