import { describe, expect, it } from 'vitest';
import { Hand } from '../desktop.testing.ts';
import { EmbeddedDesktop } from '../desktop.ts';

const run = (line: string, desktop = new EmbeddedDesktop(1)) => desktop.execute(line);
const out = (line: string, desktop?: EmbeddedDesktop) => run(line, desktop).output;

describe('shell', () => {
  it('quotes, expands and redirects', () => {
    expect(out(`echo "a  $USER" '$USER' b\\ c ~/x $?`)).toBe('a  user $USER b c /home/user/x 0\n');
    expect(out('echo one > f; echo two >> f; cat f; cat < f | wc -l')).toBe('one\ntwo\n2\n');
    expect(out('cd Documents && ls *.txt')).toBe('notes.txt\ntodo.txt\n');
    expect(out('ls Documents/*.csv')).toBe('Documents/data.csv\n');
    expect(out('x=3; echo "$x"4 "" | cat')).toBe('34 \n');
    expect(out("printf 'a,%s\\n' 1")).toBe('a,1\n');
  });

  it('joins commands', () => {
    expect(out('false && echo no || echo yes; true && echo on')).toBe('yes\non\n');
    expect(out("bash -c 'cat Documents/notes.txt | sort | head -n 1'")).toBe('bread\n');
    expect(out('nothing 2>&1 | wc -l')).toBe('1\n');
  });

  it('says what is wrong, with the right status', () => {
    expect(run('nothing --here')).toMatchObject({
      returncode: 127,
      output: '',
      error: 'sh: nothing: command not found\n',
    });
    expect(run('cat missing')).toMatchObject({ returncode: 1, error: 'cat: missing: No such file or directory\n' });
    expect(run("echo 'open").returncode).toBe(2);
    expect(run('a |').returncode).toBe(2);
    expect(run('exit 3; echo never')).toMatchObject({ returncode: 3, output: '' });
    expect(run('rm -rf /').error).toContain('Permission denied');
    expect(run('echo x > /no/such/file').returncode).toBe(1);
  });

  it('works on files', () => {
    const desktop = new EmbeddedDesktop(1);
    expect(
      run('mkdir a a/b; mkdir -p c/d/e; mv Documents/todo.txt a; cp -r a c/d; rm -r a; touch c/new', desktop)
        .returncode,
    ).toBe(0);
    expect(out('find c', desktop)).toBe('c\nc/d\nc/d/a\nc/d/a/b\nc/d/a/todo.txt\nc/d/e\nc/new\n');
    expect(out('chmod 600 c/new; stat -c %a c/new; chmod u+x,g c/new; chmod +x c/new; stat -c %a c/new', desktop)).toBe(
      '600\n711\n',
    );
    expect(run('cp c x', desktop).returncode).toBe(1);
    expect(out('[ -f c/new ] && [ ! -d c/new ] && test 2 -gt 1 && echo ok', desktop)).toBe('ok\n');
  });

  it('works on text', () => {
    const data = "printf '3\\n10\\n3\\n'";
    expect(out(`${data} | sort -n -r | uniq`)).toBe('10\n3\n');
    expect(out(`${data} | tail -n 2 | head -1`)).toBe('10\n');
    expect(out('grep -c e Documents/notes.txt; grep -v milk Documents/notes.txt')).toBe('2\nbread\ntea\n');
    expect(out("echo 'a.b.c' | sed s/./-/g; echo ab | sed s/b/c/; echo abc | tr a-z A-Z")).toBe('a-b-c\nac\nABC\n');
    expect(out('seq 3; wc -w Documents/todo.txt; basename /a/b.txt .txt')).toBe('1\n2\n3\n4 Documents/todo.txt\nb\n');
  });

  it('takes words as they are when it is given words', () => {
    const desktop = new EmbeddedDesktop(1);
    expect(desktop.execute(['echo', '$HOME', '*']).output).toBe('$HOME *\n');
    expect(desktop.execute(['vlc']).returncode).toBe(0);
    expect(desktop.activateWindow('VLC')).toBe(true);
    expect(desktop.execute('pkill vlc').returncode).toBe(0);
    expect(desktop.activateWindow('VLC')).toBe(false);
  });

  it('ends lines that call themselves', () => {
    const line = 'sh -c \'sh -c "echo deep"\'';
    expect(out(line)).toBe('deep\n');
  });
});

describe('terminal', () => {
  it('runs what is typed and keeps a transcript', () => {
    const hand = new Hand().launch('gnome-terminal').type('cd Documents\npwd\necho hi > a.txt\n');
    expect(hand.text('/home/user/Documents/a.txt')).toBe('hi\n');
    expect(hand.desktop.terminalOutput()).toBe('$ cd Documents\n$ pwd\n/home/user/Documents\n$ echo hi > a.txt\n$ ');
    hand.keys('up').keys('ctrl', 'c').type('ls *.txt\n');
    expect(hand.desktop.terminalOutput()).toContain('$ echo hi > a.txt^C\n$ ls *.txt\na.txt\nnotes.txt\ntodo.txt\n');
    hand.type('clear\n');
    expect(hand.desktop.terminalOutput()).toBe('$ ');
  });

  it('is the active window or says nothing', () => {
    const hand = new Hand().launch('gnome-terminal').launch('vlc');
    expect(hand.desktop.terminalOutput()).toBeNull();
  });
});
