// A scanning service with one task and its shares: they can be made, changed and deleted.
import { createServer } from 'node:http';

const severities = ['CRITICAL', 'HIGH', 'MEDIUM'];
const stat = { total: 3, criticalCount: 1, highCount: 1, mediumCount: 1, lowCount: 0 };
const task = {
  taskId: 't1', projectName: 'Orders', taskStatus: 'SUCCESS', lang: 'JAVA', createdAt: '2026-11-01T10:00:00Z', createdBy: 'alice', resultsStat: stat,
};
const finding = (n) => ({
  vulId: `v${n}`, taskId: 't1', severity: severities[n], title: `Weakness number ${n}`, category: 'Injection', cweId: 'CWE-89',
  description: 'A parameter reaches a query as it is.', pocScript: "curl -H 'Cookie: sid=SECRET' https://orders.example/",
  evidence: [{ kind: 'code', path: 'Orders.java', detail: 'query(name)' }], component: { name: 'orders', version: '1.0' },
});
const chain = {
  vulId: 'c1', taskId: 't1', title: 'From the search to the query', severity: 'HIGH', vulIds: ['v0'],
  steps: [{ order: 0, kind: 'entry', apiMethod: 'GET', apiPath: '/orders' }, { order: 1, kind: 'sink', vulId: 'v0', className: 'Orders', method: 'find' }],
};

/** Listens until `close` is called. `down`: answers 503. */
export async function serve() {
  const shares = new Map();
  const service = { shares, down: false };
  let made = 0;
  const page = (data) => [200, { data, total: data.length }];
  const routes = [
    ['POST', /\/tasks\/search$/, () => page([task])],
    ['GET', /\/tasks\/t1$/, () => [200, task]],
    ['POST', /\/results\/search$/, () => page([0, 1, 2].map(finding))],
    ['GET', /\/results\/v([0-2])$/, ([n]) => [200, finding(Number(n))]],
    ['POST', /\/exploit-chains\/search$/, () => page([chain])],
    ['POST', /\/components\/search$/, () => page([])],
    ['POST', /\/shares\/generate-id$/, () => { made += 1; return [200, { shareId: `share-number-${made}-of-this-service` }]; }],
    ['POST', /\/shares\/search$/, () => page([...shares.values()])],
    ['POST', /\/shares\/delete$/, (_, { shareIds }) => { shareIds.forEach((id) => shares.delete(id)); return [200, {}]; }],
    ['PATCH', /\/shares\/([^/]+)$/, ([id], change) => (shares.has(id) ? (Object.assign(shares.get(id), change), [200, {}]) : [404, {}])],
    ['POST', /\/shares$/, (_, share) => {
      shares.set(share.shareId, { ...share, projectName: 'Orders', needExtractionCode: Boolean(share.extractionCode), createdAt: new Date().toISOString(), createdBy: 'alice' });
      return [200, { shareId: share.shareId, expiredAt: share.expiredAt }];
    }],
  ];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => { body += chunk; }).on('end', () => {
      const path = new URL(request.url, 'http://service').pathname;
      let answer = [404, { message: 'nothing is here' }];
      if (service.down) answer = [503, { message: 'not now' }];
      else {
        for (const [method, pattern, make] of routes) {
          const found = request.method === method && pattern.exec(path);
          if (found) { answer = make(found.slice(1), body ? JSON.parse(body) : {}); break; }
        }
      }
      response.writeHead(answer[0], { 'content-type': 'application/json' }).end(JSON.stringify(answer[1]));
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(service, { url: `http://127.0.0.1:${server.address().port}`, close: () => server.close() });
}
