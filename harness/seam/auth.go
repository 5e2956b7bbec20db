package seam

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// CodeAuthShape says that a replay does not know how to answer a request for credentials.
const CodeAuthShape fault.Code = "SEAM_AUTH_SHAPE"

// An AuthRule names requests that fetch or renew a credential. They are a class of their
// own, auth: they pass live and while recording, are never written and are no episodes;
// a replay needs none of them, and answers with a placeholder.
type AuthRule struct {
	Host  string // "oauth2.googleapis.com", "sts.*.amazonaws.com" (* is any text without a dot), or "*"
	Path  string // "/token", "/*/oauth2/token" (* is a part of the path); with / at its end: everything below
	Shape AuthShape
}

// An AuthShape is how a replay answers.
type AuthShape string

// The shapes. Everything else is refused in replay, with CodeAuthShape.
const (
	AuthOAuth  AuthShape = "oauth"  // RFC 6749: {"access_token": …}
	AuthIAM    AuthShape = "iam"    // Google's IAM credentials: {"accessToken": …, "expireTime": …}
	AuthGCE    AuthShape = "gce"    // Google's metadata server
	AuthSTS    AuthShape = "sts"    // AWS STS, XML
	AuthIMDS   AuthShape = "imds"   // the metadata server of EC2
	AuthKeys   AuthShape = "keys"   // the credentials of an AWS container
	AuthSSO    AuthShape = "sso"    // role credentials of AWS SSO
	AuthCamel  AuthShape = "camel"  // AWS SSO OIDC: {"accessToken": …, "expiresIn": …}
	AuthTicket AuthShape = "ticket" // GitHub Copilot: {"token": …, "expires_at": …}
	AuthDeny   AuthShape = "deny"   // not answered
)

// authRules are what the SDKs of our providers do, by their sources and documentation.
var authRules = []AuthRule{
	{"api.anthropic.com", "/v1/oauth/token", AuthOAuth},
	{"console.anthropic.com", "/v1/oauth/token", AuthOAuth},
	{"platform.claude.com", "/v1/oauth/token", AuthOAuth},
	{"auth.openai.com", "/oauth/token", AuthOAuth},
	{"github.com", "/login/oauth/access_token", AuthOAuth},
	{"api.github.com", "/copilot_internal/v2/token", AuthTicket},

	{"oauth2.googleapis.com", "/token", AuthOAuth},
	{"accounts.google.com", "/o/oauth2/token", AuthOAuth},
	{"www.googleapis.com", "/oauth2/v3/token", AuthOAuth},
	{"www.googleapis.com", "/oauth2/v4/token", AuthOAuth},
	{"sts.googleapis.com", "/v1/token", AuthOAuth},
	{"iamcredentials.googleapis.com", "/v1/projects/*/serviceAccounts/*", AuthIAM},
	{"metadata.google.internal", "/", AuthGCE},
	{"169.254.169.254", "/computeMetadata/", AuthGCE},

	{"login.microsoftonline.com", "/*/oauth2/v2.0/token", AuthOAuth},
	{"login.microsoftonline.com", "/*/oauth2/token", AuthOAuth},
	{"login.microsoftonline.com", "/", AuthDeny},
	{"169.254.169.254", "/metadata/identity/oauth2/token", AuthOAuth},

	{"sts.amazonaws.com", "/", AuthSTS},
	{"sts.*.amazonaws.com", "/", AuthSTS},
	{"portal.sso.*.amazonaws.com", "/federation/credentials", AuthSSO},
	{"oidc.*.amazonaws.com", "/token", AuthCamel},
	{"oidc.*.amazonaws.com", "/", AuthDeny},
	{"*.signin.aws.amazon.com", "/", AuthDeny},
	{"169.254.169.254", "/latest/", AuthIMDS},
	{"169.254.170.2", "/", AuthKeys},
	{"169.254.170.23", "/", AuthKeys},

	{"*", "/.well-known/oauth-authorization-server", AuthDeny},
	{"*", "/.well-known/oauth-protected-resource", AuthDeny},
	{"*", "/.well-known/openid-configuration", AuthDeny},
}

// AuthRules are the rules that always hold, for reference.
func AuthRules() []AuthRule { return append([]AuthRule(nil), authRules...) }

