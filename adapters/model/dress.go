package model

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

// maxRequestBody bounds a request in bytes.
const maxRequestBody = 256 << 20

// A dress is what a request of a family carries besides its body: who asks, and
// nothing that an SDK added of its own accord.
type dress struct {
	family family
	access Access
	region string // Bedrock's, for signing
	clock  clock.Clock
}

// headers are all headers but the content type.
func (d dress) headers() http.Header {
	a := d.access
	h := http.Header{"User-Agent": {"soundstage"}}
	for k, v := range a.Headers {
		h.Set(k, v)
	}
	set := func(name, value string) {
		if value != "" {
			h.Set(name, value)
		}
	}
	switch d.family {
	case familyAnthropic:
		set("X-Api-Key", a.Key)
		set("Anthropic-Version", "2023-06-01")
	case familyGoogle:
		set("X-Goog-Api-Key", a.Key)
	case familyAzure:
		set("Api-Key", a.Key)
	default:
		if a.Key != "" {
			set("Authorization", "Bearer "+a.Key)
		}
	}
	if d.family == familyOpenAI {
		set("Openai-Organization", a.Org)
		set("Openai-Project", a.Project)
	}
	return h
}

// put gives req its headers and its body.
func (d dress) put(req *http.Request, body []byte) error {
	h := d.headers()
	for _, name := range []string{"Content-Type", "Accept"} {
		if v := req.Header.Get(name); v != "" {
			h.Set(name, v)
		}
	}
	req.Header = h
	req.ContentLength = int64(len(body))
	req.Body = io.NopCloser(bytes.NewReader(body))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	if d.family == familyBedrock && d.access.Key == "" && d.access.AccessKey != "" {
		return d.sign(req, body)
	}
	return nil
}

// sign puts on the signature of AWS, which is in headers alone.
func (d dress) sign(req *http.Request, body []byte) error {
	hash := sha256.Sum256(body)
	creds := aws.Credentials{AccessKeyID: d.access.AccessKey, SecretAccessKey: d.access.SecretKey, SessionToken: d.access.SessionToken}
	err := v4.NewSigner().SignHTTP(req.Context(), creds, req, hex.EncodeToString(hash[:]), "bedrock", d.region, d.clock.Now())
	if err != nil {
		return fault.Wrap(err, fault.Internal, "model.sign", "the request to %q cannot be signed", req.URL.Host)
	}
	return nil
}

// readBody takes the body out of req.
func readBody(req *http.Request) ([]byte, error) {
	if req.Body == nil {
		return nil, nil
	}
	body, err := io.ReadAll(io.LimitReader(req.Body, maxRequestBody+1))
	_ = req.Body.Close() // it is memory
	if err != nil {
		return nil, fault.Wrap(err, fault.Internal, "model.send", "the request body cannot be read")
	}
	if len(body) > maxRequestBody {
		return nil, fault.New(fault.TooLarge, "model.send", "a request of more than %d bytes", maxRequestBody)
	}
	return body, nil
}
