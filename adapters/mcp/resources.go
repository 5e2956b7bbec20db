package mcp

import (
	"context"
	"encoding/json"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/gate"
	"github.com/soundstage-dev/soundstage/runtime/resource"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// Resources is what can be read by address. It is asked when a client first asks.
type Resources interface {
	Templates() []resource.Template
	// List gives up to limit entries from where after says, which is "" or the next of
	// the list before.
	List(ctx context.Context, after string, limit int) (list []resource.Entry, next string, err error)
	// Read gives what no tool reads.
	Read(ctx context.Context, a resource.Address) (resource.Page, error)
	// Revision changes whenever what stands behind an address does.
	Revision(ctx context.Context, uri string) (string, error)
	Complete(ctx context.Context, argument, prefix string, with map[string]string) (values []string, more bool, err error)
}

// Results has the long results of sessions.
type Results interface {
	Text(session, handle string) (string, error)
	// Handles are those of a session that can be read, the newest first.
	Handles(session string) []string
}

// pageSize is how many resources one answer lists.
const pageSize = 200

const (
	// notThere is the code of a resource that is not there, before the revision that
	// made it -32602.
	notThere = -32002
	// noTemplate is what the SDK says of an address that fits no template.
	noTemplate = "Resource not found"
)

// resources answers what the SDK would answer from a list of its own: pieces come and
// go, and nothing is looked up for a client that only lists tools.
func (s *Server) resources(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		switch r := req.(type) {
		case *sdk.ListResourcesRequest:
			return s.listResources(ctx, r)
		case *sdk.ListResourceTemplatesRequest:
			s.templates()
		case *sdk.ReadResourceRequest:
			s.templates()
			res, err := next(ctx, method, req)
			return res, s.older(err, r.ProtocolVersion())
		}
		return next(ctx, method, req)
	}
}

// older gives a missing resource the code that the client's revision has for it. The
// newer one means a bad parameter as well, so refusal uses the older.
func (s *Server) older(err error, revision string) error {
	e, ok := err.(*jsonrpc.Error)
	switch {
	case !ok:
		return err
	case revision >= inBand && e.Code == notThere:
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: e.Message, Data: e.Data}
	case revision < inBand && e.Code == jsonrpc.CodeInvalidParams && e.Message == noTemplate:
		return &jsonrpc.Error{Code: notThere, Message: e.Message, Data: e.Data}
	}
	return err
}

// templates gives the SDK what it serves, once somebody asked for it.
func (s *Server) templates() {
	s.templated.Do(func() {
		for _, t := range s.o.Resources.Templates() {
			s.sdk.AddResourceTemplate(&sdk.ResourceTemplate{
				URITemplate: t.URI, Name: t.Name, Title: t.Title, Description: t.Description, MIMEType: t.Type,
			}, s.readResource)
		}
	})
}

func (s *Server) listResources(ctx context.Context, req *sdk.ListResourcesRequest) (*sdk.ListResourcesResult, error) {
	after := ""
	if req.Params != nil {
		after = req.Params.Cursor
	}
	list, next, err := s.o.Resources.List(ctx, after, pageSize)
	if err != nil {
		return nil, refusal(err, "")
	}
	res := &sdk.ListResourcesResult{NextCursor: next, Resources: []*sdk.Resource{}}
	private(ctx, req, &res.Cacheable)
	for _, e := range list {
		r := &sdk.Resource{URI: e.URI, Name: e.Name, Title: e.Title, Description: e.Description, MIMEType: e.Type, Size: e.Size}
		if !e.Updated.IsZero() {
			r.Annotations = &sdk.Annotations{LastModified: e.Updated.UTC().Format(time.RFC3339)}
		}
		res.Resources = append(res.Resources, r)
	}
	return res, nil
}

// readResource reads what an address names: by the tool that reads it, where there is
// one.
func (s *Server) readResource(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	uri := req.Params.URI
	a, err := resource.Parse(uri)
	if err != nil {
		return nil, refusal(err, uri)
	}
	id, input := a.Call()
	var page resource.Page
	if id == "" {
		page, err = s.o.Resources.Read(ctx, a)
	} else {
		page, err = s.readBy(ctx, req.Session, a, id, input)
	}
	if err != nil {
		return nil, refusal(err, uri)
	}
	res := &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: page.Type, Text: page.Text}}}
	if page.Next != "" {
		res.Contents[0].Meta = sdk.Meta{"soundstage/next": page.Next}
	}
	return res, nil
}

// readBy makes the call that reads an address, at the gate and in the trace as if the
// client had made it itself. What the gate put behind a handle comes whole.
func (s *Server) readBy(ctx context.Context, to *sdk.ServerSession, a resource.Address, id string, input []byte) (resource.Page, error) {
	t, ok := s.factory.mcp.Get(id)
	if !ok || !t.Here() {
		return resource.Page{}, fault.New(fault.NotFound, "mcp.read", "there is no %s", a)
	}
	c, err := s.announce(ctx, to, t, input)
	if err != nil {
		return resource.Page{}, err
	}
	d := s.o.Gate.Decide(ctx, gate.Request{Call: s.call(c, nil), Tool: t.ID, Input: input})
	res, err := tool.Result{}, d.Err
	switch d.Outcome {
	case gate.Allowed:
		res, err = s.o.Gate.Run(ctx, d)
	case gate.Asked: // a resource is read without a word; the tool can be asked for
		err = fault.New(fault.Denied, "mcp.read", "%s is asked about before it runs, so %s cannot be read as a resource", t.ID, a).
			WithHint("call %s", t.ID)
	}
	s.finish(ctx, t, c.call, res, err, d.Outcome != gate.Allowed)
	if err != nil {
		return resource.Page{}, err
	}
	p := resource.Page{Type: a.Type(), Text: res.Text}
	handle := res.Handle
	if a.Shelf == resource.Result {
		handle = a.ID
	}
	if handle != "" {
		if s.o.Results == nil {
			return resource.Page{}, fault.New(fault.TooLarge, "mcp.read", "%s is too long for one answer", a).WithHint("read it with %s", t.ID)
		}
		p.Text, err = s.o.Results.Text(s.session.ID, handle)
	}
	return p, err
}

// refusal is an error of a request that is no call of a tool, in the protocol's terms.
func refusal(err error, uri string) error {
	e := &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: clip(err.Error(), maxError)}
	switch fault.CodeOf(err) {
	case fault.NotFound, resource.CodeAddress:
		if uri != "" {
			e.Code = notThere
			break
		}
		fallthrough
	case fault.Internal, fault.Cancelled, fault.Timeout:
	default: // what the client asked for cannot be had as it asked
		e.Code = jsonrpc.CodeInvalidParams
	}
	data, merr := json.Marshal(struct {
		URI  string `json:"uri,omitempty"`
		Code string `json:"code"`
		Hint string `json:"hint,omitempty"`
	}{clip(uri, maxValue), string(fault.CodeOf(err)), clip(fault.HintOf(err), maxError)})
	if merr == nil { // strings always encode
		e.Data = data
	}
	return e
}

// linksSince is the first revision in which a result may hold a link. A client of an
// older one may refuse all of a result for it.
const linksSince = "2025-06-18"

// link is the address of a result that was too long for one answer.
func link(handle string) *sdk.ResourceLink {
	return &sdk.ResourceLink{
		URI: resource.Address{Shelf: resource.Result, ID: handle}.String(), Name: handle, Title: "The whole result",
		Description: "All of a result of which the first part stands above.", MIMEType: resource.Text,
	}
}
