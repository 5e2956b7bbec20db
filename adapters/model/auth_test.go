package model

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"cloud.google.com/go/auth/credentials"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials/ec2rolecreds"
	"github.com/aws/aws-sdk-go-v2/credentials/endpointcreds"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
	"github.com/aws/aws-sdk-go-v2/service/sso"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
	"golang.org/x/oauth2/jwt"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/seam"
	"github.com/soundstage-dev/soundstage/harness/upstream"
)

// liveToken is what the world's identity providers give in these tests.
const liveToken = "live-credential-of-the-world"

// serviceAccount is a key that exists only in this test.
func serviceAccount(t *testing.T) (key, file []byte) {
	t.Helper()
	k, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	key = pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
	file, err = json.Marshal(map[string]string{
		"type": "service_account", "project_id": "p", "private_key_id": "k", "private_key": string(key),
		"client_email": "a@p.iam.gserviceaccount.com", "token_uri": "https://oauth2.googleapis.com/token",
	})
	if err != nil {
		t.Fatal(err)
	}
	return key, file
}

// tokenSources are the ways in which the providers' SDKs get credentials, each with the
// one client.
func tokenSources(t *testing.T) map[string]func(ctx context.Context, c *http.Client) (string, error) {
	t.Helper()
	key, account := serviceAccount(t)
	token := func(ts oauth2.TokenSource) (string, error) {
		tok, err := ts.Token()
		if err != nil {
			return "", err
		}
		return tok.AccessToken, nil
	}
	on := func(ctx context.Context, c *http.Client) context.Context {
		return context.WithValue(ctx, oauth2.HTTPClient, c)
	}
	config := func(c *http.Client) aws.Config {
		return aws.Config{Region: "eu-west-1", HTTPClient: c, Credentials: aws.AnonymousCredentials{}}
	}
	awsToken := func(ctx context.Context, p aws.CredentialsProvider) (string, error) {
		k, err := p.Retrieve(ctx)
		return k.SessionToken, err
	}
	web := filepath.Join(t.TempDir(), "web-identity")
	if err := os.WriteFile(web, []byte("a.b.c"), 0o600); err != nil {
		t.Fatal(err)
	}
	return map[string]func(ctx context.Context, c *http.Client) (string, error){
		"oauth refresh": func(ctx context.Context, c *http.Client) (string, error) {
			conf := oauth2.Config{ClientID: "i", Endpoint: oauth2.Endpoint{TokenURL: "https://api.anthropic.com/v1/oauth/token"}}
			return token(conf.TokenSource(on(ctx, c), &oauth2.Token{RefreshToken: "live-refresh"}))
		},
		"azure client": func(ctx context.Context, c *http.Client) (string, error) {
			conf := clientcredentials.Config{ClientID: "i", ClientSecret: "live-secret", TokenURL: "https://login.microsoftonline.com/tenant/oauth2/v2.0/token"}
			return token(conf.TokenSource(on(ctx, c)))
		},
		"google service account": func(ctx context.Context, c *http.Client) (string, error) {
			conf := jwt.Config{Email: "a@b", PrivateKey: key, TokenURL: "https://oauth2.googleapis.com/token"}
			return token(conf.TokenSource(on(ctx, c)))
		},
		"google from a file": func(ctx context.Context, c *http.Client) (string, error) {
			found, err := credentials.NewCredentialsFromJSON(credentials.ServiceAccount, account, &credentials.DetectOptions{
				Client: c, Scopes: []string{"https://www.googleapis.com/auth/cloud-platform"},
			})
			if err != nil {
				return "", err
			}
			tok, err := found.Token(ctx)
			if err != nil {
				return "", err
			}
			return tok.Value, nil
		},
		"aws sts": func(ctx context.Context, c *http.Client) (string, error) {
			return awsToken(ctx, stscreds.NewWebIdentityRoleProvider(sts.NewFromConfig(config(c)), "arn:aws:iam::000000000000:role/r", stscreds.IdentityTokenFile(web)))
		},
		"aws machine": func(ctx context.Context, c *http.Client) (string, error) {
			return awsToken(ctx, ec2rolecreds.New(func(o *ec2rolecreds.Options) { o.Client = imds.New(imds.Options{HTTPClient: c}) }))
		},
		"aws container": func(ctx context.Context, c *http.Client) (string, error) {
			return awsToken(ctx, endpointcreds.New("http://169.254.170.2/v2/credentials/x", func(o *endpointcreds.Options) { o.HTTPClient = c }))
		},
		"aws sso": func(ctx context.Context, c *http.Client) (string, error) {
			out, err := sso.NewFromConfig(config(c)).GetRoleCredentials(ctx, &sso.GetRoleCredentialsInput{
				AccessToken: aws.String("live-sso"), AccountId: aws.String("000000000000"), RoleName: aws.String("r"),
			})
			if err != nil {
				return "", err
			}
			return aws.ToString(out.RoleCredentials.SessionToken), nil
		},
	}
}

