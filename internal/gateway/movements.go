package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/reshelve/reshelve/internal/control"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// The paths of movements beside the API of documents.
const (
	movementsPath = "/_reshelve/movements"
	placementPath = "/_reshelve/placement"
	openAPIPath   = "/_reshelve/openapi"
	metricsPath   = "/_reshelve/metrics"
	indicesPath   = "/_reshelve/indices"
)

// OfferMovements adds the movements to a server: orders, where the service takes them, their state, their
// numbers as metrics, and a description by OpenAPI: at and below /_reshelve/movements,
// /_reshelve/metrics and /_reshelve/openapi.json.
//
// There is no authentication, and pages of other origins are refused before (package door): a
// server that takes orders must listen on loopback only.
func OfferMovements(server *http.Server, d *control.MovementService) {
	mux := http.NewServeMux()
	newMovements(mux, d)
	mux.Handle("GET "+metricsPath, metricsHandler(d))
	mux.HandleFunc("/_reshelve/", func(w http.ResponseWriter, r *http.Request) {
		tellProblem(w, fault.WithNext(fault.New(fault.NotFound, "nothing is at %s %s", r.Method, r.URL.Path), "GET %s.json describes what there is", openAPIPath))
	})
	patient := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { mux.ServeHTTP(noDeadlines{w}, r) })
	for _, root := range []string{movementsPath, placementPath, indicesPath, metricsPath, openAPIPath + ".json"} {
		Offer(server, root, brief{patient})
	}
}

// noDeadlines is a writer of answers that hides how deadlines are set: the server has its own for
// reading. The framework would set one of 5 s, which, where there is no body to be read, ends the
// connection's context: the order is cut off, and so is every later request on that connection.
type noDeadlines struct{ http.ResponseWriter }

// brief is a handler whose requests do not last.
type brief struct{ http.Handler }

func (brief) End() {}

// steering are the operations on movements.
type steering struct{ service *control.MovementService }

var ownProblems sync.Once

// newMovements adds the operations to mux, and gives their description.
func newMovements(mux *http.ServeMux, d *control.MovementService) *huma.OpenAPI {
	ownProblems.Do(func() {
		huma.NewError = newProblem
		huma.ValidateStrictCasing = true // one key has one spelling, so that none comes twice
	})
	config := huma.DefaultConfig("Reshelve: movements", "1")
	config.Info.Description = "Movements are changes of the shape of an index: the move of a snapshot's documents into the store that is served, and the splitting and merging of its shards. " +
		"Errors are problem details (RFC 9457) with kind and next. " +
		"A request of the data API may quote, in the header " + outdated + ", the version of the placement by which it is routed (GET " + placementPath + "/{index} tells the newest): " +
		"it is answered right whatever was split or merged since. Clients need not send it, and no answer carries it."
	config.OpenAPIPath, config.DocsPath, config.SchemasPath, config.CreateHooks = openAPIPath, "", "", nil
	config.Formats = map[string]huma.Format{"application/json": onceEach, "json": onceEach}
	config.Components.Schemas = huma.NewMapRegistry("#/components/schemas/", schemaName)
	api := humago.New(mux, config)
	s := steering{d}
	huma.Register(api, huma.Operation{OperationID: "listMovements", Method: http.MethodGet, Path: movementsPath,
		Summary: "All movements, by ID, without their progress", Errors: []int{500, 503}}, s.list)
	huma.Register(api, huma.Operation{OperationID: "getMovement", Method: http.MethodGet, Path: movementsPath + "/{id}",
		Summary: "One movement, with its progress", Errors: []int{404, 500, 503}}, s.get)
	if !d.TakesOrders() {
		return api.OpenAPI()
	}
	huma.Register(api, huma.Operation{OperationID: "beginMovement", Method: http.MethodPost, Path: movementsPath, DefaultStatus: http.StatusAccepted,
		Summary: "Plan a movement into this store, and start it; its Location shows how far it is", Errors: []int{400, 404, 409, 500, 503}}, s.begin)
	huma.Register(api, huma.Operation{OperationID: "previewMovement", Method: http.MethodPost, Path: movementsPath + "/preview",
		Summary: "Plan a split or a merge, and start nothing", Errors: []int{400, 404, 409, 500, 503}}, s.preview)
	huma.Register(api, huma.Operation{OperationID: "getPlacement", Method: http.MethodGet, Path: placementPath + "/{index}",
		Summary: "The shards of an index: who owns which order keys", Errors: []int{404, 500, 503}}, s.placement)
	s.offerUpkeep(api)
	for _, order := range orders {
		huma.Register(api, huma.Operation{OperationID: string(order.verb) + "Movement", Method: http.MethodPost,
			Path: movementsPath + "/{id}/" + string(order.verb), Summary: order.says, Errors: []int{400, 404, 409, 500, 503}}, s.order(order.verb))
	}
	huma.Register(api, huma.Operation{OperationID: "setAsideMovement", Method: http.MethodPost, Path: movementsPath + "/{id}/set-aside",
		Summary: "Move the damaged record of a movement out of the way; nothing is undone", Errors: []int{404, 409, 500, 503}}, s.setAside)
	huma.Register(api, huma.Operation{OperationID: "throttleMovement", Method: http.MethodPost, Path: movementsPath + "/{id}/throttle",
		Summary: "Change how fast, and when, it may be; what is not named stays", Errors: []int{400, 404, 409, 500, 503}}, s.throttle)
	return api.OpenAPI()
}

