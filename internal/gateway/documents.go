package gateway

// documentRoutes are the endpoints of documents.
var documentRoutes = []route{
	{"GET HEAD", "/{index}/_doc/{id}", readParams, (*call).getDocument},
	{"GET HEAD", "/{index}/_source/{id}", sourceReadParams, (*call).getSource},
	{"PUT POST", "/{index}/_doc/{id}", writeParams + guardParams + "op_type pipeline require_alias", (*call).indexDocument},
	{"POST", "/{index}/_doc", writeParams + guardParams + "op_type pipeline require_alias", (*call).addDocument},
	{"PUT POST", "/{index}/_create/{id}", writeParams + guardParams + "pipeline require_alias", (*call).createDocument},
	{"DELETE", "/{index}/_doc/{id}", writeParams + guardParams, (*call).deleteDocument},
	{"POST", "/{index}/_update/{id}", writeParams + guardParams + sourceParams + "doc_as_upsert retry_on_conflict require_alias", (*call).updateDocument},
	{"GET POST", "/_mget", mgetParams, (*call).multiGet},
	{"GET POST", "/{index}/_mget", mgetParams, (*call).multiGet},
	{"POST PUT", "/_bulk", bulkParams, (*call).bulk},
	{"POST PUT", "/{index}/_bulk", bulkParams, (*call).bulk},
}
