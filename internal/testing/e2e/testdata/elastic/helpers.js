// What a JavaScript client of Elasticsearch 7.17, 8 or 9 does with its helpers: the name of the client's package,
// elasticsearch-MAJOR, and the URL of a store that lets it in as arguments. One line for each step; the exit code is 1 when one did not
// do what it should.
const [name, url] = process.argv.slice(2);
const { Client, errors } = require(name);
const major = Number(name.replace('elasticsearch-', ''));
const client = new Client({ node: url, requestTimeout: 30000 });
const books = 'javascript-' + major;
const count = 2500;
let failed = 0;

function step(what, ok, got) {
  console.log(ok ? 'ok   ' + what : 'FAIL ' + what + ': ' + JSON.stringify(got));
  if (!ok) failed++;
}

// asked are parameters with the members of a body, as each version takes them; answered is the body of an answer.
const asked = (params, body) => (major === 7 ? { ...params, body } : { ...params, ...body });
const answered = (r) => (major === 7 ? r.body : r);

// refused: the call must fail with this status, and this text in its answer.
async function refused(what, status, text, call) {
  try {
    step(what, false, await call());
  } catch (e) {
    step(what, e instanceof errors.ResponseError && e.statusCode === status && JSON.stringify(e.meta.body).includes(text), e);
  }
}

function every(what, ids) {
  const sorted = [...ids].sort((a, b) => a - b);
  step(what, ids.length === count && sorted.every((id, i) => id === String(i)), [ids.length, new Set(ids).size]);
}

async function greet() {
  let r = answered(await client.info());
  step('info', r.version.number.startsWith('8.'), r);
  step('ping', answered(await client.ping()) === true);
  const sniffing = new Client({ node: url, sniffOnStart: true });
  step('the sniffed address', answered(await sniffing.ping()) === true);
  r = answered(await client.cat.nodes({ h: 'version' }));
  step('cat.nodes', typeof r === 'string' && r.startsWith('8.'), r);
  r = answered(await client.cat.nodes({ h: 'version', format: 'json' }));
  step('cat.nodes as JSON', r[0].version.startsWith('8.'), r);
}

async function make() {
  const index = asked({ index: books }, { settings: { number_of_shards: 3 }, mappings: { properties: { title: { type: 'text' }, year: { type: 'integer' } } } });
  let r = answered(await client.indices.create(index));
  step('create', r.acknowledged, r);
  await refused('create twice', 400, 'resource_already_exists_exception', () => client.indices.create(index));
  step('exists', answered(await client.indices.exists({ index: books })) === true);
}

async function write() {
  const volumes = Array.from({ length: count }, (_, i) => ({ n: i, title: 'volume ' + i, year: i % 7 }));
  let r = await client.helpers.bulk({
    datasource: volumes, flushBytes: 20000, concurrency: 3, refreshOnCompletion: books,
    onDocument: (v) => ({ index: { _index: books, _id: String(v.n) } }),
  });
  step('helpers.bulk', r.successful === count && r.failed === 0, r);
  const dropped = [];
  r = await client.helpers.bulk({
    datasource: [{ year: 'never' }], retries: 0, onDocument: () => ({ create: { _index: books, _id: 'bad' } }), onDrop: (d) => dropped.push(d),
  });
  step('helpers.bulk: one bad', r.failed === 1 && dropped[0].error.type === 'mapper_parsing_exception', [r, dropped]);
  r = await client.helpers.bulk({ datasource: [{ id: '7' }], onDocument: (d) => [{ update: { _index: books, _id: d.id } }, { doc: { title: 'new' } }] });
  step('helpers.bulk: update', r.successful === 1, r);
  r = answered(await client.get({ index: books, id: '7' }));
  step('get', r._source.title === 'new', r);
  await refused('get: absent', 404, '"found":false', () => client.get({ index: books, id: 'none' }));
  await refused('create: present', 409, 'version_conflict_engine_exception', () => client.create({ index: books, id: '7', [major === 7 ? 'body' : 'document']: {} }));
  await client.indices.refresh({ index: books });
}

async function read() {
  let ids = [];
  for await (const page of client.helpers.scrollSearch(asked({ index: books, size: 400 }, { sort: ['year'] }))) ids.push(...page.body.hits.hits.map((h) => h._id));
  every('helpers.scrollSearch', ids);
  ids = [];
  for await (const d of client.helpers.scrollDocuments(asked({ index: books, size: 400 }, { query: { match_all: {} } }))) ids.push(String(d.n));
  every('helpers.scrollDocuments', ids);
  for await (const page of client.helpers.scrollSearch(asked({ index: books, size: 10 }, {}))) {
    await page.clear();
    step('a scroll that is left', page.documents.length === 10);
  }
  let r = await client.helpers.search(asked({ index: books }, { query: { match: { title: 'new' } } }));
  step('helpers.search', r.length === 1 && r[0].title === 'new', r);
  const many = client.helpers.msearch({ operations: 3 });
  r = await Promise.all([1, 2, 3, 4].map((size) => many.search({ index: books }, { size })));
  many.stop();
  step('helpers.msearch', r.map((one) => one.documents.length).join() === '1,2,3,4', r.map((one) => one.status));
  r = answered(await client.search(asked({ index: books, rest_total_hits_as_int: true }, { size: 0, aggs: { years: { terms: { field: 'year' } } } })));
  step('search', r.hits.total === count && r.aggregations.years.buckets.length === 7, r);
}

// point pages through points in time, by keys that many documents share.
async function point() {
  for (const sort of [[{ year: 'desc' }], ['_shard_doc'], ['_score']]) {
    let { id } = answered(await client.openPointInTime({ index: books, keep_alive: '1m' }));
    const ids = [];
    for (let after = {}; ;) {
      const r = answered(await client.search(asked({}, { pit: { id, keep_alive: '1m' }, sort, size: 300, ...after })));
      if (r.hits.hits.length === 0) break;
      ids.push(...r.hits.hits.map((h) => h._id));
      id = r.pit_id;
      after = { search_after: r.hits.hits[r.hits.hits.length - 1].sort };
    }
    every('a point in time by ' + JSON.stringify(sort), ids);
    const r = answered(await client.closePointInTime(asked({}, { id })));
    step('it ends', r.succeeded && r.num_freed >= 1, r);
    await refused('it ends again', 404, '"succeeded":false', () => client.closePointInTime(asked({}, { id })));
  }
}

(async () => {
  for (const part of [greet, make, write, read, point]) await part();
  console.log('failed: ' + failed);
  process.exit(failed ? 1 : 0);
})().catch((e) => {
  console.error(e, JSON.stringify(e.meta && e.meta.body));
  process.exit(1);
});
