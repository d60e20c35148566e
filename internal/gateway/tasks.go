package gateway

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/wildcard"
	"github.com/reshelve/reshelve/internal/store"
)

// taskRoutes are the endpoints of work that goes on after its request was answered.
var taskRoutes = []route{
	{"GET", "/_tasks", patienceParams + "nodes actions detailed parent_task_id wait_for_completion group_by", patient((*call).listTasks)},
	{"GET", "/_tasks/{task_id}", patienceParams + "wait_for_completion", patient((*call).getTask)},
	{"POST", "/_tasks/_cancel", patienceParams + "nodes actions parent_task_id wait_for_completion", patient((*call).cancelTasks)},
	{"POST", "/_tasks/{task_id}/_cancel", patienceParams + "nodes actions parent_task_id wait_for_completion", patient((*call).cancelTasks)},
}

// task finds the task that the path names.
func (c *call) task() (store.TaskState, error) {
	id := c.name("task_id")
	node, number, both := strings.Cut(id, ":")
	n, err := strconv.ParseInt(number, 10, 64)
	if !both || err != nil {
		return store.TaskState{}, exception.New(exception.IllegalArgument, "malformed task id %s", id)
	}
	if node == c.s.nodeID() {
		if t := c.s.store.Task(n); t != nil {
			return t.State(), nil
		}
	}
	if node != c.s.nodeID() {
		return store.TaskState{}, exception.New(exception.ResourceNotFound,
			"task [%s] belongs to the node [%s] which isn't part of the cluster and there is no record of the task", id, node)
	}
	return store.TaskState{}, exception.New(exception.ResourceNotFound, "task [%s] isn't running and hasn't stored its results", id)
}

// getTask tells how far a task has come, and its answer when it is done.
func (c *call) getTask() error {
	t, err := c.task()
	if err != nil {
		return err
	}
	wait, err := c.boolean("wait_for_completion", false)
	if err == nil && wait {
		if err = t.Wait(c.ctx()); err == nil {
			t = t.State()
		}
	}
	if err != nil {
		return err
	}
	told := object{{"completed", t.Done}, {"task", c.taskObject(t)}}
	switch {
	case t.Done && t.Err != nil:
		e := exception.From(t.Err)
		told.add("error", object{{"type", string(e.Type)}, {"reason", e.Reason}})
	case t.Done:
		told.add("response", append(object{{"took", t.Took.Milliseconds()}, {"timed_out", false}}, progressObject(t.Action, t.Progress, true)...))
	}
	return c.answer(http.StatusOK, told)
}

func (c *call) taskObject(t store.TaskState) object {
	headers := object{}
	if t.Opaque != "" {
		headers.add(opaqueHeader, t.Opaque)
	}
	return object{{"node", c.s.nodeID()}, {"id", t.ID}, {"type", "transport"}, {"action", t.Action}, {"status", progressObject(t.Action, t.Progress, false)},
		{"description", t.Description}, {"start_time_in_millis", t.Started.UnixMilli()}, {"running_time_in_nanos", t.Took.Nanoseconds()},
		{"cancellable", true}, {"cancelled", t.Cancelled}, {"headers", headers}}
}

// opaqueHeader is how a client marks its requests, and finds their tasks again.
const opaqueHeader = "X-Opaque-Id"

// listTasks tells which tasks are at work.
func (c *call) listTasks() error { return c.tellTasks(c.s.store.Tasks()) }

func (c *call) tellTasks(working []store.TaskState) error {
	tasks := object{}
	list := array{}
	for _, t := range working {
		if !c.meant(t) {
			continue
		}
		one := c.taskObject(t)
		tasks.add(fmt.Sprintf("%s:%d", c.s.nodeID(), t.ID), one)
		list = append(list, one)
	}
	switch {
	case c.text("group_by", "nodes") == "none":
		return c.answer(http.StatusOK, object{{"tasks", list}})
	case c.text("group_by", "nodes") == "parents":
		return c.answer(http.StatusOK, object{{"tasks", tasks}})
	case len(tasks) == 0:
		return c.answer(http.StatusOK, object{{"nodes", object{}}})
	}
	address, host := c.address()
	return c.answer(http.StatusOK, object{{"nodes", object{{c.s.nodeID(), object{{"name", c.s.options.Name}, {"transport_address", address},
		{"host", host}, {"ip", address}, {"roles", roles}, {"tasks", tasks}}}}}})
}

// meant reports whether the parameter actions names a task, or is not there.
func (c *call) meant(t store.TaskState) bool {
	actions, asked := c.has("actions")
	if !asked {
		return true
	}
	for pattern := range strings.SplitSeq(actions, ",") {
		if wildcard.Match(pattern, t.Action) {
			return true
		}
	}
	return false
}

// cancelTasks lets one task, or all that are meant, end early. What they have changed
// stays changed.
func (c *call) cancelTasks() error {
	var cancelled []store.TaskState
	if c.name("task_id") != "" {
		t, err := c.task()
		if err != nil {
			return err
		}
		cancelled = append(cancelled, t)
	} else {
		for _, t := range c.s.store.Tasks() {
			if c.meant(t) {
				cancelled = append(cancelled, t)
			}
		}
	}
	for i, t := range cancelled {
		t.Cancel()
		cancelled[i] = t.State()
	}
	return c.tellTasks(cancelled)
}
