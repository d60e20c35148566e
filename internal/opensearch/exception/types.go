package exception

import "github.com/reshelve/reshelve/internal/fault"

// Type is the name of an exception, as clients read it.
type Type string

// The exceptions that the store tells.
const (
	ActionRequestValidation Type = "action_request_validation_exception"
	AggregationExecution    Type = "aggregation_execution_exception"
	AggregationInit         Type = "aggregation_initialization_exception"
	AliasesNotFound         Type = "aliases_not_found_exception"
	ArrayIndex              Type = "array_index_out_of_bounds_exception"
	BadParameter            Type = "bad_parameter_exception"
	Arithmetic              Type = "arithmetic_exception"
	CircuitBreaking         Type = "circuit_breaking_exception"
	ClassCast               Type = "class_cast_exception"
	ClusterBlock            Type = "cluster_block_exception"
	ContentTypeHeader       Type = "content_type_header_exception"
	DateTime                Type = "date_time_exception"
	DateTimeParse           Type = "date_time_parse_exception"
	DocumentMissing         Type = "document_missing_exception"
	IllegalArgument         Type = "illegal_argument_exception"
	IllegalState            Type = "illegal_state_exception"
	IndexClosed             Type = "index_closed_exception"
	IndexNotFound           Type = "index_not_found_exception"
	IndexTemplateMissing    Type = "index_template_missing_exception"
	InputCoercion           Type = "input_coercion_exception"
	InvalidAliasName        Type = "invalid_alias_name_exception"
	InvalidIndexName        Type = "invalid_index_name_exception"
	InvalidIndexTemplate    Type = "invalid_index_template_exception"
	InvalidTypeName         Type = "invalid_type_name_exception"
	IO                      Type = "i_o_exception"
	JSONParse               Type = "json_parse_exception"
	JSONEOF                 Type = "json_e_o_f_exception"
	Mapper                  Type = "mapper_exception"
	MapperParsing           Type = "mapper_parsing_exception"
	MediaTypeHeader         Type = "media_type_header_exception"
	NamedObjectNotFound     Type = "named_object_not_found_exception"
	NotXContent             Type = "not_x_content_exception"
	NullPointer             Type = "null_pointer_exception"
	NumberFormat            Type = "number_format_exception"
	OpenSearchParse         Type = "parse_exception"
	PatternSyntax           Type = "pattern_syntax_exception"
	Parsing                 Type = "parsing_exception"
	QueryShard              Type = "query_shard_exception"
	QueryValidation         Type = "query_validation_exception"
	Rejected                Type = "rejected_execution_exception"
	ResourceAlreadyExists   Type = "resource_already_exists_exception"
	ResourceNotFound        Type = "resource_not_found_exception"
	RoutingMissing          Type = "routing_missing_exception"
	Runtime                 Type = "runtime_exception"
	Search                  Type = "search_exception"
	SearchContextMissing    Type = "search_context_missing_exception"
	SearchPhaseExecution    Type = "search_phase_execution_exception"
	Security                Type = "security_exception"
	Settings                Type = "settings_exception"
	Status                  Type = "status_exception"
	StreamConstraints       Type = "stream_constraints_exception"
	StrictDynamicMapping    Type = "strict_dynamic_mapping_exception"
	Timeout                 Type = "timeout_exception"
	TokenManager            Type = "token_mgr_error"
	TooComplex              Type = "too_complex_to_determinize_exception"
	TooManyBuckets          Type = "too_many_buckets_exception"
	TooManyClauses          Type = "too_many_clauses"
	TooManyNestedClauses    Type = "too_many_nested_clauses"
	Translog                Type = "translog_exception"
	UnavailableShards       Type = "unavailable_shards_exception"
	Validation              Type = "validation_exception"
	VersionConflict         Type = "version_conflict_engine_exception"
	XContentParse           Type = "x_content_parse_exception"
	RepositoryMissing       Type = "repository_missing_exception"
	UnsupportedOperation    Type = "unsupported_operation_exception"
	Unknown                 Type = "exception"
)

// Row is what is known of a type.
type Row struct {
	Type  Type
	HTTP  int
	Kind  fault.Kind
	Plain bool // of Java's library: see the package's terms
}

