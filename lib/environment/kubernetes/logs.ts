import { type IncomingMessage, request as requestHttp } from 'node:http';
import { type RequestOptions, request as requestHttps } from 'node:https';
import type { ApiCall } from './api_error.ts';
import type { Cluster } from './cluster.ts';
import { CONTAINER } from './names.ts';

export interface LogOptions {
  follow?: boolean;
  tail?: number;
  signal?: AbortSignal;
}

/**
 * What a desktop has logged, in pieces; with `follow` until the signal or its end. Not through the client's own reader,
 * which takes the process along when a connection breaks.
 */
export async function* readLog(cluster: Cluster, name: string, options: LogOptions): AsyncIterable<string> {
  const call: ApiCall = { verb: 'get', resource: 'pods/log', name };
  const url = new URL(`${cluster.server}/api/v1/namespaces/${cluster.namespace}/pods/${name}/log`);
  url.searchParams.set('container', CONTAINER);
  if (options.follow) url.searchParams.set('follow', 'true');
  if (options.tail !== undefined) url.searchParams.set('tailLines', String(options.tail));
  const response = await cluster.call(call, () => get(cluster, url, options.signal));
  try {
    response.setEncoding('utf8');
    for await (const piece of response) yield String(piece);
  } catch (error) {
    if (!options.signal?.aborted) throw cluster.error(error, call);
  } finally {
    response.destroy();
  }
}

/** The answer when its head is in. Rejects with the status where it is no 200. */
async function get(cluster: Cluster, url: URL, signal?: AbortSignal): Promise<IncomingMessage> {
  const options: RequestOptions = { signal };
  await cluster.config.applyToHTTPSOptions(options);
  return new Promise((resolve, reject) => {
    const request = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, options, (response) => {
      if (response.statusCode === 200) return resolve(response);
      response.setEncoding('utf8');
      let body = '';
      response.on('data', (piece: string) => {
        body += piece;
      });
      response.on('end', () =>
        reject(
          Object.assign(new Error(`status ${response.statusCode}`), {
            ...{ code: response.statusCode, headers: response.headers, body },
          }),
        ),
      );
      response.on('error', reject);
    });
    request.on('error', reject);
    request.end();
  });
}
