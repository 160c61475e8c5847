// The way to the server: GET and POST with the token of this tab, streams of lines, and the stream
// of events, which is read by fetch because a browser's own reader sends no token. The token lives in this
// module's memory and nowhere else: closing or reloading the tab forgets it.

import { row } from './format.js';

let token = '';

const RETRY_MILLIS = [500, 1000, 2000, 3000, 5000];
const SILENCE_MILLIS = 8000;
const ANSWER_MILLIS = 10_000;

export function setToken(value) {
  token = value.trim();
}

export function hasToken() {
  return token !== '';
}

/** What the server refused, with its words; status 0: it can't be reached. */
export class ApiError extends Error {
  constructor(status, title, detail, advice) {
    super(title);
    this.status = status;
    this.detail = detail ?? '';
    this.advice = advice ?? '';
  }

  get lines() {
    return [this.detail, this.advice].filter(line => line && line !== this.message);
  }
}

function headers(more) {
  return token === '' ? { ...more } : { ...more, Authorization: `Bearer ${token}` };
}

async function send(path, init = {}) {
  let answer;
  try {
    answer = await fetch(path, { cache: 'no-store', ...init, headers: headers(init.headers) });
  } catch (e) {
    if (e.name === 'AbortError') {
      throw e;
    }
    throw unreachable();
  }
  if (!answer.ok) {
    throw await problemOf(answer);
  }
  return answer;
}

function unreachable() {
  return new ApiError(0, 'the server can’t be reached', '',
      'Is ./turbidite serve still running? The page tries again by itself.');
}

async function problemOf(answer) {
  let problem = {};
  try {
    problem = JSON.parse(await answer.text());
  } catch {
    // not from this server: a proxy's page, say; its status is all that is told
  }
  return problemFrom(problem, answer.status);
}

/** An error from what a problem says, in an answer of its own or at the end of a stream. */
export function problemFrom(problem, status) {
  const title = problem.detail ?? problem.title ?? `the server answered ${status}`;
  return new ApiError(problem.status ?? status, title, problem.detail ? '' : problem.detail, problem.advice);
}

/** A short answer; one that is not whole within ten seconds is taken for a lost connection. */
export async function get(path, signal) {
  const late = AbortSignal.timeout(ANSWER_MILLIS);
  const answer = await send(path, { signal: signal ? AbortSignal.any([signal, late]) : late });
  try {
    return await answer.json();
  } catch (e) {
    throw e.name === 'AbortError' ? e : unreachable();
  }
}

export async function post(path, body, signal) {
  const answer = await send(path, {
    method: 'POST', signal,
    headers: { 'Content-Type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await answer.text();
  return text === '' ? {} : JSON.parse(text);
}

/** Posts, and hands over each line of the answer as it comes; aborting ends the query there, too. */
export async function postLines(path, body, onLine, signal) {
  const answer = await send(path, {
    method: 'POST', signal,
    headers: { 'Content-Type': 'application/json', Accept: 'application/x-ndjson' },
    body: JSON.stringify(body),
  });
  await eachLine(answer.body, line => {
    if (line !== '') {
      onLine(row(line));
    }
  });
}

async function eachLine(body, onLine) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) {
      break;
    }
    const lines = (rest + value).split('\n');
    rest = lines.pop();
    lines.forEach(line => onLine(line.endsWith('\r') ? line.slice(0, -1) : line));
  }
  if (rest !== '') {
    onLine(rest);
  }
}

/**
 * Follows the events of the server until `signal` says stop; connects again by itself, waiting
 * longer each time. A server that is silent for 8 seconds, where a sample comes each second, is
 * taken to be gone.
 */
export async function follow(path, { onEvent, onState, signal }) {
  let attempt = 0;
  while (!signal.aborted) {
    const connection = new AbortController();
    const stop = () => connection.abort();
    signal.addEventListener('abort', stop);
    let silence = 0;
    const heard = () => {
      clearTimeout(silence);
      silence = setTimeout(stop, SILENCE_MILLIS);
    };
    let error = null;
    try {
      heard();
      const answer = await send(path, { signal: connection.signal,
          headers: { Accept: 'text/event-stream' } });
      attempt = 0;
      onState('connected', null);
      await eachEvent(answer.body, heard, onEvent);
    } catch (e) {
      error = e instanceof ApiError ? e : null;
    } finally {
      clearTimeout(silence);
      signal.removeEventListener('abort', stop);
    }
    if (signal.aborted) {
      return;
    }
    const wait = RETRY_MILLIS[Math.min(attempt++, RETRY_MILLIS.length - 1)];
    onState('lost', error);
    await new Promise(resume => setTimeout(resume, wait));
  }
}

async function eachEvent(body, heard, onEvent) {
  let name = 'message';
  let data = [];
  await eachLine(body, line => {
    heard();
    if (line === '') {
      if (data.length > 0) {
        onEvent(name, JSON.parse(data.join('\n')));
      }
      name = 'message';
      data = [];
    } else if (line.startsWith('event:')) {
      name = line.slice(6).trim();
    } else if (line.startsWith('data:')) {
      data.push(line.slice(5).replace(/^ /, ''));
    }
  });
}

/** A segment of a path: names of stores may hold any character. */
export function segment(name) {
  return encodeURIComponent(name);
}
