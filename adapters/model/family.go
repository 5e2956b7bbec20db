package model

import (
	"cmp"
	"context"
	"net/http"
	"regexp"
	"strings"
	"sync"

	"charm.land/catwalk/pkg/catwalk"
	"charm.land/fantasy"
	"charm.land/fantasy/providers/anthropic"
	"charm.land/fantasy/providers/azure"
	"charm.land/fantasy/providers/bedrock"
	"charm.land/fantasy/providers/google"
	"charm.land/fantasy/providers/openai"
	"charm.land/fantasy/providers/openaicompat"
	"charm.land/fantasy/providers/openrouter"
	"charm.land/fantasy/providers/vercel"

	"github.com/soundstage-dev/soundstage/harness/clock"
)

// A family is a way to speak: which library part builds the request, which
// options it knows and how it is authorised.
type family string

// The families.
const (
	familyAnthropic  family = "anthropic"
	familyAzure      family = "azure"
	familyBedrock    family = "bedrock"
	familyGoogle     family = "google"
	familyVertex     family = "vertexai"
	familyOpenAI     family = "openai"
	familyCompat     family = "openaicompat"
	familyOpenRouter family = "openrouter"
	familyVercel     family = "vercel"
)

// families are the catalogue's provider types that we speak.
var families = map[catwalk.Type]family{
	catwalk.TypeAnthropic:    familyAnthropic,
	catwalk.TypeAzure:        familyAzure,
	catwalk.TypeBedrock:      familyBedrock,
	catwalk.TypeGoogle:       familyGoogle,
	catwalk.TypeVertexAI:     familyVertex,
	catwalk.TypeOpenAI:       familyOpenAI,
	catwalk.TypeOpenAICompat: familyCompat,
	catwalk.TypeOpenRouter:   familyOpenRouter,
	catwalk.TypeVercel:       familyVercel,
}

// A dialect is the shape of a reply on the wire.
type dialect string

// The dialects.
const (
	dialectAnthropic dialect = "anthropic"
	dialectChat      dialect = "chat"
	dialectResponses dialect = "responses"
	dialectGoogle    dialect = "google"
)

// The addresses that the catalogue leaves to a variable.
const (
	googleURL   = "https://generativelanguage.googleapis.com/"
	azureURL    = "https://soundstage-replay.openai.azure.com/openai/v1"
	bedrockHome = "us-east-1"
	vertexHome  = "us-central1"
)

// dialect is how the model that ref names answers.
func (f family) dialect(ref string) dialect {
	_, id, _ := strings.Cut(ref, "/")
	switch f {
	case familyAnthropic, familyBedrock:
		return dialectAnthropic
	case familyVertex:
		if strings.Contains(id, "claude") {
			return dialectAnthropic
		}
		return dialectGoogle
	case familyGoogle:
		return dialectGoogle
	case familyOpenAI, familyAzure:
		if openai.IsResponsesModel(id) {
			return dialectResponses
		}
	}
	return dialectChat
}

// dial sets up the library's model. The library gets a placeholder for a key: the
// true one is put on by the transport, so no error of an SDK can hold it. No SDK
// retries: fantasy sets that to none, and retries are the loop's.
func dial(ctx context.Context, e entry, a Access, c *http.Client) (fantasy.LanguageModel, error) {
	p, err := newProvider(e, a, c)
	if err != nil {
		return nil, err
	}
	return p.LanguageModel(ctx, e.model)
}

// address is where the entry's provider is reached with a. It is never empty: an
// empty one is where the SDKs look into the environment.
func (e entry) address(a Access) string {
	url, region := cmp.Or(a.BaseURL, e.baseURL), a.Region
	switch e.family {
	case familyAnthropic:
		return cmp.Or(url, anthropic.DefaultURL)
	case familyBedrock:
		return cmp.Or(url, "https://bedrock-runtime."+cmp.Or(region, bedrockHome)+".amazonaws.com")
	case familyAzure:
		if m := azureName().FindStringSubmatch(url); m != nil {
			return "https://" + m[1] + ".openai.azure.com/openai/v1"
		}
		return cmp.Or(url, azureURL)
	case familyGoogle:
		return cmp.Or(url, googleURL)
	case familyOpenAI:
		return cmp.Or(url, openai.DefaultURL)
	case familyOpenRouter:
		return openrouter.DefaultURL
	case familyVercel:
		return cmp.Or(url, vercel.DefaultURL)
	case familyVertex:
		return cmp.Or(url, vertexURL(cmp.Or(region, vertexHome)))
	}
	return cmp.Or(url, compatURL)
}

// azureName finds the resource in the addresses that Azure shows for one.
var azureName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^https?://([a-zA-Z0-9-]+)\.(?:openai|cognitiveservices|services\.ai)\.azure\.com(?:/.*)?$`)
})

func vertexURL(region string) string {
	switch region {
	case "global":
		return "https://aiplatform.googleapis.com/"
	case "us", "eu":
		return "https://aiplatform." + region + ".rep.googleapis.com/"
	}
	return "https://" + region + "-aiplatform.googleapis.com/"
}

// dress is what the entry's requests carry.
func (e entry) dress(a Access, c clock.Clock) dress {
	return dress{family: e.family, access: a, region: cmp.Or(a.Region, bedrockHome), clock: c}
}

func newProvider(e entry, a Access, c *http.Client) (fantasy.Provider, error) {
	url := e.address(a)
	switch e.family {
	case familyAnthropic:
		return anthropic.New(anthropic.WithHTTPClient(c), anthropic.WithAPIKey(placeholder), anthropic.WithBaseURL(url))
	case familyBedrock:
		return bedrock.New(bedrock.WithHTTPClient(c), bedrock.WithAPIKey(placeholder), bedrock.WithBaseURL(url),
			bedrock.WithRegion(cmp.Or(a.Region, bedrockHome)))
	case familyAzure:
		return azure.New(azure.WithHTTPClient(c), azure.WithAPIKey(placeholder), azure.WithBaseURL(url), azure.WithUseResponsesAPI())
	case familyGoogle:
		return google.New(google.WithHTTPClient(c), google.WithGeminiAPIKey(placeholder), google.WithBaseURL(url),
			google.WithToolCallIDFunc(noID))
	case familyVertex:
		// Its search for credentials asks files and a metadata server: it is skipped.
		return google.New(google.WithHTTPClient(c), google.WithBaseURL(url), google.WithToolCallIDFunc(noID), google.WithSkipAuth(true),
			google.WithVertex(cmp.Or(a.Project, placeholder), cmp.Or(a.Region, vertexHome)))
	case familyOpenAI:
		return openai.New(openai.WithHTTPClient(c), openai.WithAPIKey(placeholder), openai.WithBaseURL(url), openai.WithUseResponsesAPI())
	case familyOpenRouter:
		return openrouter.New(openrouter.WithHTTPClient(c), openrouter.WithAPIKey(placeholder))
	case familyVercel:
		return vercel.New(vercel.WithHTTPClient(c), vercel.WithAPIKey(placeholder), vercel.WithBaseURL(url))
	}
	return openaicompat.New(openaicompat.WithHTTPClient(c), openaicompat.WithAPIKey(placeholder), openaicompat.WithBaseURL(url))
}

// compatURL is where [Compat] goes in replay: nowhere.
const compatURL = "http://openaicompat.invalid/v1"

// noID stands where the library would make a random id. It never leaves: every
// id of a reply is replaced.
func noID() string { return "call" }
