"""What a Python client of Elasticsearch 7.17, 8 or 9 does with its helpers: the URL of a store that lets it
in as the argument. One line for each step; the exit code is 1 when one did not do what it should.
"""
import sys
import warnings

import elasticsearch
from elasticsearch import helpers

warnings.simplefilter("error", getattr(elasticsearch, "ElasticsearchWarning", UserWarning))
url, major = sys.argv[1], elasticsearch.__version__[0]
client = elasticsearch.Elasticsearch(url, **({"timeout": 30} if major == 7 else {"request_timeout": 30}))
books, copied, count = "python-%d" % major, "python-%d-copied" % major, 2500
failed = 0


def step(what, ok, got=None):
    global failed
    print("ok   " + what if ok else "FAIL %s: %s" % (what, got))
    failed += not ok


def refused(what, error, text, call):
    """The call must fail with this exception of the client, and this text."""
    try:
        step(what, False, call())
    except error as e:
        step(what, text in str(getattr(e, "info", "")) + str(getattr(e, "body", "")), e)


def answer(r):
    """The client of 8 and 9 wraps answers."""
    return getattr(r, "body", r)


def asked(body):
    """Members of a body: some methods of 7 take a body alone."""
    return {"body": body} if major == 7 else body


def greet():
    info = client.info()
    step("info", info["version"]["number"].startswith("8."), info)
    step("ping", client.ping())
    step("the sniffed address", type(client)(url, sniff_on_start=True).ping())
    r = answer(client.cat.nodes(h="version"))
    step("cat.nodes", r.strip() == info["version"]["number"], r)
    r = answer(client.cat.nodes(h="version", format="json"))
    step("cat.nodes as JSON", r == [{"version": info["version"]["number"]}], r)


def make():
    step("exists: no", not client.indices.exists(index=books))
    r = client.indices.create(index=books, settings={"number_of_shards": 3}, mappings={"properties": {
        "title": {"type": "text"}, "year": {"type": "integer"}}})
    step("create", r["acknowledged"], r)
    step("exists: yes", client.indices.exists(index=books))
    bad = elasticsearch.RequestError if major == 7 else elasticsearch.BadRequestError
    refused("create twice", bad, "resource_already_exists_exception", lambda: client.indices.create(index=books))
    if major > 7:
        refused("knn is refused by its name", bad, "knn", lambda: client.search(index=books, knn={"field": "v", "query_vector": [1], "k": 1, "num_candidates": 2}))


def write():
    def actions(first, n, **more):
        return ({"_index": books, "_id": str(i), "_source": {"title": "volume %d" % i, "year": i % 7}, **more} for i in range(first, first + n))

    n, errors = helpers.bulk(client, actions(0, 1000), refresh=True)
    step("bulk", n == 1000 and not errors, (n, errors))
    done = list(helpers.streaming_bulk(client, actions(1000, 1000, _op_type="create"), chunk_size=300))
    step("streaming_bulk", len(done) == 1000 and all(ok for ok, _ in done))
    done = list(helpers.parallel_bulk(client, actions(2000, 500), chunk_size=70, thread_count=2))
    step("parallel_bulk", len(done) == 500 and all(ok for ok, _ in done))
    try:
        step("bulk: one bad", False, helpers.bulk(client, [{"_index": books, "_id": "bad", "year": "never"}]))
    except helpers.BulkIndexError as e:
        step("bulk: one bad", e.errors[0]["index"]["error"]["type"] == "mapper_parsing_exception", e.errors)
    n, errors = helpers.bulk(client, [{"_op_type": "update", "_index": books, "_id": "7", "doc": {"title": "new"}}, {"_op_type": "delete", "_index": books, "_id": "8"},
                                      {"_index": books, "_id": "8", "title": "volume 8", "year": 1}])
    step("bulk: update and delete", n == 3 and not errors, (n, errors))
    r = client.get(index=books, id="7")
    step("get", r["_source"] == {"title": "new", "year": 0}, r)
    step("exists", client.exists(index=books, id="7") and not client.exists(index=books, id="none"))
    r = client.mget(index=books, **asked({"ids": ["7", "none"]}))
    step("mget", [d["found"] for d in r["docs"]] == [True, False], r)
    refused("get: absent", elasticsearch.NotFoundError, "'found': False", lambda: client.get(index=books, id="none"))
    refused("create: present", elasticsearch.ConflictError, "version_conflict_engine_exception",
            lambda: client.create(index=books, id="1", document={}))
    r = client.index(index=books, id="more", document={"year": 1}, refresh="wait_for")
    step("index and delete", r["result"] == "created" and client.delete(index=books, id="more")["result"] == "deleted", r)
    client.indices.refresh(index=books)


