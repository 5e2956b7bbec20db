package seam_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/seam"
)

const liveToken = "live-access-token-000111222333"

// identity answers requests for credentials, and everything else as echo does.
func identity(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "token") || strings.HasPrefix(r.URL.Host, "sts.") {
		fmt.Fprintf(w, `{"access_token":%q}`, liveToken)
		return
	}
	echo(w, r)
}

func fetch(t *testing.T, s *seam.Seam, method, url, body string) (string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	res, err := s.Transport().RoundTrip(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return string(b), err
}

// A credential passes while recording, is in no file and no list, and a replay makes one
// up.
func TestAuthIsNotRecorded(t *testing.T) {
	o := options(t, seam.Record, identity)
	o.Auth = []seam.AuthRule{{Host: "id.example.com", Path: "/realms/*/token", Shape: seam.AuthOAuth}}
	journey := func(s *seam.Seam, want string) {
		t.Helper()
		for _, url := range []string{"https://oauth2.googleapis.com/token", "https://id.example.com/realms/a/token"} {
			if text, err := fetch(t, s, "POST", url, "grant_type=refresh_token&refresh_token=1//live-refresh"); err != nil || !strings.Contains(text, want) {
				t.Errorf("%s: %q %v, want %q", url, text, err, want)
			}
		}
		post(t, s, t.Context(), messagesURL, ask("x"))
		if n := len(s.Calls()); n != 1 {
			t.Errorf("%d calls, want 1", n)
		}
	}
	s := open(t, o)
	journey(s, liveToken)
	closeSeam(t, s)
	b, err := os.ReadFile(o.Cassette)
	if err != nil || strings.Contains(string(b), "live-") || len(episodes(t, o.Cassette)) != 1 {
		t.Errorf("%v\n%s", err, b)
	}
	s = replay(t, o)
	journey(s, "soundstage-replay")
	closeSeam(t, s)
	live := options(t, seam.Live, identity)
	s = open(t, live)
	if text, err := fetch(t, s, "POST", "https://oauth2.googleapis.com/token", ""); err != nil || !strings.Contains(text, liveToken) || len(s.Calls()) != 0 {
		t.Errorf("live: %q %v %v", text, err, s.Calls())
	}
}

func TestAuthShapes(t *testing.T) {
	o := options(t, seam.Record, echo)
	closeSeam(t, open(t, o))
	for _, c := range []struct{ method, url, body, want string }{
		{"POST", "https://api.anthropic.com/v1/oauth/token", "{}", `"access_token":"soundstage-replay"`},
		{"POST", "https://login.microsoftonline.com/t/oauth2/v2.0/token", "", `"access_token"`},
		{"POST", "https://sts.googleapis.com/v1/token", "", `"issued_token_type"`},
		{"POST", "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/a@b:generateAccessToken", "", `"expireTime":"2100`},
		{"GET", "http://metadata.google.internal/computeMetadata/v1/instance/service-accounts/default/token", "", `"access_token"`},
		{"GET", "http://metadata.google.internal/computeMetadata/v1/project/project-id", "", "soundstage-replay"},
		{"POST", "https://sts.eu-west-1.amazonaws.com/", "Action=AssumeRoleWithWebIdentity&Version=2011-06-15", "<AssumeRoleWithWebIdentityResult><Credentials>"},
		{"POST", "https://sts.amazonaws.com", "Action=GetCallerIdentity", "<Account>000000000000</Account>"},
		{"PUT", "http://169.254.169.254/latest/api/token", "", "soundstage-replay"},
		{"GET", "http://169.254.169.254/latest/meta-data/iam/security-credentials/", "", "soundstage-replay"},
		{"GET", "http://169.254.169.254/latest/meta-data/iam/security-credentials/x", "", `"Code":"Success"`},
		{"GET", "http://169.254.170.2/v2/credentials/x", "", `"SecretAccessKey"`},
		{"GET", "https://portal.sso.eu-west-1.amazonaws.com/federation/credentials?role_name=a", "", `"roleCredentials"`},
		{"POST", "https://oidc.eu-west-1.amazonaws.com/token", "{}", `"accessToken"`},
		{"GET", "https://api.github.com/copilot_internal/v2/token", "", `"expires_at"`},
		{"GET", "https://mcp.example.com/.well-known/oauth-authorization-server/tenant", "", ""},
		{"POST", "https://sts.eu-west-1.amazonaws.com/", "Action=DecodeAuthorizationMessage", ""},
		{"GET", "http://169.254.169.254/latest/user-data", "", ""},
	} {
		s := replay(t, o)
		text, err := fetch(t, s, c.method, c.url, c.body)
		if c.want == "" {
			wantCode(t, err, seam.CodeAuthShape)
			wantCode(t, s.Close(), seam.CodeAuthShape)
			continue
		}
		if err != nil || !strings.Contains(text, c.want) {
			t.Errorf("%s: %q %v, want %q", c.url, text, err, c.want)
		}
		closeSeam(t, s)
	}
	// What only looks alike is an ordinary request.
	for _, url := range []string{
		"https://api.anthropic.com/v1/oauth/tokens", "https://oauth2.googleapis.com.evil.example/token", "https://sts.a.b.amazonaws.com/",
		"https://api.anthropic.com/v1/messages", "https://evil.example/latest/api/token",
	} {
		s := replay(t, o)
		if _, err := fetch(t, s, "POST", url, ""); err != nil || len(s.Misses()) != 1 {
			t.Errorf("%s: %v, %d misses", url, err, len(s.Misses()))
		}
	}
}
