package mcp

import (
	"errors"
	"net/url"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// why is what a person is told of a server that could not be used: the cause alone, and
// not what the SDK was doing at each level. The address is left out, since a key may be
// in it.
func (l *peer) why(err error) error {
	l.mu.Lock()
	unstarted := l.unstarted
	l.mu.Unlock()
	if f, ok := errors.AsType[*fault.Error](unstarted); ok {
		c := *f
		c.Op = "mcp.servers" // it stands there once
		return &c
	}
	if asked, ok := errors.AsType[*url.Error](err); ok {
		return asked.Err
	}
	if errors.Is(err, sdk.ErrConnectionClosed) {
		return errEnded
	}
	return err
}

// errEnded says that a server was gone before it answered.
var errEnded = errors.New("it ended before it answered")
