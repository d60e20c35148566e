// What a JavaScript client says to a store: the name of the client's package and the URL as
// arguments. One line for each step; the exit code is 1 when one did not do what it should.
//
// opensearch-js began as a copy of elasticsearch-js 7.10, so both take the same conversation.
const http = require('http');
const [name, url] = process.argv.slice(2);
const { Client } = require(name);
const client = new Client({ node: url, requestTimeout: 30000 });
const books = name.replace(/[^a-z]/g, '') + '-books';
const logs = name.replace(/[^a-z]/g, '') + '-logs';
let failed = 0;

function step(what, ok, got) {
  console.log(ok ? 'ok   ' + what : 'FAIL ' + what + ': ' + JSON.stringify(got));
  if (!ok) failed++;
}

// refused: the call must fail with this status, and this text in its answer.
async function refused(what, status, text, call) {
  try {
    step(what, false, (await call()).body);
  } catch (e) {
    step(what, e.meta && e.meta.statusCode === status && JSON.stringify(e.meta.body).includes(text), e);
  }
}

// raw are the bytes of an answer, as no client shows them.
function raw(path) {
  return new Promise((resolve, reject) => {
    http.get(url + path, (answer) => {
      const parts = [];
      answer.on('data', (part) => parts.push(part)).on('end', () => resolve(Buffer.concat(parts).toString()));
    }).on('error', reject);
  });
}

async function greet() {
  let r = await client.info();
  step('info', r.body.version.number === '2.19.0' && r.body.version.distribution === 'opensearch', r.body);
  r = await client.ping();
  step('ping', r.body === true, r.body);
  const sniffing = new Client({ node: url, sniffOnStart: true });
  r = await sniffing.ping();
  step('the sniffed address', r.body === true, r.body);
}

async function make() {
  let r = await client.indices.exists({ index: books });
  step('exists: no', r.body === false, r.body);
  r = await client.indices.create({
    index: books,
    body: {
      settings: { number_of_shards: 2, number_of_replicas: 0 },
      mappings: { properties: { title: { type: 'keyword' }, year: { type: 'integer' }, kept: { type: 'object', enabled: false } } },
    },
  });
  step('create', r.body.acknowledged && r.body.index === books, r.body);
  await refused('create twice', 400, 'resource_already_exists_exception', () => client.indices.create({ index: books }));
  r = await client.indices.putMapping({ index: books, body: { properties: { author: { type: 'keyword' } } } });
  step('putMapping', r.body.acknowledged, r.body);
  r = await client.indices.getMapping({ index: books });
  step('getMapping', r.body[books].mappings.properties.author.type === 'keyword', r.body);
}

async function write() {
  let r = await client.index({ index: books, id: '1', body: { title: 'Emma', year: 1815 } });
  step('index', r.statusCode === 201 && r.body.result === 'created' && r.body._seq_no === 0, r.body);
  r = await client.get({ index: books, id: '1' });
  step('get, before any refresh', r.body.found && r.body._source.title === 'Emma', r.body);
  r = await client.exists({ index: books, id: 'none' });
  step('exists: no', r.body === false, r.body);
  await refused('get: absent', 404, '"found":false', () => client.get({ index: books, id: 'none' }));
  await refused('create: present', 409, 'version_conflict_engine_exception', () => client.create({ index: books, id: '1', body: {} }));
  r = await client.update({ index: books, id: '1', body: { doc: { year: 1816 } } });
  step('update', r.body.result === 'updated' && r.body._version === 2, r.body);
  r = await client.update({ index: books, id: '2', body: { doc: { year: 1 }, doc_as_upsert: true } });
  step('update: upsert', r.body.result === 'created', r.body);
  r = await client.delete({ index: books, id: '2' });
  step('delete', r.body.result === 'deleted', r.body);
  r = await client.index({ index: books, id: 'a/b ?ü', routing: 'r/ö', body: { year: 1 } });
  r = await client.get({ index: books, id: 'a/b ?ü', routing: 'r/ö' });
  step('an id and a routing to escape', r.body._id === 'a/b ?ü' && r.body._routing === 'r/ö', r.body);
  await client.delete({ index: books, id: 'a/b ?ü', routing: 'r/ö' });
}

