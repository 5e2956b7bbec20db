package seam

import (
	"fmt"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

// maxDifferences is how many differences a miss shows.
const maxDifferences = 10

// A Miss is a request that the cassette does not hold, and why.
type Miss struct {
	Cassette string // its name
	Lane     string
	Method   string
	URL      string

	// Recorded is how often the very same request was recorded, and Asked how often
	// it was made, this time included. Both are 0 when it was never recorded.
	Recorded, Asked int

	// Again is how often the client asked the same turn once more right after it, changing
	// at most what clients change when they do (fold.go).
	Again int

	Nearest     int          // the most similar episode, counted from 0; -1: the cassette is empty
	Differences []Difference // from it to this request, at most 10
	More        int          // differences that are not shown
	Command     string       // what would record the request

	dry bool // it is none: the request would be sent, and the dry run ends here
}

// A Difference is one place where the request is not as recorded. Where is a JSON
// pointer into the body, or "method", "url", "lane", "header X", "body".
type Difference struct {
	Where          string
	Recorded, Sent string // JSON, clipped around the first difference; "" means absent
}

// Exhausted reports that the request is recorded, but was made too often.
func (m *Miss) Exhausted() bool { return m.Recorded > 0 }

// Error is the whole explanation, on several lines. The command comes last, because
// it is what to do next.
func (m *Miss) Error() string {
	var sb strings.Builder
	if m.dry {
		return fmt.Sprintf("%s: this would be sent, and the dry run ends here: %s %s", CodeDryRun, m.Method, m.URL)
	}
	fmt.Fprintf(&sb, "%s: cassette %q does not hold this request: %s %s", CodeMiss, m.Cassette, m.Method, m.URL)
	if m.Lane != "" {
		fmt.Fprintf(&sb, " (lane %q)", m.Lane)
	}
	switch {
	case m.Exhausted():
		fmt.Fprintf(&sb, "\nexhausted %d/%d: the same request is recorded %s and was made %s", m.Recorded, m.Recorded, times(m.Recorded), times(m.Asked))
	case m.Nearest < 0:
		sb.WriteString("\nno match: the cassette is empty")
	default:
		fmt.Fprintf(&sb, "\nno match; the nearest is episode %d, which differs in:", m.Nearest+1)
		for _, d := range m.Differences {
			fmt.Fprintf(&sb, "\n  %s: recorded %s, sent %s", d.Where, orAbsent(d.Recorded), orAbsent(d.Sent))
		}
		if m.More > 0 {
			fmt.Fprintf(&sb, "\n  and %d more", m.More)
		}
	}
	fmt.Fprintf(&sb, "\nto record it: %s", m.Command)
	return sb.String()
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

func orAbsent(s string) string {
	if s == "" {
		return "nothing"
	}
	return s
}

func (m *Miss) fault() error {
	if m.dry {
		return fault.New(CodeDryRun, "seam.dryrun", "%s", strings.TrimPrefix(m.Error(), string(CodeDryRun)+": ")).
			WithHint("what comes after it depends on the answer; leave --dry-run out to send it")
	}
	text := strings.TrimPrefix(m.Error(), string(CodeMiss)+": ")
	if i := strings.LastIndex(text, "\nto record it: "); i >= 0 {
		text = text[:i]
	}
	return fault.Wrap(nil, CodeMiss, "seam.replay", "%s", text).WithHint("record it: %s", m.Command)
}

func (m *Miss) code() fault.Code {
	if m.dry {
		return CodeDryRun
	}
	return CodeMiss
}

// body is the explanation in the provider's own error shape, so that the provider's
// own client shows it.
func (m *Miss) body() []byte { return ErrorBody(m.URL, m.code(), m.Error()) }

// ErrorBody is a text in the error shape of the provider that has this URL.
func ErrorBody(url string, code fault.Code, text string) []byte {
	var v any
	switch providerOf(url) {
	case "anthropic":
		v = anthropicError{Type: "error", Error: anthropicDetail{Type: "invalid_request_error", Message: text}}
	case "google":
		v = googleError{googleDetail{Code: 400, Message: text, Status: "INVALID_ARGUMENT"}}
	case "bedrock":
		v = messageError{Message: text}
	default:
		v = openAIError{Message: text, Error: openAIDetail{Message: text, Type: "invalid_request_error", Code: string(code)}}
	}
	out, err := canon.Marshal(v)
	if err != nil { // a text that is not UTF-8 came in by the URL
		return []byte(`{"error":{"code":"SEAM_MISS","message":"SEAM_MISS","type":"invalid_request_error"}}`)
	}
	return out
}

type (
	anthropicError struct {
		Type  string          `json:"type"`
		Error anthropicDetail `json:"error"`
	}
	anthropicDetail struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	}
	openAIError struct {
		Message string       `json:"message"` // where GitHub and others have it
		Error   openAIDetail `json:"error"`
	}
	openAIDetail struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Code    string  `json:"code"`
		Param   *string `json:"param"`
	}
	googleError struct {
		Error googleDetail `json:"error"`
	}
	googleDetail struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Status  string `json:"status"`
	}
	messageError struct {
		Message string `json:"message"`
	}
)

// providerOf tells the error's shape by the request's path, then by its host: the
// path also fits gateways that speak a provider's format.
func providerOf(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	host, path, _ := strings.Cut(rest, "/")
	path, _, _ = strings.Cut(path, "?")
	switch {
	case strings.Contains(path, "eneratecontent") || strings.Contains(path, "enerateContent") || strings.Contains(path, "countTokens"):
		return "google"
	case strings.Contains(path, "messages") || strings.Contains(path, "publishers/anthropic"):
		return "anthropic"
	case strings.Contains(path, "chat/completions") || strings.HasSuffix(path, "responses") || strings.Contains(path, "embeddings"):
		return "openai"
	case strings.HasPrefix(host, "bedrock"):
		return "bedrock"
	case strings.Contains(host, "anthropic"):
		return "anthropic"
	case strings.HasSuffix(host, "googleapis.com"):
		return "google"
	}
	return "openai"
}
