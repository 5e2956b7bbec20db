package model

import (
	"fmt"
	"time"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// The codes of a failed request.
const (
	CodeAuth        fault.Code = "MODEL_AUTH"         // 401, 403: the key is missing or wrong
	CodeRefused     fault.Code = "MODEL_REFUSED"      // 400, 404, 422: the request is not acceptable
	CodeBusy        fault.Code = "MODEL_BUSY"         // 408, 409, 425, 429, 5xx, 529: may be retried
	CodeStreamCut   fault.Code = "MODEL_STREAM_CUT"   // the stream ended before its end event
	CodeContextFull fault.Code = "MODEL_CONTEXT_FULL" // the prompt is longer than the context
	CodeUnknown     fault.Code = "MODEL_UNKNOWN"      // no such ref in the catalogue
	CodeNoKey       fault.Code = "MODEL_NO_KEY"       // the provider's key is not set
)

// An HTTPError is what the provider answered in place of a reply.
type HTTPError struct {
	Status     int           // 0: the request did not get there
	Message    string        // the provider's own words, clipped
	RetryAfter time.Duration // 0: not said
	// Partial is what had arrived when a stream broke, for usage.
	Partial Usage
}

// Error is "HTTP 429: message", or the message where there was no answer.
func (e *HTTPError) Error() string {
	if e.Status == 0 {
		return e.Message
	}
	return fmt.Sprintf("HTTP %d: %s", e.Status, e.Message)
}
