import { DartError } from '../../errors.ts';
import type { NetworkConfig } from './config.ts';
import { gridOf } from './config.ts';
import type { EncodedInput } from './features.ts';
import { HISTORY_PARTS, WORD_IDENTITY } from './features.ts';
import type { Feeds } from './session.ts';
import { tensor } from './session.ts';
import { bosToken, noneToken } from './tokens.ts';

/** Screen, words and history of a batch as tensors. Throws a DartError for a screen of another size. */
export function sceneFeeds(inputs: readonly EncodedInput[], config: NetworkConfig): Feeds {
  const { width, height } = config.screen;
  const count = inputs.length;
  const pixels = width * height * 3;
  const screen = new Uint8Array(count * pixels);
  const wordWidth = WORD_IDENTITY + config.wordLength;
  const words = new Int32Array(count * config.words * wordWidth);
  const history = new Int32Array(count * config.history * HISTORY_PARTS);
  inputs.forEach((input, i) => {
    if (input.screen.length !== pixels) {
      throw new DartError(
        `the screen has ${input.screen.length} bytes, the policy sees ${width}x${height} RGB (${pixels})`,
        {
          where: 'onnx policy',
          hint: `use desktops of ${width}x${height} pixels with this policy`,
        },
      );
    }
    screen.set(input.screen, i * pixels);
    words.set(input.words, i * config.words * wordWidth);
    history.set(input.history, i * config.history * HISTORY_PARTS);
  });
  return {
    screen: tensor('uint8', screen, [count, height, width, 3]),
    words: tensor('int32', words, [count, config.words, wordWidth]),
    history: tensor('int32', history, [count, config.history, HISTORY_PARTS]),
  };
}

/** Reply inputs: BOS and all tokens but the last, padded with NONE; and where the real ones are. */
export function replyFeeds(replies: readonly ArrayLike<number>[], config: NetworkConfig): Feeds {
  const { cells } = gridOf(config);
  const length = Math.max(...replies.map((reply) => reply.length));
  const reply = new Int32Array(replies.length * length).fill(noneToken(cells));
  const rows: number[] = [];
  replies.forEach((tokens, i) => {
    for (let t = 0; t < tokens.length; t++) {
      reply[i * length + t] = t === 0 ? bosToken(cells) : tokens[t - 1]!;
      rows.push(i * length + t);
    }
  });
  return {
    reply: tensor('int32', reply, [replies.length, length]),
    rows: tensor('int32', Int32Array.from(rows), [rows.length]),
  };
}