// Types is the one table of types.
var Types = []Row{
	{ActionRequestValidation, 400, fault.Refused, true},
	{AggregationExecution, 500, fault.Refused, false},
	{AggregationInit, 500, fault.Refused, false},
	{AliasesNotFound, 404, fault.NotFound, false},
	{ArrayIndex, 500, fault.Refused, true},
	{BadParameter, 400, fault.Refused, true},
	{Arithmetic, 500, fault.Refused, true},
	{CircuitBreaking, 429, fault.Limit, false},
	{ClassCast, 500, fault.Bug, true},
	{ClusterBlock, 403, fault.Unavailable, false},
	{ContentTypeHeader, 400, fault.Refused, true},
	{DateTime, 500, fault.Refused, true},
	{DateTimeParse, 400, fault.Refused, true},
	{DocumentMissing, 404, fault.NotFound, false},
	{IllegalArgument, 400, fault.Refused, true},
	{IllegalState, 500, fault.Bug, true},
	{IndexClosed, 400, fault.Refused, false},
	{IndexNotFound, 404, fault.NotFound, false},
	{IndexTemplateMissing, 404, fault.NotFound, false},
	{InputCoercion, 400, fault.Refused, true},
	{InvalidAliasName, 400, fault.Refused, false},
	{InvalidIndexName, 400, fault.Refused, false},
	{InvalidIndexTemplate, 400, fault.Refused, false},
	{InvalidTypeName, 400, fault.Refused, false},
	{IO, 500, fault.Unavailable, true},
	{JSONParse, 400, fault.Refused, true},
	{JSONEOF, 400, fault.Refused, true},
	{Mapper, 500, fault.Bug, false},
	{MapperParsing, 400, fault.Refused, false},
	{MediaTypeHeader, 400, fault.Refused, true},
	{NamedObjectNotFound, 400, fault.Refused, true},
	{NotXContent, 400, fault.Refused, true},
	{NullPointer, 500, fault.Bug, true},
	{NumberFormat, 400, fault.Refused, true},
	{OpenSearchParse, 400, fault.Refused, false},
	{PatternSyntax, 400, fault.Refused, true},
	{Parsing, 400, fault.Refused, false},
	{QueryShard, 400, fault.Refused, false},
	{SearchContextMissing, 404, fault.NotFound, false},
	{QueryValidation, 400, fault.Refused, true},
	{Rejected, 429, fault.Limit, false},
	{ResourceAlreadyExists, 400, fault.Conflict, false},
	{ResourceNotFound, 404, fault.NotFound, false},
	{RoutingMissing, 400, fault.Refused, false},
	{Runtime, 500, fault.Refused, true},
	{Search, 500, fault.Refused, false},
	{SearchPhaseExecution, 400, fault.Refused, false},
	{Security, 403, fault.Unauthorised, false},
	{Settings, 400, fault.Refused, false},
	{Status, 400, fault.Refused, false},
	{StreamConstraints, 400, fault.Refused, true},
	{StrictDynamicMapping, 400, fault.Refused, false},
	{Timeout, 503, fault.Unavailable, false},
	{TokenManager, 500, fault.Refused, true},
	{TooComplex, 500, fault.Limit, true},
	{TooManyBuckets, 503, fault.Limit, false},
	{TooManyClauses, 500, fault.Limit, true},
	{TooManyNestedClauses, 500, fault.Limit, true},
	{Translog, 500, fault.Unavailable, false},
	{UnavailableShards, 503, fault.Unavailable, false},
	{Validation, 400, fault.Refused, true},
	{VersionConflict, 409, fault.Conflict, false},
	{XContentParse, 400, fault.Refused, true},
	{RepositoryMissing, 404, fault.NotFound, false},
	{UnsupportedOperation, 500, fault.Refused, true},
	{Unknown, 500, fault.Bug, false},
}

var rows = func() map[Type]Row {
	m := make(map[Type]Row, len(Types))
	for _, r := range Types {
		m[r.Type] = r
	}
	return m
}()

// Row is the type's row of the table; that of Unknown for a type without one.
func (t Type) Row() Row {
	if r, ok := rows[t]; ok {
		return r
	}
	return rows[Unknown]
}
