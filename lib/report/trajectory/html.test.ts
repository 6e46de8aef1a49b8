import { describe, expect, it } from 'vitest';
import { visible } from '../../stream/visible.ts';
import { Html, html } from './html.ts';

describe('html', () => {
  it('escapes what stands in its holes, in text and in attributes', () => {
    const evil = `<script>'"&</script>`;
    const escaped = '&lt;script&gt;&#39;&quot;&amp;&lt;/script&gt;';
    expect(html`<p title="${evil}">${evil}</p>`.text).toBe(`<p title="${escaped}">${escaped}</p>`);
  });

  it('takes HTML as it is, one or several, and leaves out what is not there', () => {
    const items = ['a', '<b>'].map((word) => html`<li>${word}</li>`);
    expect(html`<ol>${items}</ol>${null}${undefined}${false}${0}${new Html('<hr>')}`.text).toBe(
      '<ol><li>a</li><li>&lt;b&gt;</li></ol>0<hr>',
    );
  });
});

describe('visible', () => {
  it('shows control characters instead of obeying them', () => {
    expect(visible('a\u001b[31mb\u0000\u007f\u009b')).toBe('a␛[31mb␀␡⟨U+009B⟩');
    expect(visible('\u202egnp.exe\u2066')).toBe('⟨U+202E⟩gnp.exe⟨U+2066⟩');
    expect(visible('one\r\ntwo\tthree\rfour')).toBe('one\ntwo\tthree␍four');
  });

  it('replaces halves of characters', () => {
    expect(visible('a\ud83db 😀')).toBe('a\ufffdb 😀');
  });
});