// An authDoor stands before the door for HTTP and takes requests for credentials out.
type authDoor struct {
	s     *Seam
	hosts map[string][]AuthRule // by exact name
	open  []AuthRule            // with a * in the host
	next  http.RoundTripper
	below http.RoundTripper // nil in replay: the placeholder answers
}

func (s *Seam) newAuthDoor(next http.RoundTripper) *authDoor {
	d := &authDoor{s: s, hosts: map[string][]AuthRule{}, next: next, below: s.o.Transport}
	if s.o.DryRun || s.o.Mode == Replay {
		d.below = nil
	}
	for _, list := range [][]AuthRule{s.o.Auth, authRules} {
		for _, r := range list {
			if r.Host = strings.ToLower(r.Host); strings.Contains(r.Host, "*") {
				d.open = append(d.open, r)
			} else {
				d.hosts[r.Host] = append(d.hosts[r.Host], r)
			}
		}
	}
	return d
}

// RoundTrip implements http.RoundTripper.
func (d *authDoor) RoundTrip(req *http.Request) (*http.Response, error) {
	r := d.find(req.URL)
	switch {
	case r == nil:
		return d.next.RoundTrip(req)
	case d.below != nil:
		return d.below.RoundTrip(req)
	}
	body, err := readAll(req.Body, req.ContentLength, nil)
	if err != nil {
		return nil, err
	}
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	kind, text := r.Shape.placeholder(req, body)
	if kind == "" {
		err := fault.New(CodeAuthShape, "seam.auth", "%s %q asks for a credential, and a replay has no placeholder of its shape", method(req), d.s.o.Redactor.URL(req.URL.String())).
			WithHint("replay with a fixed key, or name the request and its shape in the seam's auth rules")
		d.s.fail(err)
		return nil, err
	}
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        http.Header{"Content-Type": {kind}, "Metadata-Flavor": {"Google"}, "X-Aws-Ec2-Metadata-Token-Ttl-Seconds": {strconv.Itoa(placeholderSeconds)}},
		ContentLength: int64(len(text)), Body: io.NopCloser(strings.NewReader(text)), Request: req,
	}, nil
}

// find is the first rule for a URL. A request that hits pays one look into a map and a
// few comparisons.
func (d *authDoor) find(u *url.URL) *AuthRule {
	host := strings.ToLower(u.Hostname())
	for _, list := range [...][]AuthRule{d.hosts[host], d.open} {
		for i := range list {
			if r := &list[i]; r.fitsHost(host) && r.fitsPath(u) {
				return r
			}
		}
	}
	return nil
}

func (r *AuthRule) fitsPath(u *url.URL) bool {
	if below, ok := strings.CutSuffix(r.Path, "/"); ok {
		return u.Path == "" || len(u.Path) > len(below) && u.Path[:len(below)] == below && u.Path[len(below)] == '/'
	}
	if rest, ok := strings.CutPrefix(u.Path, r.Path); ok && r.Host == "*" && (rest == "" || rest[0] == '/') {
		return true
	}
	if !strings.Contains(r.Path, "*") {
		return r.Path == u.Path
	}
	ok, err := path.Match(r.Path, u.Path)
	return ok && err == nil
}

func (r *AuthRule) fitsHost(host string) bool {
	before, after, open := strings.Cut(r.Host, "*")
	if !open || r.Host == "*" {
		return open || r.Host == host
	}
	return len(host) > len(before)+len(after) && strings.HasPrefix(host, before) && strings.HasSuffix(host, after) &&
		!strings.Contains(host[len(before):len(host)-len(after)], ".")
}

// What placeholders hold. They outlast every run: an SDK goes by the machine's clock.
const (
	placeholderToken   = "soundstage-replay"
	placeholderExpiry  = "2100-01-01T00:00:00Z"
	placeholderUnix    = 4102444800
	placeholderSeconds = 365 * 24 * 3600
)