// A world has identity providers, which know the shapes of the seam's placeholders, and
// a model behind them.
func world(t *testing.T, asked *[]string) http.RoundTripper {
	t.Helper()
	empty := filepath.Join(t.TempDir(), "empty.yaml")
	s, err := seam.Open(seam.Options{Mode: seam.Record, KeepEmpty: true, Cassette: empty, Transport: upstream.NewTransport(http.NotFoundHandler()), Origin: cassette.Scripted})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	shapes, err := seam.Open(seam.Options{Mode: seam.Replay, Cassette: empty})
	if err != nil {
		t.Fatal(err)
	}
	script, err := upstream.Parse("s.upstream.yaml", []byte("turns:\n  - say: {text: Hello.}\n"))
	if err != nil {
		t.Fatal(err)
	}
	model := upstream.NewTransport(upstream.New(script))
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		*asked = append(*asked, r.URL.String())
		if r.URL.Path == "/v1/messages" {
			return model.RoundTrip(r)
		}
		res, err := shapes.Transport().RoundTrip(r)
		if err != nil {
			return nil, err
		}
		b, err := io.ReadAll(res.Body)
		b = bytes.ReplaceAll(b, []byte(placeholder), []byte(liveToken))
		res.Body, res.ContentLength = io.NopCloser(bytes.NewReader(b)), int64(len(b))
		return res, err
	})
}

// A credential that an SDK fetches goes by the one client, is not in the cassette, and is
// not missed by a replay, which has nothing below it.
func TestTokenSources(t *testing.T) {
	for name, source := range tokenSources(t) {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "c.yaml")
			var asked []string
			o := seam.Options{Mode: seam.Record, Cassette: path, Transport: world(t, &asked), Origin: cassette.Scripted, Clock: clock.NewFixed(clock.Epoch)}
			journey := func(o seam.Options, want string) outcome {
				s, err := seam.Open(o)
				if err != nil {
					t.Fatal(err)
				}
				if got, err := source(t.Context(), &http.Client{Transport: s.Transport()}); err != nil || got != want {
					t.Errorf("credential %q, %v, want %q", got, err, want)
				}
				p, err := Open(t.Context(), "anthropic/claude-sonnet-4-5", settings(s.Transport()))
				if err != nil {
					t.Fatal(err)
				}
				out := collect(t.Context(), p, hello())
				if err := s.Close(); err != nil || out.err != nil || len(s.Calls()) != 1 || len(s.Unused()) != 0 {
					t.Errorf("%v %v, %d calls, unused %v", err, out.err, len(s.Calls()), s.Unused())
				}
				return out
			}
			recorded := journey(o, liveToken)
			b, err := os.ReadFile(path)
			if err != nil || bytes.Contains(b, []byte("live-")) || !bytes.Contains(b, []byte("# end 1 ")) || len(asked) < 2 {
				t.Errorf("%v, asked %q\n%s", err, asked, b)
			}
			asked = nil
			o.Mode, o.Transport = seam.Replay, nil
			for range 2 {
				if again := journey(o, placeholder); !reflect.DeepEqual(again, recorded) || len(asked) > 0 {
					t.Errorf("replay gives %+v, asked %q", again, asked)
				}
			}
		})
	}
}
