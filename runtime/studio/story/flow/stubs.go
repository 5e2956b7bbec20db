package flow

import (
	"context"
	"path"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/engine"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/host"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/load"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/starlark"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

// stubs are the handlers of a flow: what its fixture and its cassettes answer, and scripts
// that run for themselves over a cassette of their requests.
type stubs struct {
	f        *Fixture
	files    load.Files
	others   engine.Handlers
	desk     *host.Desk // of a flow with bindings
	work     string     // the folder of the run
	cassette *cassette
	web      *web
	inspect  *inspection
	state    string // where the turn began
	missed   []string
	answered func(job string) bool
}

// open reads the cassettes of a fixture.
func (s *stubs) open(ctx context.Context) error {
	beside := func(name string) string {
		if path.IsAbs(name) {
			return name
		}
		return path.Join(path.Dir(s.f.File), name)
	}
	read := func(name string) ([]byte, error) {
		if s.files == nil {
			return nil, fault.New(CodeFlow, "story.test", "the flow has the cassette %q, and this run reads no files", name)
		}
		return s.files.Read(ctx, beside(name))
	}
	if name := s.f.Cassette; name != "" {
		raw, err := read(name)
		if err != nil {
			return err
		}
		if s.cassette, err = readCassette(name, raw); err != nil {
			return err
		}
	}
	if name := s.f.HTTP; name != "" {
		raw, err := read(name)
		if err != nil {
			return err
		}
		if s.web, err = readWeb(name, raw); err != nil {
			return err
		}
	}
	if name := s.f.Inspect; name != "" {
		raw, err := read(name)
		if err != nil {
			return err
		}
		if s.inspect, err = readInspection(name, raw); err != nil {
			return err
		}
	}
	return nil
}

// take is what was missed since it was last asked.
func (s *stubs) take() []string {
	list := s.missed
	s.missed = nil
	return list
}

// Call implements engine.Handlers. A stub of host.x answers host.x.op too.
func (s *stubs) Call(ctx context.Context, c engine.Request) (engine.Result, error) {
	if s.cassette != nil {
		if name, op := s.cassette.has(c.Handler); name != "" {
			stub, err := s.cassette.call(name, host.WithOp(c, op), s.state)
			if err != nil {
				s.missed = append(s.missed, err.Error())
				return engine.Result{}, err
			}
			return answer(stub, c, "")
		}
	}
	if stub, op := s.find(c.Handler); stub != nil {
		return answer(stub, c, op)
	}
	if s.desk != nil {
		if res, ok := s.desk.Call(c); ok {
			return res, nil
		}
	}
	if c.Handler == "host.starlark.run" && (s.web != nil || s.inspect != nil || s.desk != nil) {
		return s.script(ctx, c)
	}
	if c.Handler == "host.jobs.answer_clarification" && s.answered != nil {
		job, _ := c.Args.Get("job_id")
		if !s.answered(job.Text()) {
			return engine.Result{Error: sprintf("no job %q waits for an answer", job.Text())}, nil
		}
		return engine.Result{Data: value.NewMap(map[string]value.Value{"answered": value.Of(true), "job_id": job})}, nil
	}
	if s.others != nil {
		res, err := s.others.Call(ctx, c)
		if fault.CodeOf(err) != engine.CodeHandler {
			return res, err
		}
	}
	s.missed = append(s.missed, sprintf("unstubbed call: %s with %s", c.Handler, c.Args.JSON()))
	return engine.Result{}, fault.New(engine.CodeHandler, "story.test", "host: no handler registered for %q", c.Handler).
		WithHint("stub it in host_handlers of the fixture")
}

// answer is what a stub says to a call.
func answer(stub *Stub, c engine.Request, op string) (engine.Result, error) {
	res := engine.Result{Delay: stub.Delay}
	if stub.Asks != "" {
		res.Asks = &engine.Clarification{Prompt: stub.Asks}
	}
	call, _ := c.Args.Get("call")
	if by := stub.ByCall[call.Text()]; by != nil {
		stub = by
	} else if stub.ByOp != nil {
		if arg, ok := c.Args.Get("op"); ok && arg.Text() != "" {
			op = arg.Text()
		}
		if by := stub.ByOp[op]; by != nil {
			stub = by
		}
	}
	if stub.Infra != "" {
		return engine.Result{}, fault.New(CodeStub, "story.test", "%s", stub.Infra)
	}
	res.Data, res.Error = stub.Data, stub.Error
	return res, nil
}

// script runs a script of the story itself, over what the cassettes hold.
func (s *stubs) script(ctx context.Context, c engine.Request) (engine.Result, error) {
	doors := starlark.Doors{}
	if s.web != nil {
		doors.HTTP = s.web
	}
	if s.inspect != nil {
		doors.Inspect = s.inspect
	}
	res, failed, err := host.Script(ctx, s.files, c, s.work, doors)
	if fault.CodeOf(failed) == CodeMiss {
		s.missed = append(s.missed, failed.Error())
	}
	return res, err
}

// Do implements starlark.HTTP.
func (w *web) Do(_ context.Context, r starlark.Request) (starlark.Response, error) {
	e := w.find(r.Method, r.URL)
	if e == nil {
		return starlark.Response{}, fault.New(CodeMiss, "story.test", "the http cassette holds no answer to %s %s", r.Method, r.URL)
	}
	return starlark.Response{Status: e.status, Body: e.body, Headers: e.headers}, nil
}

// find is the stub of a handler, or of what its name begins with, and the rest.
func (s *stubs) find(name string) (stub *Stub, op string) {
	if st := s.f.Stubs[name]; st != nil {
		return st, ""
	}
	if whole, op := host.Whole(name); whole != "" {
		if st := s.f.Stubs[whole]; st != nil {
			return st, op
		}
	}
	return nil, ""
}