// placeholder is the media type and the body of an answer, "" for none.
func (s AuthShape) placeholder(req *http.Request, body []byte) (kind, text string) {
	const asJSON, asText = "application/json", "text/plain"
	switch s {
	case AuthOAuth:
		return asJSON, toJSON(oauthAnswer{placeholderToken, "Bearer", placeholderSeconds, "urn:ietf:params:oauth:token-type:access_token"})
	case AuthIAM:
		return asJSON, toJSON(iamAnswer{placeholderToken, placeholderExpiry})
	case AuthCamel:
		return asJSON, toJSON(camelAnswer{placeholderToken, placeholderSeconds, "Bearer"})
	case AuthTicket:
		return asJSON, toJSON(ticketAnswer{placeholderToken, placeholderUnix})
	case AuthKeys:
		return asJSON, keysJSON
	case AuthSSO:
		return asJSON, toJSON(ssoAnswer{ssoKeys{placeholderToken, placeholderToken, placeholderToken, placeholderUnix * 1000}})
	case AuthSTS:
		if text := stsAnswer(req, body); text != "" {
			return "text/xml", text
		}
	case AuthGCE:
		if strings.HasSuffix(req.URL.Path, "/token") {
			return AuthOAuth.placeholder(req, body)
		}
		if strings.HasSuffix(req.URL.Path, "/project/numeric-project-id") {
			return asText, "0"
		}
		return asText, placeholderToken
	case AuthIMDS:
		_, role, ok := strings.Cut(req.URL.Path, "/iam/security-credentials/")
		switch {
		case ok && role != "":
			return asJSON, keysJSON
		case ok || strings.HasSuffix(req.URL.Path, "/iam/security-credentials") || strings.HasSuffix(req.URL.Path, "/api/token"):
			return asText, placeholderToken
		case strings.HasSuffix(req.URL.Path, "/placement/region"):
			return asText, "us-east-1"
		}
	}
	return "", ""
}

type (
	oauthAnswer struct {
		AccessToken string `json:"access_token"`
		TokenType   string `json:"token_type"`
		ExpiresIn   int    `json:"expires_in"`
		Issued      string `json:"issued_token_type"`
	}
	iamAnswer struct {
		AccessToken string `json:"accessToken"`
		ExpireTime  string `json:"expireTime"`
	}
	camelAnswer struct {
		AccessToken string `json:"accessToken"`
		ExpiresIn   int    `json:"expiresIn"`
		TokenType   string `json:"tokenType"`
	}
	ticketAnswer struct {
		Token     string `json:"token"`
		ExpiresAt int    `json:"expires_at"`
	}
	ssoAnswer struct {
		Keys ssoKeys `json:"roleCredentials"`
	}
	ssoKeys struct {
		AccessKey  string `json:"accessKeyId"`
		SecretKey  string `json:"secretAccessKey"`
		Session    string `json:"sessionToken"`
		Expiration int    `json:"expiration"` // ms
	}
)

// keysJSON is what the metadata servers of AWS say.
const keysJSON = `{"Code":"Success","Type":"AWS-HMAC","AccessKeyId":"` + placeholderToken + `","SecretAccessKey":"` + placeholderToken +
	`","Token":"` + placeholderToken + `","Expiration":"` + placeholderExpiry + `","LastUpdated":"2026-01-01T00:00:00Z"}`

func toJSON[T oauthAnswer | iamAnswer | camelAnswer | ticketAnswer | ssoAnswer](v T) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic("seam: " + err.Error()) // texts and numbers of our own
	}
	return string(b)
}

// stsAnswer is the answer to the one action of STS that a form or a query names. All
// that give credentials give them alike.
func stsAnswer(req *http.Request, body []byte) string {
	action := req.URL.Query().Get("Action")
	if form, err := url.ParseQuery(string(bytes.TrimSpace(body))); err == nil && action == "" {
		action = form.Get("Action")
	}
	const who = "<Arn>arn:aws:sts::000000000000:assumed-role/" + placeholderToken + "/" + placeholderToken + "</Arn>"
	inner := ""
	switch action {
	case "AssumeRole", "AssumeRoleWithWebIdentity", "AssumeRoleWithSAML", "GetSessionToken":
		inner = "<Credentials><AccessKeyId>" + placeholderToken + "</AccessKeyId><SecretAccessKey>" + placeholderToken + "</SecretAccessKey><SessionToken>" +
			placeholderToken + "</SessionToken><Expiration>" + placeholderExpiry + "</Expiration></Credentials><AssumedRoleUser>" + who +
			"<AssumedRoleId>" + placeholderToken + "</AssumedRoleId></AssumedRoleUser>"
	case "GetCallerIdentity":
		inner = who + "<UserId>" + placeholderToken + "</UserId><Account>000000000000</Account>"
	default:
		return ""
	}
	return "<" + action + `Response xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><` + action + "Result>" + inner + "</" + action + "Result></" + action + "Response>"
}
