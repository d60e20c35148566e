"""What a Python client says to a store: the name of the client's module and the URL as
arguments. One line for each step; the exit code is 1 when one did not do what it should.

opensearch-py began as a copy of elasticsearch-py 7.10, so both take the same conversation.
"""
import importlib
import json
import sys
import urllib.request

name, url = sys.argv[1:]
module = importlib.import_module(name)
helpers, exceptions = importlib.import_module(name + ".helpers"), importlib.import_module(name + ".exceptions")
client = getattr(module, {"opensearchpy": "OpenSearch", "elasticsearch": "Elasticsearch"}[name])([url], timeout=30)
books, logs = name + "-books", name + "-logs"
failed = 0


def step(what, ok, got=None):
    global failed
    print("ok   " + what if ok else "FAIL %s: %s" % (what, got))
    failed += not ok


def refused(what, error, kind, call):
    """The call must fail with this exception of the client, and this type of error."""
    try:
        step(what, False, call())
    except error as e:
        step(what, kind in str(e.error) + str(e.info), (e.error, e.info))


def raw(path):
    """The bytes of an answer, as no client shows them."""
    with urllib.request.urlopen(url + path) as answer:
        return answer.read()


def greet():
    info = client.info()
    step("info", info["version"]["number"] == "2.19.0" and info["version"]["distribution"] == "opensearch", info)
    step("ping", client.ping())
    sniffing = type(client)([url], sniff_on_start=True)
    step("the sniffed address", sniffing.ping())


def make():
    step("exists: no", not client.indices.exists(index=books))
    r = client.indices.create(index=books, body={
        "settings": {"number_of_shards": 2, "number_of_replicas": 0},
        "mappings": {"properties": {"title": {"type": "text", "fields": {"raw": {"type": "keyword"}}}, "year": {"type": "integer"},
                                    "kept": {"type": "object", "enabled": False}}},
        "aliases": {books + "-first": {}}})
    step("create", r["acknowledged"] and r["index"] == books, r)
    step("exists: yes", client.indices.exists(index=books))
    refused("create twice", exceptions.RequestError, "resource_already_exists_exception", lambda: client.indices.create(index=books))
    r = client.indices.put_mapping(index=books, body={"properties": {"author": {"type": "keyword"}}})
    step("put_mapping", r["acknowledged"], r)
    r = client.indices.get_mapping(index=books)[books]["mappings"]["properties"]
    step("get_mapping", r["author"] == {"type": "keyword"} and r["year"] == {"type": "integer"}, r)
    client.indices.put_settings(index=books, body={"index": {"refresh_interval": "300ms"}})
    r = client.indices.get_settings(index=books, name="index.refresh_interval")
    step("settings", r[books]["settings"]["index"]["refresh_interval"] == "300ms", r)


def write():
    emma = {"title": "Emma", "year": 1815}
    r = client.index(index=books, id="1", body=emma)
    step("index", (r["result"], r["_version"], r["_seq_no"]) == ("created", 1, 0), r)
    r = client.get(index=books, id="1")
    step("get, before any refresh", r["found"] and r["_source"] == emma, r)
    step("get_source", client.get_source(index=books, id="1") == emma)
    step("exists", client.exists(index=books, id="1") and not client.exists(index=books, id="none"))
    refused("get: absent", exceptions.NotFoundError, "'found': False", lambda: client.get(index=books, id="none"))
    refused("create: present", exceptions.ConflictError, "version_conflict_engine_exception",
            lambda: client.create(index=books, id="1", body={}))
    refused("index: stale", exceptions.ConflictError, "version_conflict_engine_exception",
            lambda: client.index(index=books, id="1", body={}, if_seq_no=7, if_primary_term=1))
    r = client.update(index=books, id="1", body={"doc": {"year": 1816}})
    step("update", (r["result"], r["_version"]) == ("updated", 2), r)
    r = client.update(index=books, id="1", body={"doc": {"year": 1816}})
    step("update: noop", r["result"] == "noop", r)
    r = client.update(index=books, id="2", body={"doc": {"year": 1}, "doc_as_upsert": True})
    step("update: upsert", r["result"] == "created", r)
    r = client.delete(index=books, id="2")
    step("delete", r["result"] == "deleted", r)
    refused("delete: absent", exceptions.NotFoundError, "not_found", lambda: client.delete(index=books, id="2"))
    r = client.index(index=books, id="a/b ?ü", body={"year": 1}, routing="r/ö")
    r = client.get(index=books, id="a/b ?ü", routing="r/ö")
    step("an id and a routing to escape", r["_id"] == "a/b ?ü" and r["_routing"] == "r/ö", r)
    client.delete(index=books, id="a/b ?ü", routing="r/ö")


