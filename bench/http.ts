import { Agent, request } from 'undici';

export interface Call {
  method: 'GET' | 'POST';
  url: string;
  headers?: Record<string, string>;
  body?: string;
  expect: number | readonly number[];
}

export interface Answer {
  status: number;
  text: string;
  /** Where a redirect leads. */
  location: string;
}

const timeoutMs = 30_000;

/** Keep-alive HTTP; every answer but the expected one ends the benchmark. */
export const createHttp = ({ connections }: { connections: number }) => {
  const agent = new Agent({
    connections,
    pipelining: 1,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
  });
  return {
    async call({ method, url, headers = {}, body, expect }: Call): Promise<Answer> {
      const answer = await request(url, {
        method,
        headers,
        dispatcher: agent,
        ...(body === undefined ? {} : { body }),
      });
      const text = await answer.body.text();
      const { location } = answer.headers;
      const { statusCode: status } = answer;
      if ([expect].flat().includes(status)) return { status, text, location: String(location) };
      throw new Error(`${method} ${url} answered ${status} instead of ${String(expect)}: ${text}`);
    },
    close: () => agent.destroy(),
  };
};
export type Http = ReturnType<typeof createHttp>;
