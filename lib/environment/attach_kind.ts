import { DartError } from '../errors.ts';
import { type Env, SCHEMA_VERSION } from '../stream/records.ts';
import type { DriverKind } from './kind.ts';

/** Desktops that run already. */
export const attachKind: DriverKind = {
  name: 'attach',
  summary: "Desktops that run already and answer OSWorld's API",
  options: [
    {
      name: 'url',
      type: 'list',
      value: 'URL',
      describe: 'Server of a desktop, http://127.0.0.1:5000, with its token as http://:TOKEN@host:port',
    },
  ],
  detachable: 'they are not started here',
  open: async (_count, values) => {
    const { openAttached } = await import('./attach.ts');
    return openAttached(((values.url as readonly string[] | undefined) ?? []).map(recordOf));
  },
};

/** What is known of a desktop by its address alone; its screen is asked for later. */
function recordOf(url: string, index: number, urls: readonly string[]): Env {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new DartError('not the URL of a server', {
      where: `attach, URL ${index + 1}`,
      hint: 'http://127.0.0.1:5000',
    });
  }
  const { host, pathname } = new URL(url);
  const id = host + pathname.replace(/\/+$/, '');
  if (urls.indexOf(url) !== index) throw new DartError('this desktop is given twice', { where: id });
  return {
    ...{ type: 'env', v: SCHEMA_VERSION, env_id: id, driver: 'attach', state: 'ready', server_url: url },
    ...{ screen: { width: 0, height: 0 }, boot_ms: 0 },
  };
}