def write_many():
    volumes = [{"title": "volume %d" % i, "year": i} for i in range(1000)]
    n, errors = helpers.bulk(client, ({"_index": books, "_id": str(v["year"]), "_source": v} for v in volumes), refresh=True)
    step("helpers.bulk", n == 1000 and not errors, (n, errors))
    done = list(helpers.streaming_bulk(client, ({"_op_type": "create", "_index": books, "_id": "s%d" % i, "year": i} for i in range(50)), refresh="wait_for"))
    step("helpers.streaming_bulk", len(done) == 50 and all(ok for ok, _ in done))
    done = list(helpers.parallel_bulk(client, ({"_index": books, "_id": "p%d" % i, "year": i} for i in range(50)), chunk_size=7))
    step("helpers.parallel_bulk", len(done) == 50 and all(ok for ok, _ in done))
    try:
        step("helpers.bulk: one bad", False, helpers.bulk(client, [{"_index": books, "_id": "good", "year": 1}, {"_index": books, "_id": "bad", "year": "never"}]))
    except helpers.BulkIndexError as e:
        step("helpers.bulk: one bad", len(e.errors) == 1 and e.errors[0]["index"]["error"]["type"] == "mapper_parsing_exception", e.errors)
    step("helpers.bulk: the good beside it", client.exists(index=books, id="good") and not client.exists(index=books, id="bad"))
    helpers.bulk(client, [{"_op_type": "delete", "_index": books, "_id": "good"}, {"_op_type": "update", "_index": books, "_id": "7", "doc": {"title": "new"}}])
    r = client.mget(index=books, body={"ids": ["7", "none", "s3"]})
    step("mget", [d["found"] for d in r["docs"]] == [True, False, True] and r["docs"][0]["_source"]["title"] == "new", r)


def find():
    client.indices.refresh(index=books)
    r = client.count(index=books)
    step("count", r["count"] == 1100, r)
    r = client.search(index=books, body={"query": {"ids": {"values": ["3", "none"]}}})
    step("search: ids", [h["_id"] for h in r["hits"]["hits"]] == ["3"], r)
    seen, after = [], {}
    while True:
        page = client.search(index=books, body={"query": {"match_all": {}}, "size": 300, "sort": ["_id"], **after})["hits"]["hits"]
        if not page:
            break
        seen += [h["_id"] for h in page]
        after = {"search_after": page[-1]["sort"]}
    step("search: every page", len(seen) == 1100 and seen == sorted(set(seen)), len(seen))


def keep_bytes():
    """What was sent comes back, byte for byte."""
    source = '\t{ "kept" : {"n":1.10, "N":1E3,"big":123456789012345678901234567890},\r\n "year":0.0e0 , "title":"\\u00fc ü \\/" }  '.encode()
    client.index(index=books, id="raw", body=source)
    got = raw("/%s/_source/raw" % books)
    step("bytes: index", got == source, got)
    line = '{"kept":{"n":1.10 , "N":1E3} }'
    r = client.bulk(index=books, body='{"index":{"_id":"raw"}}\n%s\n' % line)
    step("bytes: bulk", not r["errors"] and raw("/%s/_source/raw" % books) == line.encode(), r)
    document = {"kept": {"text": "ü \U0001f4da \u2028 \x01 \"\\", "n": [1.5, -0.0, 1e300, 2**70, True, None, {}, []]}}
    helpers.bulk(client, [{"_index": books, "_id": "raw", "_source": document}])
    got, sent = raw("/%s/_source/raw" % books), client.transport.serializer.dumps(document).encode()
    step("bytes: helpers.bulk", got == sent, (got, sent))
    step("bytes: as the client reads them", client.get_source(index=books, id="raw") == document)
    got = raw("/%s/_doc/raw" % books)
    step("bytes: get", got.endswith(b'"_source":' + sent + b"}"), got)
    client.delete(index=books, id="raw")


def rename():
    old, new = books + "-old", books + "-new"
    r = client.indices.put_alias(index=books, name=old, body={"routing": "1"})
    step("put_alias", r["acknowledged"] and client.indices.exists_alias(name=old), r)
    r = client.indices.get_alias(name=books + "-*")
    step("get_alias", r[books]["aliases"] == {books + "-first": {}, old: {"index_routing": "1", "search_routing": "1"}}, r)
    r = client.indices.update_aliases(body={"actions": [{"remove": {"index": books, "alias": old}}, {"add": {"index": books, "alias": new, "is_write_index": True}}]})
    step("update_aliases", r["acknowledged"] and not client.indices.exists_alias(name=old), r)
    r = client.index(index=new, id="by-alias", body={"year": 1}, **({"require_alias": True} if name == "opensearchpy" else {}))
    step("index: by alias", r["_index"] == books and client.delete(index=new, id="by-alias")["result"] == "deleted", r)
    r = client.indices.delete_alias(index=books, name=new)
    step("delete_alias", r["acknowledged"], r)