async function writeMany() {
  const volumes = Array.from({ length: 500 }, (_, i) => ({ title: 'volume ' + i, year: i }));
  let r = await client.helpers.bulk({
    datasource: volumes, flushBytes: 5000, refreshOnCompletion: true,
    onDocument: (v) => ({ index: { _index: books, _id: 'v' + v.year } }),
  });
  step('helpers.bulk', r.successful === 500 && r.failed === 0, r);
  const dropped = [];
  r = await client.helpers.bulk({
    datasource: [{ year: 1 }, { year: 'never' }], retries: 0,
    onDocument: (v) => ({ create: { _index: books, _id: 'c' + v.year } }), onDrop: (d) => dropped.push(d),
  });
  step('helpers.bulk: one bad', r.successful === 1 && dropped.length === 1 && dropped[0].error.type === 'mapper_parsing_exception', [r, dropped]);
  r = await client.bulk({ body: [{ delete: { _index: books, _id: 'c1' } }, { update: { _index: books, _id: 'v7' } }, { doc: { title: 'new' } }] });
  step('bulk', !r.body.errors && r.body.items.map((i) => Object.keys(i)[0]).join() === 'delete,update', r.body);
  r = await client.mget({ index: books, body: { ids: ['v7', 'none'] } });
  step('mget', r.body.docs[0]._source.title === 'new' && r.body.docs[1].found === false, r.body);
}

async function find() {
  await client.indices.refresh({ index: books });
  let r = await client.count({ index: books });
  step('count', r.body.count === 501, r.body);
  r = await client.search({ index: books, body: { query: { ids: { values: ['v3', 'none'] } } } });
  step('search: ids', r.body.hits.hits.map((h) => h._id).join() === 'v3', r.body);
  const seen = new Set();
  let body = { query: { match_all: {} }, size: 200, sort: ['_doc'] };
  for (;;) {
    const page = (await client.search({ index: books, body })).body.hits.hits;
    if (page.length === 0) break;
    page.forEach((h) => seen.add(h._id));
    body = { ...body, search_after: page[page.length - 1].sort };
  }
  step('search: every page', seen.size === 501, seen.size);
}

// keepBytes: what was sent comes back, byte for byte.
async function keepBytes() {
  const source = '\t{ "kept" : {"n":1.10, "N":1E3,"big":123456789012345678901234567890 },\r\n "year":0.0e0 , "title":"\\u00fc ü \\/" }  ';
  await client.index({ index: books, id: 'raw', body: source });
  let got = await raw(`/${books}/_source/raw`);
  step('bytes: index', got === source, got);
  const line = '{"kept":{"n":1.10 , "N":1E3} }';
  let r = await client.bulk({ index: books, body: `{"index":{"_id":"raw"}}\n${line}\n` });
  step('bytes: bulk', !r.body.errors && (await raw(`/${books}/_source/raw`)) === line, r.body);
  const document = { kept: { text: 'ü \u{1f4da} \u2028 \u0001 "\\', n: [1.5, -0.25, 1e300, true, null, {}, []] } };
  await client.helpers.bulk({ datasource: [document], onDocument: () => ({ index: { _index: books, _id: 'raw' } }) });
  got = await raw(`/${books}/_source/raw`);
  step('bytes: helpers.bulk', got === JSON.stringify(document), got);
  r = await client.get({ index: books, id: 'raw' });
  step('bytes: as the client reads them', JSON.stringify(r.body._source) === JSON.stringify(document), r.body);
  await client.delete({ index: books, id: 'raw' });
}