def every(what, ids):
    """All documents, each once."""
    ids = list(ids)
    step(what, len(ids) == count and sorted(ids, key=int) == [str(i) for i in range(count)], (len(ids), len(set(ids))))


def read():
    step("count", client.count(index=books)["count"] == count)
    every("scan", (h["_id"] for h in helpers.scan(client, index=books, size=400)))
    every("scan in order", (h["_id"] for h in helpers.scan(client, index=books, size=400, preserve_order=True, query={"sort": ["year"], "query": {"match_all": {}}})))
    n = sum(1 for _ in helpers.scan(client, index=books, query={"query": {"term": {"year": 3}}}))
    step("scan of a query", n == sum(i % 7 == 3 for i in range(count)), n)
    n, errors = helpers.reindex(client, books, copied, chunk_size=400)
    client.indices.refresh(index=copied)
    step("reindex", n == count and not errors and client.count(index=copied)["count"] == count, (n, errors))
    r = client.search(index=books, query={"match": {"title": "new"}}, aggs={"years": {"terms": {"field": "year"}}}, rest_total_hits_as_int=True, typed_keys=True)
    step("search", r["hits"]["total"] == 1 and r["hits"]["hits"][0]["_id"] == "7" and "lterms#years" in r["aggregations"], r)
    r = client.msearch(index=books, **{"body" if major == 7 else "searches": [{}, {"size": 1}, {"index": copied}, {"size": 2}]})
    step("msearch", [len(one["hits"]["hits"]) for one in r["responses"]] == [1, 2], r)
    r = client.delete_by_query(index=copied, refresh=True, **asked({"query": {"term": {"year": 3}}}))
    step("delete_by_query", r["deleted"] == sum(i % 7 == 3 for i in range(count)), r)


def point():
    """Pages through a point in time, by keys that many documents share."""
    for order in ([{"year": "desc"}], ["_shard_doc"], ["_score"]):
        pit, ids, after = client.open_point_in_time(index=books, keep_alive="1m")["id"], [], {}
        client.index(index=books, id="later", document={"year": 1}, refresh=True)
        while True:
            r = client.search(pit={"id": pit, "keep_alive": "1m"}, sort=order, size=300, **after)
            if not r["hits"]["hits"]:
                break
            ids += [h["_id"] for h in r["hits"]["hits"]]
            pit, after = r["pit_id"], {"search_after": r["hits"]["hits"][-1]["sort"]}
        every("a point in time by %s" % order, ids)
        closing = asked({"id": pit})
        r = client.close_point_in_time(**closing)
        step("it ends", r["succeeded"] and r["num_freed"] >= 1, r)
        refused("it ends again", elasticsearch.NotFoundError, "'succeeded': False", lambda: client.close_point_in_time(**closing))
        refused("it is gone", elasticsearch.NotFoundError, "search_context_missing_exception", lambda: client.search(pit={"id": pit}))
        client.delete(index=books, id="later", refresh=True)


def language():
    """The query language that 8 and 9 bring along."""
    from elasticsearch.dsl import Search
    s = Search(using=client, index=books)
    every("dsl: iterate", (h.meta.id for h in s.extra(size=300).sort("year").iterate()))
    every("dsl: iterate in no order", (h.meta.id for h in s.extra(size=300).iterate()))
    every("dsl: scan", (h.meta.id for h in s.scan()))


for part in (greet, make, write, read, point) + ((language,) if major > 7 else ()):
    part()
print("failed: %d" % failed)
sys.exit(failed > 0)