def template():
    old, component, composed, z = name + "-old", name + "-settings", name + "-logs", name + "-z1"
    r = client.indices.put_template(name=old, body={"index_patterns": [name + "-z*"], "settings": {"number_of_shards": 3}})
    step("put_template", r["acknowledged"] and client.indices.exists_template(name=old), r)
    client.index(index=z, body={"a": 1})
    r = client.indices.get_settings(index=z)
    step("an index by a template", r[z]["settings"]["index"]["number_of_shards"] == "3", r)
    r = client.indices.get_template(name=old)
    step("get_template", r[old]["settings"]["index"]["number_of_shards"] == "3", r)
    step("delete_template", client.indices.delete_template(name=old)["acknowledged"] and client.indices.delete(index=z)["acknowledged"])
    r = client.cluster.put_component_template(name=component, body={"template": {"settings": {"number_of_replicas": 0}}})
    step("put_component_template", r["acknowledged"], r)
    r = client.indices.put_index_template(name=composed, body={"index_patterns": [logs + "*"], "composed_of": [component], "data_stream": {}, "priority": 500})
    step("put_index_template", r["acknowledged"], r)
    r = client.indices.get_index_template(name=composed)
    step("get_index_template", r["index_templates"][0]["index_template"]["composed_of"] == [component], r)
    r = client.indices.simulate_index_template(name=logs)
    step("simulate_index_template", r["template"]["settings"]["index"]["number_of_replicas"] == "0", r)
    stream()
    step("delete_index_template", client.indices.delete_index_template(name=composed)["acknowledged"])
    step("delete_component_template", client.cluster.delete_component_template(name=component)["acknowledged"])


def stream():
    r = client.indices.create_data_stream(name=logs)
    step("create_data_stream", r["acknowledged"], r)
    r = client.index(index=logs, body={"@timestamp": "2026-11-21T00:00:00Z"}, op_type="create")
    step("append to it", r["result"] == "created" and r["_index"] == ".ds-%s-000001" % logs, r)
    n, errors = helpers.bulk(client, ({"_op_type": "create", "_index": logs, "@timestamp": i} for i in range(10)), refresh=True)
    step("append many", n == 10 and not errors and client.count(index=logs)["count"] == 11, errors)
    r = client.indices.rollover(alias=logs)
    step("rollover", r["rolled_over"] and r["new_index"] == ".ds-%s-000002" % logs, r)
    r = client.indices.get_data_stream(name=logs)
    step("get_data_stream", len(r["data_streams"][0]["indices"]) == 2 and r["data_streams"][0]["generation"] == 2, r)
    r = client.indices.data_streams_stats(name=logs)
    step("data_streams_stats", r["backing_indices"] == 2, r)
    step("delete_data_stream", client.indices.delete_data_stream(name=logs)["acknowledged"])


def watch():
    for what in ("flush", "forcemerge", "clear_cache"):
        r = getattr(client.indices, what)(index=books)
        step(what, r["_shards"]["failed"] == 0, r)
    step("close and open", client.indices.close(index=books)["acknowledged"] and client.indices.open(index=books)["acknowledged"])
    r = client.cluster.health(index=books, wait_for_status="green")
    step("health", r["status"] == "green" and r["active_shards"] == 2 and not r["timed_out"], r)
    r = client.indices.stats(index=books)
    step("stats", r["_all"]["primaries"]["docs"]["count"] == 1100, r["_all"])
    r = client.cat.indices(index=books, format="json")
    step("cat.indices", (r[0]["health"], r[0]["docs.count"]) == ("green", "1100"), r)
    for page in ("aliases", "count", "health", "nodes", "shards", "templates", "master", "help", "plugins"):
        r = getattr(client.cat, page)()
        step("cat." + page, isinstance(r, str), r)
    r = client.cluster.state(metric="metadata", index=books)
    step("cluster.state", list(r["metadata"]["indices"]) == [books], r)
    step("cluster.stats", client.cluster.stats()["indices"]["count"] >= 1)
    step("cluster.get_settings", "persistent" in client.cluster.get_settings(include_defaults=True))
    step("nodes.info", all(":" in n["http"]["publish_address"] for n in client.nodes.info(metric="http")["nodes"].values()))
    step("nodes.stats", client.nodes.stats()["_nodes"]["total"] == 1)
    step("search_shards", len(client.search_shards(index=books)["shards"]) == 2)
    r = client.indices.resolve_index(name=books + "*")
    step("resolve_index", [i["name"] for i in r["indices"]] == [books], r)
    step("delete", client.indices.delete(index=books)["acknowledged"] and not client.indices.exists(index=books))


for part in (greet, make, write, write_many, find, keep_bytes, rename, template, watch):
    part()
print("failed: %d" % failed)
sys.exit(failed > 0)
