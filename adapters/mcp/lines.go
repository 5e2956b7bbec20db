package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxLine is how long a line of a client may be, in bytes without its end.
const maxLine = 8 << 20

// maxExact is the largest whole number that the SDK answers as the one that it is.
const maxExact = 1 << 53

// What JSON-RPC says of a line that cannot be answered otherwise.
const (
	notJSON    = -32700
	notRequest = -32600
)

// lines hands on the lines of a client that are messages, and answers the others
// itself. The SDK ends the session at the first line that it cannot read, and says
// nothing to the client.
type lines struct {
	in     *bufio.Reader
	look   *jsontext.Decoder // for usual, one line after the other
	close  func() error
	out    io.Writer
	ready  []byte // of the line that is being handed on
	failed error  // why there are no more lines
}

func newLines(in io.ReadCloser, out io.Writer) *lines {
	return &lines{in: bufio.NewReaderSize(in, 64<<10), look: jsontext.NewDecoder(new(bytes.Buffer)), close: in.Close, out: out}
}

// Read implements io.Reader.
func (l *lines) Read(p []byte) (int, error) {
	for len(l.ready) == 0 {
		if l.failed != nil {
			return 0, l.failed
		}
		line, long, err := l.next()
		l.failed = err
		line = bytes.TrimSpace(line)
		switch {
		case long:
			l.refuse(nil, notRequest, fmt.Errorf("a line has more than %d bytes", maxLine))
		case len(line) == 0:
		default:
			if id, code, err := unfit(l.look, line); err != nil {
				l.refuse(id, code, err)
				continue
			}
			l.ready = append(line, '\n')
		}
	}
	n := copy(p, l.ready)
	l.ready = l.ready[n:]
	return n, nil
}

// Close implements io.Closer.
func (l *lines) Close() error { return l.close() }

// next is one line; long says that it was longer than maxLine and is left out.
func (l *lines) next() (line []byte, long bool, err error) {
	for {
		part, err := l.in.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxLine+1; long {
			line = nil
		} else {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, long, err
		}
	}
}

// unfit says why a line is no message, and whose answer that is: null where the line
// has no id that can be used.
func unfit(look *jsontext.Decoder, line []byte) (id json.RawMessage, code int, err error) {
	if usual(look, line) {
		return nil, 0, nil
	}
	if !json.Valid(line) {
		return nil, notJSON, errors.New("a line is not JSON")
	}
	if line[0] != '[' {
		id, err := unfitMessage(line)
		return id, notRequest, err
	}
	var batch []json.RawMessage
	if err := json.Unmarshal(line, &batch); err != nil || len(batch) == 0 {
		return nil, notRequest, errors.New("a batch is empty or not a list")
	}
	if nested(line) && deepest(look, line) > maxDepth { // each message alone may be one that is read
		return nil, notRequest, fmt.Errorf("a batch has more than %d levels", maxDepth)
	}
	for _, m := range batch {
		if _, err := unfitMessage(m); err != nil {
			return nil, notRequest, err
		}
	}
	return nil, 0, nil
}

func unfitMessage(m []byte) (id json.RawMessage, err error) {
	var head struct {
		ID json.RawMessage `json:"id"`
	}
	if err := json.Unmarshal(m, &head); err != nil {
		return nil, errors.New("a message is not an object")
	}
	if len(head.ID) > 0 { // the SDK would cut 1.5 down to 1, and take null for no id
		if head.ID[0] != '"' && (bytes.ContainsAny(head.ID, ".eE") || bytes.IndexByte([]byte("-0123456789"), head.ID[0]) < 0) {
			return nil, errors.New("an id is neither a text nor a whole number")
		}
		id = head.ID
		if n, err := strconv.ParseInt(string(id), 10, 64); id[0] != '"' && (err != nil || n > maxExact || n < -maxExact) {
			return id, errors.New("an id is a whole number beyond 2^53, which would come back as another: use a text")
		}
	}
	if _, err := jsonrpc.DecodeMessage(m); err != nil {
		return id, err
	}
	return id, nil
}

// refuse answers a line. That the client does not hear it is met by who writes next.
func (l *lines) refuse(id json.RawMessage, code int, why error) {
	type body struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	if id == nil {
		id = json.RawMessage("null")
	}
	b, err := json.Marshal(struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   body            `json:"error"`
	}{"2.0", id, body{code, clip(why.Error(), maxValue)}})
	if err == nil { // the id came out of JSON
		_, _ = l.out.Write(append(b, '\n'))
	}
}

// A shared writer takes whole messages from several sides.
type shared struct {
	mu sync.Mutex
	w  io.Writer
}

func (s *shared) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.w.Write(p)
}

// Close leaves closing to the owner of the writer.
func (*shared) Close() error { return nil }
