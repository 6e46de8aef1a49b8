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
    const { openServers } = await import('./attach.ts');
    return openServers((values.url as readonly string[] | undefined) ?? []);
  },
};