// onceEach is JSON whose objects name each key once: of a key that comes twice nobody knows which
// was meant.
var onceEach = huma.Format{Marshal: huma.DefaultJSONFormat.Marshal, Unmarshal: func(data []byte, v any) error {
	if err := json.Unmarshal(data, v); err != nil {
		return err
	}
	r := token.New(data)
	for {
		if kind, err := r.Next(); err != nil || kind == token.End {
			return err
		}
	}
}}

// orders are the verbs that need no more than a movement.
var orders = []struct {
	verb movement.Verb
	says string
}{
	{movement.Pause, "Stop working on it: leases are given back"},
	{movement.Resume, "Go on with what is paused, held or failed, where it stopped; what has failed stays so until redrive"},
	{movement.Verify, "Compare both sides again"},
	{movement.Repair, "Send what is missing or stale, and compare again"},
	{movement.Redrive, "Try again what failed, indices, items and documents, and compare again"},
	{movement.Finish, "Close the way back: keep what was made, remove the records, keep the report"},
	{movement.Reverse, "Reverse a split or a merge: give back what it has handed off, with everything written since"},
	{movement.Abort, "Undo everything that it has made"},
}

// schemaName tells types of one name in several packages apart.
func schemaName(t reflect.Type, hint string) string {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	name := huma.DefaultSchemaNamer(t, hint)
	if pkg := path.Base(t.PkgPath()); t.Name() != "" && pkg != "." && pkg != "gateway" {
		return strings.ToUpper(pkg[:1]) + pkg[1:] + name
	}
	return name
}

type listed struct {
	Body struct {
		Movements []movement.Record `json:"movements"`
	}
}

func (s steering) list(ctx context.Context, _ *struct{}) (*listed, error) {
	all, err := s.service.Movements(ctx)
	if err != nil {
		return nil, problemOf(err)
	}
	answer := &listed{}
	answer.Body.Movements = append([]movement.Record{}, all...)
	return answer, nil
}

// named is a request that names a movement.
type named struct {
	ID string `path:"id" doc:"The movement's id"`
}

type one struct{ Body *control.Movement }

func (s steering) get(ctx context.Context, in *named) (*one, error) {
	return oneOf(s.service.Look(ctx, in.ID))
}

func oneOf(m *control.Movement, err error) (*one, error) {
	if err != nil {
		return nil, problemOf(err)
	}
	return &one{m}, nil
}

// Throttling are the limits of a request: what is absent stays as it is.
type Throttling struct {
	DocumentsPerSecond *float64 `json:"documentsPerSecond,omitempty" minimum:"0" doc:"Of all workers together; 0: no limit"`
	BytesPerSecond     *float64 `json:"bytesPerSecond,omitempty" minimum:"0" doc:"Of all workers together; 0: no limit"`
	Hours              *string  `json:"hours,omitempty" doc:"In which it may be at work each day: FROM-TO ZONE; empty: always" example:"22:00-06:00 Europe/Berlin"`
}

type begun struct {
	Location string `header:"Location"`
	Body     *control.Movement
}

// ordered is an order for a movement.
type ordered struct {
	ID   string `path:"id" doc:"The movement's id"`
	Body *struct {
		Why string `json:"why,omitempty" doc:"For its history"`
	}
}

