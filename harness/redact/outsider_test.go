package redact_test

import (
	"encoding/base64"
	"net/url"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/redact"
)

// planted are credentials of no environment: their forms are all that is known. What has
// to go is between the bars.
func planted() map[string]string {
	const s = "Qm7Zx9vB2nK4wL8rT1yU6iO3pA5sD"
	return map[string]string{
		"sendgrid": "|SG." + s + "." + s + "|", "webhook": "|whsec_" + s + "|", "google oauth": "|GOCSPX-" + s + "|",
		"digitalocean": "|dop_v1_" + strings.Repeat("0a1b2c3d", 8) + "|", "shopify": "|shpat_" + strings.Repeat("0a1b", 8) + "|",
		"pypi": "|pypi-AgEIcHlwaS5vcmc" + s + "|", "tavily": "|tvly-" + s + "|", "linear": "|lin_api_" + s + s + "|", "notion": "|ntn_" + s + s + "|",
		"atlassian": "|ATATT3x" + s + s + "|", "slack hook": "https://hooks.slack.com/services/|T01234567/B01234567/" + s + "|",
		"url": "postgres://app:|" + s + "|@db.example:5432/x", "azure": "AccountName=x;AccountKey=|" + s + s + "==|;",
		"dotenv": "export STRIPE_API_KEY=|" + s + "|", "quoted name": `{"db_password":"|` + s + `|"}`,
	}
}

func TestMaskFormsOfManyVendors(t *testing.T) {
	r := redact.New(redact.Options{})
	for name, text := range planted() {
		parts := strings.Split(text, "|")
		whole := strings.Join(parts, "")
		got := r.MaskString(whole)
		if strings.Contains(got, parts[1]) || !strings.HasPrefix(got, parts[0]) || !strings.HasSuffix(got, parts[2]) {
			t.Errorf("%s: %s", name, got)
		}
		if again := r.MaskString(got); again != got {
			t.Errorf("%s, twice: %s", name, again)
		}
	}
	for _, plain := range []string{
		"postgres://user:password@localhost/db", "https://h.example:8080/a@b", "CACHE_KEY=linux-go", "set API_KEY=your_api_key_here",
		"see hooks.slack.com/services/ for more", "whsec_ and ntn_ are prefixes", `{"show_password":"yes","reset_password":"https://x.example/reset"}`,
		"http://[::1]:80/@x", "MAX_KEY=128",
	} {
		if got := r.MaskString(plain); got != plain {
			t.Errorf("%s became %s", plain, got)
		}
	}
}

// A URL is shown where requests are named, in errors and misses: nothing secret is left
// in any of its parts, however it is written there.
func TestURLHidesWhatIsEncoded(t *testing.T) {
	r := redact.New(redact.Options{Env: map[string]string{"MY_TOKEN": "correct horse battery"}})
	secrets := []string{
		"Bearer Qm7Zx9vB2nK4wL8rT1y", "Basic " + base64.StdEncoding.EncodeToString([]byte("user:Qm7Zx9")), "AIzaQm7Zx9vB2nK4wL8rT1yU6iO3pA5sDfGhJkL",
		"AKIAQM7ZX9VB2NK4WL8R", "sk-ant-api03-Qm7Zx9vB2nK4wL8rT1yU6", "correct horse battery",
	}
	for _, s := range secrets {
		for _, e := range []string{url.PathEscape(s), url.QueryEscape(s), url.PathEscape(url.PathEscape(s)), base64.RawURLEncoding.EncodeToString([]byte(s))} {
			for _, u := range []string{"https://h.example/v1/x/" + e + "/y", "https://h.example/v1/x?q=" + e + "&z=1"} {
				got := r.URL(u)
				if strings.Contains(got, e) {
					t.Errorf("%s stays", u)
				}
				if again := r.URL(got); again != got {
					t.Errorf("%s became %s, and then %s", u, got, again)
				}
			}
		}
	}
	for _, u := range []string{"https://h.example/v1/models/gemini-2.5-pro:generateContent?alt=sse", "https://h.example/a%2Fb/%7Bid%7D?q=two%20words"} {
		if got := r.URL(u); got != u {
			t.Errorf("%s became %s", u, got)
		}
	}
}