async function rename() {
  const alias = books + '-new';
  let r = await client.indices.putAlias({ index: books, name: books + '-old' });
  step('putAlias', r.body.acknowledged, r.body);
  r = await client.indices.updateAliases({ body: { actions: [{ remove: { index: books, alias: books + '-old' } }, { add: { index: books, alias } }] } });
  step('updateAliases', r.body.acknowledged, r.body);
  r = await client.indices.getAlias({ name: books + '-*' });
  step('getAlias', JSON.stringify(r.body) === JSON.stringify({ [books]: { aliases: { [alias]: {} } } }), r.body);
  r = await client.get({ index: alias, id: '1' });
  step('get: by alias', r.body._index === books, r.body);
}

async function template() {
  let r = await client.indices.putTemplate({ name: books, body: { index_patterns: [books + '-z*'], settings: { number_of_shards: 3 } } });
  step('putTemplate', r.body.acknowledged, r.body);
  r = await client.indices.getTemplate({ name: books });
  step('getTemplate', r.body[books].settings.index.number_of_shards === '3', r.body);
  r = await client.indices.deleteTemplate({ name: books });
  step('deleteTemplate', r.body.acknowledged, r.body);
  await client.cluster.putComponentTemplate({ name: logs, body: { template: { settings: { number_of_replicas: 0 } } } });
  r = await client.indices.putIndexTemplate({ name: logs, body: { index_patterns: [logs + '*'], composed_of: [logs], data_stream: {}, priority: 500 } });
  step('putIndexTemplate', r.body.acknowledged, r.body);
  r = await client.indices.createDataStream({ name: logs });
  step('createDataStream', r.body.acknowledged, r.body);
  r = await client.index({ index: logs, op_type: 'create', body: { '@timestamp': '2026-11-21T00:00:00Z' } });
  step('append to it', r.body._index === `.ds-${logs}-000001`, r.body);
  r = await client.helpers.bulk({ datasource: [{ '@timestamp': 1 }, { '@timestamp': 2 }], onDocument: () => ({ create: { _index: logs } }) });
  step('append many', r.successful === 2, r);
  r = await client.indices.rollover({ alias: logs });
  step('rollover', r.body.rolled_over && r.body.new_index === `.ds-${logs}-000002`, r.body);
  r = await client.indices.getDataStream({ name: logs });
  step('getDataStream', r.body.data_streams[0].indices.length === 2, r.body);
  r = await client.indices.deleteDataStream({ name: logs });
  step('deleteDataStream', r.body.acknowledged, r.body);
  await client.indices.deleteIndexTemplate({ name: logs });
  await client.cluster.deleteComponentTemplate({ name: logs });
  r = await client.indices.existsIndexTemplate({ name: logs });
  step('existsIndexTemplate: no', r.body === false, r.body);
}

async function watch() {
  let r = await client.cluster.health({ index: books, wait_for_status: 'green' });
  step('health', r.body.status === 'green' && r.body.active_shards === 2, r.body);
  r = await client.cat.indices({ index: books, format: 'json' });
  step('cat.indices', r.body.length === 1 && r.body[0]['docs.count'] === '501', r.body);
  for (const page of ['aliases', 'count', 'health', 'nodes', 'shards', 'templates', 'help']) {
    r = await client.cat[page]();
    step('cat.' + page, typeof r.body === 'string', r.body);
  }
  r = await client.nodes.info();
  step('nodes.info', Object.keys(r.body.nodes).length === 1, r.body);
  r = await client.indices.stats({ index: books });
  step('stats', r.body._all.primaries.docs.count === 501, r.body);
  r = await client.indices.delete({ index: books });
  step('delete', r.body.acknowledged, r.body);
}

(async () => {
  for (const part of [greet, make, write, writeMany, find, keepBytes, rename, template, watch]) await part();
  console.log('failed: ' + failed);
  process.exit(failed ? 1 : 0);
})().catch((e) => {
  console.error(e, JSON.stringify(e.meta && e.meta.body));
  process.exit(1);
});