// orderWithin is how long an order is tried while its record cannot be changed, as on a full disk.
const orderWithin = 10 * time.Second

// soon is a context for an order.
func soon(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, orderWithin, fmt.Errorf("it had been tried for %s", orderWithin))
}

func (s steering) order(verb movement.Verb) func(context.Context, *ordered) (*one, error) {
	return func(ctx context.Context, in *ordered) (*one, error) {
		ctx, end := soon(ctx)
		defer end()
		order := control.Order{ID: in.ID, Verb: verb, By: caller}
		if in.Body != nil {
			order.Why = in.Body.Why
		}
		return oneOf(s.service.Tell(ctx, order))
	}
}

type setAside struct{ Body *control.SetAside }

func (s steering) setAside(ctx context.Context, in *named) (*setAside, error) {
	ctx, end := soon(ctx)
	defer end()
	aside, err := s.service.SetAside(ctx, in.ID)
	if err != nil {
		return nil, problemOf(err)
	}
	return &setAside{aside}, nil
}

type throttled struct {
	ID   string `path:"id" doc:"The movement's id"`
	Body struct {
		Throttling
		Why string `json:"why,omitempty" doc:"For its history"`
	}
}

func (s steering) throttle(ctx context.Context, in *throttled) (*one, error) {
	change, err := control.LimitsOf(in.Body.DocumentsPerSecond, in.Body.BytesPerSecond, in.Body.Hours)
	if err == nil && change == (control.LimitsChange{}) {
		err = fault.WithNext(fault.New(fault.Usage, "no limit is named"), "name documentsPerSecond, bytesPerSecond or hours")
	}
	if err != nil {
		return nil, problemOf(err)
	}
	ctx, end := soon(ctx)
	defer end()
	return oneOf(s.service.Throttle(ctx, control.Order{ID: in.ID, By: caller, Why: in.Body.Why}, change))
}

// problem is an error as RFC 9457 has it.
type problem struct {
	Type   string   `json:"type"`
	Title  string   `json:"title"`
	Status int      `json:"status"`
	Detail string   `json:"detail"`
	Kind   string   `json:"kind" doc:"What sort of thing went wrong"`
	Place  []string `json:"place,omitempty" doc:"Where, from the outside in"`
	Next   string   `json:"next,omitempty" doc:"What can be done"`
}

const problemType = "application/problem+json"

func (p *problem) Error() string             { return p.Detail }
func (p *problem) GetStatus() int            { return p.Status }
func (p *problem) ContentType(string) string { return problemType }

func problemOf(err error) *problem {
	kind := fault.KindOf(err)
	p := &problem{Type: "about:blank", Title: http.StatusText(kind.HTTPStatus()), Status: kind.HTTPStatus(), Kind: kind.String(),
		Detail: err.Error(), Next: fault.Next(err)}
	if strings.Contains(p.Next, "reshelve movement ") { // as the terminal has it
		p.Next += "; by HTTP GET " + movementsPath + "/ID and POST " + movementsPath + "/ID/VERB"
	}
	var known *fault.Error
	if errors.As(err, &known) {
		p.Place = known.Place()
	}
	return p
}

// newProblem is the error of a request that no operation has seen.
func newProblem(status int, text string, errs ...error) huma.StatusError {
	for _, err := range errs {
		text += "; " + withoutValue(err)
	}
	if status == http.StatusUnprocessableEntity {
		status = http.StatusBadRequest
	}
	kind := fault.Usage
	if status >= 500 {
		kind = fault.Bug
	}
	next := "see GET " + openAPIPath + ".json"
	if status == http.StatusUnsupportedMediaType { // as curl sends a body by itself
		next = "send it with the header Content-Type: application/json"
	}
	return &problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: text, Kind: kind.String(), Next: next}
}

// withoutValue is what is wrong with a part of a request, and where: not what stood there, which
// is the whole body when a property is missing.
func withoutValue(err error) string {
	var detail *huma.ErrorDetail
	if !errors.As(err, &detail) {
		return err.Error()
	}
	return detail.Message + " (" + detail.Location + ")"
}

// tellProblem answers with an error.
func tellProblem(w http.ResponseWriter, err error) { answerProblem(w, problemOf(err)) }

func answerProblem(w http.ResponseWriter, p *problem) {
	w.Header().Set("Content-Type", problemType)
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p)
}
