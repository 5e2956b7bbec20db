package importer

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

// httprrMagic is the first line of a trace, without its number.
const httprrMagic = "httprr trace v"

// readHTTPRR reads a trace of httprr: a line with two lengths, then a request and a
// response of those lengths as they are on the wire, and so on.
func readHTTPRR(b *batch, data []byte) error {
	const op = "importer.httprr"
	first, rest, ok := bytes.Cut(data, []byte("\n"))
	version, isTrace := strings.CutPrefix(strings.TrimSuffix(string(first), "\r"), httprrMagic)
	switch {
	case !ok || !isTrace:
		return fmt.Errorf("the first line is not %q", httprrMagic+"1")
	case version != "1":
		return fault.New(CodeVersion, op, "file %q is an httprr trace of version %q; 1 is known", b.name, version).
			WithHint("import a trace of version 1")
	}
	for entry := 1; len(rest) > 0; entry++ {
		sizes, after, ok := bytes.Cut(rest, []byte("\n"))
		asked, answered, err := twoSizes(string(sizes))
		if !ok || err != nil || asked > len(after) || answered > len(after)-asked {
			return fmt.Errorf("record %d: the line %.40q is not two lengths of what follows", entry, sizes)
		}
		e, guessed, err := wireEpisode(after[:asked], after[asked:asked+answered])
		if err != nil {
			return fmt.Errorf("record %d: %w", entry, err)
		}
		if guessed {
			b.note(entry, "the request does not say http or https; https is taken")
		}
		if err := b.add(entry, e); err != nil {
			return err
		}
		rest = after[asked+answered:]
	}
	return nil
}

func twoSizes(line string) (a, b int, err error) {
	first, second, ok := strings.Cut(strings.TrimSuffix(line, "\r"), " ")
	a, errA := strconv.Atoi(first)
	b, errB := strconv.Atoi(second)
	if !ok || errA != nil || errB != nil || a < 0 || b < 0 {
		return 0, 0, errors.New("not two numbers")
	}
	return a, b, nil
}

// wireEpisode reads both sides from their wire form. guessed is set when the request
// names no scheme.
func wireEpisode(asked, answered []byte) (e cassette.Episode, guessed bool, err error) {
	req, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(asked)))
	if err != nil {
		return e, false, fmt.Errorf("request: %w", err)
	}
	body, err := wireBody(req.Body, asked, req.ContentLength, req.TransferEncoding)
	if err != nil {
		return e, false, fmt.Errorf("request: %w", err)
	}
	u := *req.URL
	if u.Host == "" {
		u.Host = req.Host
	}
	if u.Host == "" {
		return e, false, errNoURL
	}
	if u.Scheme == "" {
		u.Scheme, guessed = "https", true
	}
	res, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(answered)), req)
	if err != nil {
		return e, false, fmt.Errorf("response: %w", err)
	}
	said, err := io.ReadAll(io.LimitReader(res.Body, MaxBody+1))
	if err != nil {
		return e, false, fmt.Errorf("response: %w", err)
	}
	if err := checkStatus(res.StatusCode); err != nil {
		return e, false, err
	}
	e.Request = cassette.Request{Method: req.Method, URL: u.String(), Header: canonical(req.Header), Body: body}
	e.Response = cassette.Response{Status: res.StatusCode, Header: canonical(res.Header), Body: said}
	return e, guessed, nil
}

// wireBody is a request's body. Tools that mask headers may have dropped the length:
// then the body is all that follows the headers.
func wireBody(r io.Reader, wire []byte, length int64, transfer []string) ([]byte, error) {
	if length == 0 && len(transfer) == 0 {
		_, body, _ := bytes.Cut(wire, []byte("\r\n\r\n"))
		return body, nil
	}
	return io.ReadAll(io.LimitReader(r, MaxBody+1))
}
