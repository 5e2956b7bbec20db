package flow

import (
	"context"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/engine"
)

// stubs are the handlers of a flow: what its fixture answers.
type stubs struct {
	f      *Fixture
	others engine.Handlers
	missed []string
}

// take is what was missed since it was last asked.
func (s *stubs) take() []string {
	list := s.missed
	s.missed = nil
	return list
}

// Call implements engine.Handlers. A stub of host.x answers host.x.op too.
func (s *stubs) Call(ctx context.Context, c engine.Request) (engine.Result, error) {
	stub, op := s.find(c.Handler)
	if stub == nil {
		if s.others != nil {
			res, err := s.others.Call(ctx, c)
			if fault.CodeOf(err) != engine.CodeHandler {
				return res, err
			}
		}
		s.missed = append(s.missed, sprintf("unstubbed call: %s with %s", c.Handler, c.Args.JSON()))
		return engine.Result{}, fault.New(engine.CodeHandler, "story.test", "host %q not registered", c.Handler).
			WithHint("stub it in host_handlers of the fixture")
	}
	res := engine.Result{Delay: stub.Delay}
	if stub.Asks != "" {
		res.Asks = &engine.Clarification{Prompt: stub.Asks}
	}
	if call, ok := c.Args.Get("call"); ok && stub.ByCall[call.Text()] != nil {
		stub = stub.ByCall[call.Text()]
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

// find is the stub of a handler, or of what its name begins with, and the rest.
func (s *stubs) find(name string) (stub *Stub, op string) {
	if st := s.f.Stubs[name]; st != nil {
		return st, ""
	}
	if i := strings.LastIndexByte(name, '.'); i > 0 {
		if st := s.f.Stubs[name[:i]]; st != nil {
			return st, name[i+1:]
		}
	}
	return nil, ""
}
